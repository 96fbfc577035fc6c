"""
`mode="fast"`: what is faster than the exact code, within a derived bound.

    sums, products   sums over arrays in any order, products of matrices without a rounding of each term
    exponential      e^x without a call, so that loops over it are vectorised
    cpu              the steps of sums, as the target binds them
    bounds           how far the result may be from the reference's, from a run of the reference

A sum that is not finite is taken again from the left, by the exact code: so a NaN or an infinity that comes out is the reference's.
So is a signed zero. But where a partial sum of the reference overflows, and none does in another order, the result may be finite.
"""

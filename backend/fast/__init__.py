"""
`mode="fast"`: sums over arrays in any order, and products of matrices without a rounding of each term, within a derived bound.

    cpu      what generated code calls instead of loops that add from the left
    bounds   how far the result may be from the reference's, from a run of the reference

A sum that is not finite is taken again from the left, by the exact code: so a NaN or an infinity that comes out is the reference's.
So is a signed zero. But where a partial sum of the reference overflows, and none does in another order, the result may be finite.
"""

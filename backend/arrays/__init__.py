"""
Arrays in generated code: loops over elements, fused, over arrays in row-major order.

    values        an array that is held in memory, or a formula for its elements that no loop has computed yet
    loops         loops over the elements of a shape, and when a formula is computed
    elementwise   the rows of numbers, element by element
    attributes    axes, shapes and names of dtypes among the arguments of a row
    creation      arrays made from numbers, tuples and ranges
    indices       which elements an index selects; `indexed`, what is read and written there
    joining       concatenation, stacks, and turning about
    lines         running sums, sorting, where the extremes are
    contractions  Einstein sums; `linear`, elimination and what is made of it
    structures    inner products and multiples of values
    assigning     numbers in variables, elements in arrays, and ZERO
    neutral       the number -0.0 of what is ZERO, which is added without a test
    reductions    sums, products, extremes, and where these are
    products      matrix products, k ascending
    moves         shapes, transposes, repetition and its adjoint
    places        the way back of rows that pick elements; `scatter`, its loop
    sizes         which sizes have been tested to be the same
    table         the rows that there are

    tightening    the passes over the text that comes out, in this order:
    guards        tests of sizes first, and one name for each size
    arranged      arrays of integers in order, not read
    in_place      updates of arrays without a copy; `earlier`, reads that go before a sum in place; `beforehand`,
                  parts computed before a copy; `popped`, of what a frame kept; `paired`, arrays that have one size;
                  `ownership`, which names are the only ones of their memory; `handed`, which take it from which
    begun         sensitivities that begin as arrays of ZEROs, not as ZERO; `constants`, the choices that are none then
    whole         masks that are True everywhere, no longer asked; `takes`, what a turn does to elements; `fills`, loops over cells;
                  `restored`, elements that a turn takes and gives back; `turns_of_nests`, loops in loops over cells, of which
                  `fills_of_nests` says what they make True, `takes_of_nests` what they take
    carried       what cells of stacks need not keep, before all that: `one_turn`, what a turn gives them, by each path; `counted`,
                  integers that count turns; `again`, numbers that are computed again; `nested`, what the cell of a loop tells
                  those of a loop in it; `not_negative`, indices that get no size; `heights`, how many cells there are; `spans`,
                  how many elements slices select; `alike`, names that are one
    needed        what nothing needs left out
    decided       choices that an earlier one has decided, made with it
    touched       what turns add to few elements of an array, added at these alone
    hoisting      arrays that turns begin as ZEROs, made once
    fusion        loops over the same sizes joined
    contraction   arrays of which a turn needs its own part alone made smaller
    reuse         memory of arrays that nothing reads again given to others
    edges         elements that are written later not filled
    ranged        loops over cells that go over a range; `down`, which go down; `added`, where nothing but sums goes on
    effects       what these passes know of statements

Sizes are known when the code runs. That two sizes are equal is tested then; where they are not, and in other rare cases, the
status is SIZES, and the virtual machine runs the sample.
"""

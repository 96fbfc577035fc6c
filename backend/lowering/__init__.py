"""
From a typed program to first-order code, as one Python source that every target reads.

    first_order               the forms of programs, remembered
    expansion                 which derivative is compiled, where a program asks for one
    subset                    what has no first-order form
    lower                     each signature of a graph a block, each tail call a jump
    flow, region, regions     loops and merges of jumps, and the code of all that a tail call can reach
    copies                    loops that first turns make several of
    straight, scheduling      what a graph computes, in which order
    shape                     values at compile time: which scalars make one up
    structure, records        primitives on the structure of values: tuples, records, lists, dictionaries
    conversion                to a wider type, and to one of two
    entry_values              values of the entry that cells of stacks need not hold
    emit, moves, nothing      lines of code, parallel moves, arrays without elements
    strips, strip_groups      numbers that no turn waits for, computed for many turns at once; `strip_cells`, which cells are near
"""

"""
Stacks: what the turns of a loop leave for its adjoint, in memory that the host holds.

    sites          which tuples of a program are cells of stacks
    cell_types     the types of stacks, and what cells hold
    sensitivities  sums of `inject` as tuples: the sensitivity of a stack is a stack
    cells          what generated code does with a stack: push, pop, read
    arrays         arrays in cells
    sizes          arrays in cells of which only the sizes are read
    layout         where cells lie, when all code is there
    memory         one block for all calls, made larger when it is full
"""

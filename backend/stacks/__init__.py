"""
Stacks: what the turns of a loop leave for its adjoint, in memory that the host holds.

    sites          which tuples of a program are cells of stacks
    stack_types    the types of stacks
    cell_types     inference with stacks: what cells hold
    near_types     which signatures are near enough to be one
    sensitivities  sums of `inject` as tuples: the sensitivity of a stack is a stack
    cells          what generated code does with a stack: push, pop, read
    arrays         arrays in cells
    sizes          arrays in cells of which only the sizes are read
    layout         where cells lie, when all code is there
    memory         one block for all calls, made larger when it is full
"""

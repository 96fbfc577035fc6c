"""
Generated code on the CPU: what its free names are bound to, how Numba compiles it, and how what was compiled is kept.

    functions, arrays, memory      products and quotients, new arrays, the memory of stacks
    tiles, turn_sums               sums of products in registers; `plain_tiles` computes the same, one sum after the other
    compiler                       Numba's compiler as generated code needs it
    registers, resolving, vectors  fewer variables in memory, types of operators remembered, loops whose turns are apart
    references                     references to arrays, counted by plain additions
    libraries                      each function is optimized once
    object_code, native, kept      object files, code without its compiler, and what another process has kept
    elf, placing                   what an object file says, and machine code put where it runs
"""

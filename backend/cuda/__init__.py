"""
Generated code on CUDA, on Numba's simulator of it, and on a simulator of our own: one text for all three.

    block        what a block of threads is to code of arrays: who takes which turns, where arrays are, when a thread waits
    launch       launches: a thread for each sample of numbers, a block of threads for each with arrays
    sequential   threads as generators, one after another: the target cuda-sequential
    functions    what Numba does not have on CUDA, as LLVM's instructions
    assembly     PTX and machine code, read without a GPU

In a block every thread runs the whole program. What makes numbers, they all compute alike; loops that write elements in any order
they share; so the result is that of one thread, bit for bit, as every sum keeps its order.
"""

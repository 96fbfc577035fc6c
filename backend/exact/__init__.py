"""
Elementary functions of exact code without a call, so that loops over them are vectorised.

    instructions  what they are written with, for one number or for several side by side
    exponential   e^x by the operations of the C library, in its order: instructions of LLVM
    hyperbolic    tanh x and cosh x in the same way, and the table of the three
    alone         these two of a number by itself, which takes one way
    trial         which instructions give the bits of `math` in this process: where none do, the C library is called
    cpu           what the target binds

What defines the bits is `math`, which the reference calls, always. That the instructions have them is tried, at points that tell
apart what could be otherwise, and is not proved.
"""

"""
Elementary functions of exact code without a call, so that loops over them are vectorised.

    exponential   e^x by the operations of the C library, in its order: instructions of LLVM
    trial         whether they give the bits of `math.exp`, in this process: else the C library is called
    cpu           what the target binds

What defines the bits is the reference's `math.exp`, always. That the instructions have them is tried, at points that tell apart
what could be otherwise, and is not proved: no source of the C library is consulted on the machine at hand.
"""

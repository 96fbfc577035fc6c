"""
The ways into compiled code from Python, and out of it.

    entry         what code compiled for the CPU takes and gives: at most one address, a value and a status
    entrance      builtin functions that take the arguments as Python has them
    text          these functions, in the language of LLVM
    structured    arguments and results that have parts: tuples, lists, dictionaries, records
    given_arrays  NumPy's arrays over what code gives
    c_objects     the objects and functions of CPython and NumPy that machine code reads and calls
"""

"""
The judge over a whole library: every function of JAX, PyTorch or autograd that takes arrays of floats and has a derivative.

    adjudge sweep autograd --store autograd.sqlite --report autograd.md

    catalogue   what a library exports, and on what arguments each function is called
    worker      one function on trial, in a process of its own that may hang or die
    runner      all of them, in parallel, with what is stored already left alone
    store       verdicts in SQLite as they are made; two runs compared
    page        the report
"""

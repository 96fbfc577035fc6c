"""
General recursion in generated code: a recursion becomes a loop with a stack of frames, and trees of tuples are cells in an arena.
"""

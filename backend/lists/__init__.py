"""
Lists in generated code, which has none of unknown length, and no memory.

    followed_cells  what happens to a memory, and which cell every pointer is to
    promotion       cells that are known become values
    loops           loops that make a list, an element a turn
    flow            where a list goes, and what it is asked there
    gathering       such lists become arrays
"""

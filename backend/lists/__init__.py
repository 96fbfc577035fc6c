"""
Lists in generated code, which has none of unknown length, and no memory.

    lifting         states passed on beside pointers
    followed_cells  what happens to a memory, and which cell every pointer is to
    promotion       cells that are known become values
    meeting         which nodes have the same lists
    fixed           lists of known length in others become tuples
    columns         lists of tuples become tuples of lists
    reading         what nothing reads is passed no more
    loops           loops that make a list, an element a turn
    flow            where a list goes, and what it is asked there
    elements        what the elements are that an array can hold
    gathering       all lists that can be become arrays; those first that a loop makes, an element a turn
    arrayed         those of other lengths, that meet, or are kept in tuples
    growing         lists that grow while a loop goes on
    room            their arrays, with room, and counts
"""

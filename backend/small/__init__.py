"""
Small arrays taken apart: programs over arrays of known sizes, of few elements each, as programs of numbers.

    terms      the numbers of a run that has names for its arguments, written down as it goes; and its ways through branches
    perhaps    numbers that a condition may make ZERO
    extremes   the indices of extreme elements, and the way back to them
    column     what primitives do to such numbers
    programs   the program of numbers that the terms are
    form       what `taken_apart` gives: generated code of numbers, and which of them are the elements of which array
"""

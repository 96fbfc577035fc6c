"""
Rewrite rules as data: `x * 1 -> x`.

    rule           a rule of patterns, and how it matches and rewrites
    text           the text of a rule, read
    functions      a rule given as two Python functions
    terms          terms, from programs and to text
    numpy_terms    NumPy in rules
    metavariables  the types of metavariables: arrays with named sizes, and attributes
"""

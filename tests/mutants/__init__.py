"""
Planted bugs, each with the checker expected to catch it, and correct variants on which no alarm may ring.

    transform        bugs in J, made by replacing one of its rules or one thing that a rule uses
    primitives       wrong backpropagators
    arrays           wrong backpropagators of rows on arrays and records
    rewrites         unsound rules and passes
"""

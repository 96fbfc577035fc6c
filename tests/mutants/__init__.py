"""
Planted bugs, each with the checker expected to catch it, and correct variants on which no alarm may ring.

    transform        bugs in J, made by replacing one of its rules or one thing that a rule uses
    primitives       wrong backpropagators of reals, and right ones
    scalar_zoo       those of reals that were shipped; right ones that are hard to judge are in scalar_controls
    array_rules      wrong backpropagators of arrays, and right ones; right ones that are hard to judge are in controls
    zoo_rules        those of arrays that were shipped
    backpropagators  all of these, counted
    arrays           wrong backpropagators of our rows on arrays and records
    rewrites         unsound rules and passes
"""

"""
What becomes of the adjoint of a loop that is left in several places, where it is for code alone (`transforms.first_turns.exits`).
"""

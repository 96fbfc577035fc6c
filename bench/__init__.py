"""Measurements. `python -m bench` prints tables; every row compares two things that ran in the same process, one after the other."""

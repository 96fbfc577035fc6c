"""Measurements: `python -m bench` prints tables; every row compares two things that ran in one process, one after the other."""

"""The wrong and the right rules of the tests, which live beside the tests."""

import sys
from pathlib import Path

TESTS = str(Path(__file__).resolve().parent.parent / "tests")
if TESTS not in sys.path:
    sys.path.append(TESTS)

from mutants import array_rules, backpropagators, controls, zoo_rules  # noqa: E402

__all__ = ["array_rules", "backpropagators", "controls", "zoo_rules"]

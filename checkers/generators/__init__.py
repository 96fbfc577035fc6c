"""
Strategies for programs and their inputs. Nothing here judges.

    sources        Python source of the scalar language, typed and with moderate values, so that CPython is an oracle too
    graphs         well-formed graphs drawn node by node, closures and all, with no detour through Python
    exhaustive     every small program up to a size
    wholes         Python source over arrays, records, lists, dictionaries and memory, valid by construction, with arguments
    directions     tangents of such arguments
    points         inputs, ordinary ones and an edge pool
    unreachable_mutants   copies of a program with a branch changed that a run does not take
"""

from checkers.generators.exhaustive import exhaustive
from checkers.generators.graphs import graphs
from checkers.generators.inputs import EDGES, edge_points, points
from checkers.generators.mutation import unreachable_mutants
from checkers.generators.options import EVERYTHING, FEATURES, Options
from checkers.generators.sources import Source, sources
from checkers.generators.terms import WholeOptions
from checkers.generators.whole import Whole, directions, wholes

__all__ = [
    "EDGES",
    "EVERYTHING",
    "FEATURES",
    "Options",
    "Source",
    "Whole",
    "WholeOptions",
    "directions",
    "edge_points",
    "exhaustive",
    "graphs",
    "points",
    "sources",
    "unreachable_mutants",
    "wholes",
]

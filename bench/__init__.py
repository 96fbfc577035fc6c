"""
Measurements, each on one processor: the libraries that would take several are told so before they are loaded, and what is compiled
is compiled by who measures.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault("ADJUDGE_WAIT", "1")

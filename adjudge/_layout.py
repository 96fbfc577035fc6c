"""The six import packages have common names: if another distribution shadows one, say so at once, with both paths."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PACKAGES = ("semantics", "transforms", "backend", "checkers", "proofs")


def same_distribution() -> None:
    """ImportError, naming both paths, if a package beside this one is not found where this one is."""
    here = Path(__file__).resolve().parent.parent
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        found = Path(spec.origin).resolve().parent.parent if spec is not None and spec.origin else None
        if found != here:
            raise ImportError(
                f"the package {name} that Python finds is not adjudge's: it is in {found or 'no folder'}, adjudge is in {here}; "
                "install adjudge in a virtual environment of its own, or take the other folder off sys.path"
            )

"""
The certificates put to solvers again, in parallel, from the files alone.

cvc5 and z3 are asked everything, bitwuzla what is about floats. Each question has a wall; a solver may abstain, and what share it
answers is counted. An answer that contradicts a certificate is a conflict, which is an error whoever is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from joblib import Parallel, delayed

from checkers.smt.solver import Answer
from proofs.certify import FOLDER, SOLVERS, Rechecked, opinion, read, recheck, suits
from semantics.errors import Malformed

SECONDS = 5.0
EVERY = "all"


def solvers(asked: str) -> tuple[str, ...]:
    """The solvers that a name means. Malformed if it means none, or one that is not installed."""
    if asked not in (*SOLVERS, EVERY):
        raise Malformed(f"{asked!r} is no solver", rule="recheck", remedy=f"one of {', '.join((*SOLVERS, EVERY))}")
    wanted = tuple(SOLVERS) if asked == EVERY else (asked,)
    for solver in wanted:
        if find_spec(solver) is None:
            raise Malformed(f"{solver} is not installed", rule="recheck", remedy="pip install 'adjudge[proofs]'")
    return wanted


def rechecked(
    solver: str,
    folder: Path = FOLDER,
    *,
    jobs: int = 1,
    seconds: float = SECONDS,
    watcher: Callable[[int, int], None] = lambda done, whole: None,
) -> Rechecked:
    """What a solver says of all questions of a folder; `watcher` hears how many are done, of how many."""
    certificates, texts = read(folder)
    wanted = {q.sha256 for c in certificates for q in c.questions}
    keys = [key for key, text in texts.items() if key in wanted and suits(solver, text)]
    parallel = Parallel(n_jobs=jobs, return_as="generator", batch_size=4, pre_dispatch="4*n_jobs")
    answers: list[tuple[str, Answer]] = []
    for key, answer in zip(keys, parallel(delayed(opinion)(solver, texts[k], seconds) for k in keys), strict=True):
        answers.append((key, answer))
        watcher(len(answers), len(keys))
    return recheck(certificates, texts, solver, answers)


def unanswered(found: Rechecked) -> Sequence[str]:
    """The obligations with a question that a solver did not answer, and why, the same reasons together."""
    reasons: dict[str, list[str]] = {}
    for obligation, why in found.unknown:
        reasons.setdefault(why.splitlines()[0] if why else "no reason given", []).append(obligation)
    return [f"{len(names)} not answered by {found.solver}: {why} (such as {names[0]})" for why, names in reasons.items()]

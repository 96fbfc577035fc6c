"""
Certificates: every question that a proof asked, as SMT-LIB 2, with the answer that the proof rests on.

    proofs/certificates/<family>.smt2     the questions, one after another, each complete, `(reset)` between them
    proofs/certificates/manifest.jsonl    a line per obligation: its judgment and, for each of its questions, sha256 of the text,
                                          expected answer, who gave it (z3 with its version, or the normal form), and resources

A question that several obligations share is written once and found by its sha256. Nothing but these files is needed to check them
again (`recheck`): no encoder, no program, no rule. An obligation decided without a question (both sides are one term, or it was
executed) has a line with its method and none.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from checkers.smt.ieee import TINY
from checkers.smt.inquiry import FLOATS, WORDS, Judgment
from checkers.smt.solver import SAT, UNKNOWN, UNSAT, Answer, second_opinion, solve
from semantics.errors import Malformed

FOLDER = Path(__file__).parent / "certificates"
MANIFEST = "manifest.jsonl"
SOLVERS = {"z3": "z3-solver", "cvc5": "cvc5", "bitwuzla": "bitwuzla"}
RESET = "(reset)\n"


@dataclass(frozen=True, slots=True)
class Question:
    """One question of an obligation: where its text is found, and what the proof takes its answer to be."""

    sha256: str
    expected: str
    by: str
    rlimit: int = 0


@dataclass(frozen=True, slots=True)
class Certificate:
    """One obligation: what was judged, how, from which questions, and on which axioms it rests."""

    obligation: str
    family: str
    verdict: str
    method: str
    questions: tuple[Question, ...] = ()
    axioms: tuple[str, ...] = ()


@dataclass
class Rechecked:
    """What a solver said of all questions: how many answers agree, which it does not know, and which contradict."""

    solver: str
    agreed: int = 0
    unknown: list[tuple[str, str]] = field(default_factory=list)
    conflicts: list[tuple[str, str]] = field(default_factory=list)

    @property
    def asked(self) -> int:
        return self.agreed + len(self.unknown) + len(self.conflicts)

    def __str__(self) -> str:
        share = 100 * self.agreed / self.asked if self.asked else 0.0
        text = f"{self.solver}: {self.agreed} of {self.asked} questions answered as expected ({share:.0f} %)"
        text += f", {len(self.unknown)} not answered" if self.unknown else ""
        return text + (f", {len(self.conflicts)} CONTRADICTED" if self.conflicts else "")


# writing


def version(solver: str) -> str:
    """A solver with its version, "normal form" as it is."""
    if solver not in SOLVERS:
        return solver
    try:
        return f"{solver} {metadata.version(SOLVERS[solver])}"
    except metadata.PackageNotFoundError:
        return solver


def certificate(judgment: Judgment, family: str, axioms: tuple[str, ...] = ()) -> Certificate:
    """The certificate of a judgment."""
    asked = [a for a in judgment.answers if a.smt2]
    questions = tuple(Question(digest(a.smt2), a.status, version(a.solver), a.rlimit) for a in asked)
    return Certificate(judgment.name, family, type(judgment.verdict).__name__, judgment.method, questions, axioms)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def replaceable(folder: Path) -> None:
    """Malformed if certificates cannot be written there: it is a file, or it holds other SMT-LIB, which would be removed."""
    if folder.exists() and not folder.is_dir():
        raise Malformed(f"{folder} is a file", rule="certify", remedy="name a folder")
    others = sorted(folder.glob("*.smt2"))
    if others and not (folder / MANIFEST).exists():
        raise Malformed(f"{others[0]} is no certificate of ours", rule="certify", remedy="name a folder without other .smt2 files")


def write(judged: Iterable[tuple[Judgment, str, tuple[str, ...]]], folder: Path = FOLDER) -> int:
    """
    Writes the certificates of judgments, each with its family and its axioms, in place of those that the folder held. Answers how
    many questions there are.
    """
    replaceable(folder)
    folder.mkdir(parents=True, exist_ok=True)
    texts: dict[str, list[str]] = {}
    lines: list[str] = []
    seen: set[str] = set()
    for judgment, family, axioms in judged:
        found = certificate(judgment, family, axioms)
        lines.append(json.dumps(asdict(found), ensure_ascii=False))
        asked = [a for a in judgment.answers if a.smt2]
        for k, (question, answer) in enumerate(zip(found.questions, asked, strict=True), 1):
            if question.sha256 not in seen:
                seen.add(question.sha256)
                texts.setdefault(family, []).append(f"; {found.obligation}, question {k}: {question.expected}\n{answer.smt2}")
    for old in folder.glob("*.smt2"):
        old.unlink()
    for family, scripts in texts.items():
        (folder / f"{family}.smt2").write_text(RESET.join(scripts), encoding="utf-8")
    (folder / MANIFEST).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(seen)


# reading, from the files alone


def read(folder: Path = FOLDER) -> tuple[list[Certificate], dict[str, str]]:
    """
    The certificates of a folder, and the text of every question by its sha256.

    Malformed if there are none, if a line cannot be read, or if a question is missing or was changed.
    """
    manifest = folder / MANIFEST
    if not manifest.exists():
        raise Malformed(f"{folder} has no {MANIFEST}", rule="recheck", remedy="adjudge prove --write makes the certificates")
    texts = {digest(text): text for path in sorted(folder.glob("*.smt2")) for text in _questions(path.read_text(encoding="utf-8"))}
    certificates = [_certificate(line, k, manifest) for k, line in enumerate(manifest.read_text(encoding="utf-8").splitlines(), 1)]
    for found in certificates:
        for question in found.questions:
            if question.sha256 not in texts:
                raise Malformed(
                    f"a question of {found.obligation} is missing or was changed ({question.sha256[:12]}…)",
                    rule="recheck",
                    remedy="adjudge prove --write makes the certificates anew",
                )
    return certificates, texts


def _questions(text: str) -> Iterator[str]:
    """The scripts of a file, without the comment that names them."""
    for part in text.split(RESET):
        yield part.partition("\n")[2] if part.startswith(";") else part


def _certificate(line: str, number: int, path: Path) -> Certificate:
    try:
        found: dict[str, Any] = json.loads(line)
        questions = tuple(Question(**q) for q in found.pop("questions"))
        return Certificate(questions=questions, axioms=tuple(found.pop("axioms")), **found)
    except (ValueError, KeyError, TypeError) as error:
        raise Malformed(
            f"{path.name}, line {number}, is no certificate: {error}", rule="recheck", remedy="adjudge prove --write"
        ) from None


# asking again


def of_bits(text: str) -> bool:
    """Whether a question is about floating-point numbers or words, and so about bits."""
    return any(f"(set-logic {logic})" in text for logic in (FLOATS, WORDS))


def opinion(solver: str, text: str, wall: float) -> Answer:
    """A solver's answer to a text. Each question has a process of its own; what the solver is, is read once, before they part."""
    with suppress(ImportError):
        import_module(solver)
    return solve(text, guarded=True, wall=wall) if solver == "z3" else second_opinion(text, solver, wall=wall)


def suits(solver: str, text: str) -> bool:
    """bitwuzla is asked about bits, in formats that it reads, the others about everything."""
    return solver != "bitwuzla" or (of_bits(text) and f"FloatingPoint {TINY.ebits} {TINY.sbits}" not in text)


def recheck(
    certificates: Sequence[Certificate], texts: dict[str, str], solver: str, answers: Iterable[tuple[str, Answer]]
) -> Rechecked:
    """What `answers` (sha256, answer) of a solver say of the certificates. A question counts once, whoever shares it."""
    expected = {q.sha256: (q.expected, c.obligation) for c in certificates for q in c.questions}
    found = Rechecked(solver)
    for key, answer in answers:
        wanted, obligation = expected[key]
        decided = {answer.status, wanted} <= {SAT, UNSAT}
        if decided and answer.status != wanted:
            found.conflicts.append((obligation, f"{wanted} was expected, {solver} says {answer.status}"))
        elif decided:
            found.agreed += 1
        elif answer.status == UNKNOWN:
            found.unknown.append((obligation, answer.reason))
        else:
            found.unknown.append((obligation, f"the proof did not rest on this question; {solver} says {answer.status}"))
    return found


def families(certificates: Sequence[Certificate]) -> Counter[str]:
    """How many obligations each family has."""
    return Counter(c.family for c in certificates)

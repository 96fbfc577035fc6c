"""
Making a trial: from a row that reads arrays, or from a forward function and a pullback of NumPy. Its cases are drawn here, once.

A row of the table runs on the machine; a user's runs as the Python functions that its author wrote, if there are any.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from checkers.array_audit.bounds import Reference
from checkers.array_audit.case import Arguments, Case, leaves
from checkers.array_audit.given import read_fixed, read_samples
from checkers.array_audit.machine_arrays import applied, forward_of, outside, pull_of
from checkers.array_audit.pool import cases
from checkers.array_audit.pullback_form import spread_out, spreads
from checkers.array_audit.readings import read_program, read_rule
from checkers.array_audit.row_samples import array_examples
from checkers.array_audit.signature import elementwise, read_signature
from checkers.array_audit.trial import DOUBLE, SINGLE, Trial
from checkers.primitive_audit.build import names_of
from checkers.primitive_audit.given import nowhere, objection, two_functions
from semantics.array_signatures import COLUMN, ArraySignature
from semantics.edit import Edit, empty
from semantics.errors import IllTyped, Malformed
from semantics.ir import Apply, Program
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import ELEMENTWISE, TABLE
from transforms.adjoint_primitives import pullback_of
from transforms.backpropagators import backpropagator
from transforms.python_rows import is_opaque, program_of, quietly

EXAMPLES = 60
FEW = 4


def of_row(row: Primitive, *, seed: int = 0, examples: int = EXAMPLES, arity: int | None = None) -> Trial:
    """
    The trial of a row of the table that reads arrays, or of a user's primitive.

    arity  of a row that takes any number of arguments: how many are judged; the most usual number if it is not said

    IllTyped if the row has no backpropagator, or refuses arrays; Malformed if it has a finite value nowhere.
    """
    if TABLE.get(row.name) is row:
        return _of_table(row, seed, examples, arity)
    return _of_user(row, seed, examples)


def _of_table(row: Primitive, seed: int, examples: int, arity: int | None) -> Trial:
    given = [tuple(map(outside, example.arguments)) for example in array_examples(row.name)]
    if not given:
        raise IllTyped(f"{row.name} never reads arrays of reals", rule="check", remedy="judge it as a function of reals")
    counts = [len(arguments) for arguments in given]
    arity = arity or max(counts, key=counts.count)
    samples = [arguments for arguments in given if len(arguments) == arity]
    edit = Edit(empty())
    edit.arrays = True
    rule = pullback_of(row, arity, edit.arrays)
    program = applied(row, arity)
    plain = len(row.parameters) == arity and "*" not in row.parameters
    trial = Trial(
        row.name,
        row.parameters if plain else tuple(f"x{i}" for i in range(arity)),
        forward_of(program),
        pull_of(rule),
        _references(program=program),
        domain=domain_of(row),
        row=row,
        rule=rule,
        program=program,
        seed=seed,
        samples=tuple(samples),
    )
    return _drawn(trial, samples, examples, None)


def _of_user(row: Primitive, seed: int, examples: int) -> Trial:
    rule = backpropagator(row)
    source = row.columns.get("source", {})
    forward, written = source.get("forward"), source.get("backpropagator")
    program = row.columns.get("program")
    opaque = is_opaque(rule)
    text = row.columns.get(COLUMN)
    trial = Trial(
        row.name,
        row.parameters,
        _quiet(row.name, forward) if forward is not None else forward_of(applied(row, len(row.parameters))),
        spread_out(written) if written is not None else pull_of(rule),
        _references(program=program if isinstance(program, Program) else None, forward=forward),
        domain=domain_of(row),
        row=row,
        rule=None if opaque else rule,
        program=program if isinstance(program, Program) else None,
        forward_source=forward,
        pull_source=written,
        seed=seed,
        signature=None if text is None else read_signature(text),
    )
    if opaque and written is not None:
        hole = program_of(written)
        trial.lost.append(_lost_rule(hole.reason if isinstance(hole, Hole) else "it is opaque"))
    if isinstance(program, Hole):
        trial.lost.append(f"proof is lost: the function is a black box ({program.reason})")
    drawn = _drawn(trial, (), examples, trial.signature or elementwise(len(row.parameters)))
    if text is None and not any(np.size(leaf) > 1 for case in drawn.cases for _, leaf in leaves(case.arguments)):
        raise IllTyped(
            f"{row.name} refuses arrays of more than one element{_objection(trial, ())}",
            rule="check",
            remedy="write it with functions of NumPy, np.where for a branch; or judge it as a function of reals",
        )
    return drawn


def of_functions(
    forward: Callable[..., Any],
    pullback: Callable[..., Any],
    samples: Sequence[Any],
    *,
    seed: int = 0,
    examples: int = EXAMPLES,
    fixed: Any = (),
    domain: Callable[..., bool] | None = None,
    references: tuple[Reference, ...] | None = None,
    unit: float | None = None,
    name: str | None = None,
    framework: str = "",
    spread: bool | None = None,
    parameters: Sequence[str] = (),
) -> Trial:
    """
    The trial of two functions of NumPy; samples say where they are meant to be used.

    fixed       positions or names of arguments that are not differentiated
    domain      (x…) -> whether arguments are meant to be tried
    references  strongest first; found from forward if they are not given
    unit        the unit roundoff; that of float32 if it occurs in the samples
    spread      whether the pullback takes (x…, y, dy); found out if it is not said
    parameters  the names of the arguments; found out if they are not said, or are not as many

    Malformed or IllTyped with a remedy for bad samples, and if forward has a finite value at none.
    """
    loosely = range(len(samples[0])) if isinstance(samples, (list, tuple)) and samples and isinstance(samples[0], tuple) else (0,)
    parameters = tuple(parameters) if len(parameters) == len(loosely) else names_of(forward, len(loosely))
    positions = read_fixed(fixed, parameters)
    given = read_samples(samples, positions)
    two_functions(forward, pullback, len(given[0]))
    foreign = bool(framework) or references is not None
    program = None if foreign else read_program(forward, given)
    single = any(np.asarray(leaf).dtype == np.float32 for sample in given for _, leaf in leaves(sample, positions))
    trial = Trial(
        str(name or getattr(forward, "__name__", "forward")).replace("<lambda>", "forward"),
        parameters,
        forward,
        lambda xs, y, d: pullback(tuple(xs), y, d),
        (),
        positions,
        (lambda xs: bool(domain(*xs))) if domain is not None else lambda xs: True,
        unit=unit or (SINGLE if single else DOUBLE),
        program=program if isinstance(program, Program) else None,
        forward_source=forward,
        pull_source=pullback,
        seed=seed,
        framework=framework,
        samples=given,
    )
    trial.references = _references(program=trial.program, forward=forward, unit=trial.unit) if references is None else references
    trial.spread = spreads(trial, pullback, given) if spread is None else spread
    if trial.spread:
        trial.pull = spread_out(pullback)
    rule = None if foreign else read_rule(trial, pullback, given)
    trial.rule = rule if isinstance(rule, Program) else None
    if isinstance(program, Hole):
        trial.lost.append(f"proof is lost: the function is a black box ({program.reason})")
    if isinstance(rule, Hole):
        trial.lost.append(_lost_rule(rule.reason))
    return _drawn(trial, given, examples, None)


# parts


def _drawn(trial: Trial, samples: Sequence[Arguments], examples: int, signature: ArraySignature | None) -> Trial:
    """The trial with its cases. Malformed, with what the function raised, if it has a value at no sample, or at no case."""
    if signature is None and not any(trial.case(sample) is not None for sample in samples):
        raise _nowhere(trial, samples, "a sample at which it has one, inside the domain")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        trial.examples = examples
        trial.cases = cases(trial, samples, seed=trial.seed, examples=examples, signature=signature)
    hold_silent(trial)
    trial.operations = operations(trial.rule, trial.cases)
    if not any(case.size for case in trial.cases):
        if signature is None:
            raise _nowhere(trial, samples, "samples of few elements")
        remedy = 'say what it takes, signature="f64[m, n] f64[n] -> f64[m]", and where it is defined, domain="x > 0"'
        raise _nowhere(trial, samples, remedy)
    if not any(case.outputs for case in trial.cases) and (trial.row is None or TABLE.get(trial.row.name) is not trial.row):
        raise IllTyped(
            f"{trial.name} returns no reals but {type(trial.cases[0].value).__name__} {trial.cases[0].value!r}"[:200],
            rule="check",
            remedy="return a float, an array of float64 or float32, or a tuple of those; of complex numbers, the parts",
        )
    judged = sum(case.origin == "sample" for case in trial.cases)
    if judged < len(samples):
        trial.lost.append(
            f"{len(samples) - judged} of {len(samples)} samples are not judged entry by entry: alike, large, or without a value"
        )
    return trial


def hold_silent(trial: Trial) -> None:
    """
    Holds arguments fixed for which the rule answers None at a few cases, where others are left: `structure` says so, and all else
    is judged.
    """
    few = trial.cases[:: max(1, len(trial.cases) // FEW)]
    answers = [trial.pulled(case, np.ones(case.outputs)).raw for case in few]
    whole = [a for a in answers if isinstance(a, (tuple, list)) and len(a) == len(trial.parameters)]
    real = {path[0] for case in few for path, _ in leaves(case.arguments, case.fixed)}
    silent = frozenset(i for i in real if whole and all(answer[i] is None for answer in whole))
    if not silent or not real - silent:
        return
    trial.silent, trial.fixed = silent, trial.fixed | silent
    trial.cases = tuple(replace(case, fixed=trial.fixed) for case in trial.cases)
    names = " and ".join(trial.parameters[i] for i in sorted(silent))
    trial.lost.append(f"derivatives by {names} are lost: the rule answers None")


def _nowhere(trial: Trial, samples: Sequence[Arguments], remedy: str) -> Malformed:
    return nowhere(trial.name, len(samples), _objection(trial, samples), remedy)


def _objection(trial: Trial, samples: Sequence[Arguments]) -> str:
    """What the domain says, or the function raises, at the first sample, or at an array of two elements."""
    first = samples[0] if samples else (np.array([0.5, 0.75]),) * len(trial.parameters)
    if samples and (raised := objection(trial.domain, (first,))):
        return f": its domain raises{raised.removeprefix(':')}"
    if samples and not any(trial.domain(sample) for sample in samples):
        return ": all are outside its domain"
    return objection(trial.forward, first)


def _references(**found: Any) -> tuple[Reference, ...]:
    from checkers.array_audit.references import references_for

    return references_for(**found)


def _lost_rule(why: str) -> str:
    return f"second order and proof are lost: the backpropagator is a black box ({why})"


def _quiet(name: str, forward: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *xs: quietly(name, forward, *xs)


def domain_of(row: Primitive) -> Callable[[Arguments], bool]:
    """Whether the row's domain holds, for every element where its conditions speak of arrays."""

    def holds(arguments: Arguments) -> bool:
        values = row.named(arguments)
        with np.errstate(all="ignore"):
            return all(bool(np.all(part)) for condition in row.domain for part in condition.conjuncts(values))

    return holds


def operations(rule: Program | None, judged: Sequence[Case]) -> int:
    """
    How many elementary operations an entry of an answer may take.

    A program without branches or loops: its applications, those element by element 2 each, for library functions, and the others as
    many as the largest case has reals, since they may add all of them up; 16 at least. Of a black box: 64, and 8 such sums.
    """
    most = max((case.size + case.outputs for case in judged), default=1)
    if rule is None or len(rule.graphs) > 1:
        return 64 + 8 * most
    names = (rule.constant(node.inputs[0]) for node in rule.nodes.values() if isinstance(node, Apply))
    return max(16, sum(2 if getattr(p, "name", "") in ELEMENTWISE else most for p in names))

"""The rules of the house, enforced: layers, independent oracles, no print, laws, full columns, file length."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge.cli.about import columns
from backend.columns import ULP
from semantics.primitives import TABLE, Column, Hole
from semantics.primitives.table import MACROS
from transforms.backpropagators import find

COLUMNS = columns()
ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("semantics", "transforms", "backend", "checkers", "proofs", "adjudge")
LONGEST = 350

FORBIDDEN = {
    "semantics.denotation": ("semantics.machine",),
    "semantics.ssa": ("semantics.machine",),
    "checkers.forward_mode": ("transforms", "checkers.finite_differences", "checkers.ball_differences", "checkers.trace_reversal"),
    "checkers.finite_differences": ("transforms", "checkers.forward_mode"),
    "checkers.ball_differences": ("transforms", "checkers.forward_mode", "checkers.trace_reversal"),
    "checkers.trace_reversal": ("transforms", "checkers.forward_mode"),
    "checkers.array_audit.references": ("transforms.backpropagators", "checkers.forward_mode", "checkers.trace_reversal"),
    "checkers.smt": ("transforms",),
    "backend": ("checkers", "semantics.machine"),
    "semantics": ("z3", "hypothesis", "numba", "numpy"),
    "transforms": ("z3", "hypothesis", "numba"),
}


def modules() -> Iterator[tuple[str, Path]]:
    """Every source module with its dotted name."""
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(p for p in parts if p != "__init__"), path


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Every module that a file imports, anywhere in it, with the line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node.lineno
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno


def inside(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


MODULES = list(modules())


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[n for n, _ in MODULES])
def test_a_module_imports_only_from_its_layer_and_those_before_it(name: str, path: Path) -> None:
    layer = LAYERS.index(name.split(".", maxsplit=1)[0])
    for found, line in imports(path):
        package = found.split(".")[0]
        if package in LAYERS:
            assert LAYERS.index(package) <= layer, f"{path}:{line} imports {found}"


@pytest.mark.parametrize("judge", FORBIDDEN)
def test_an_oracle_does_not_import_what_it_judges(judge: str) -> None:
    judged = [(name, path) for name, path in MODULES if inside(name, judge)]
    assert judged, f"{judge} has no modules: has it been renamed?"
    for _, path in judged:
        for found, line in imports(path):
            for banned in FORBIDDEN[judge]:
                assert not inside(found, banned), f"{path}:{line} imports {found}"


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[n for n, _ in MODULES])
def test_library_code_does_not_print(name: str, path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        assert not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"), (
            f"{path}:{node.lineno}"
        )


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[n for n, _ in MODULES])
def test_a_file_can_be_read_in_one_sitting(name: str, path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[n for n, _ in MODULES])
def test_a_module_says_what_it_is(name: str, path: Path) -> None:
    source = path.read_text()
    assert not source.strip() or ast.get_docstring(ast.parse(source)), f"{path} has no docstring"


@pytest.mark.parametrize("column", [*COLUMNS.values(), ULP], ids=lambda c: c.name)
def test_every_cell_of_the_primitive_matrix_is_filled_or_excused_in_writing(column: Column) -> None:
    for name, primitive in TABLE.items():
        cell = column.find(primitive)
        assert name in column.cells, f"{name} is missing from {column.name}"
        assert not isinstance(cell, Hole) or len(cell.reason.split()) >= 3, f"{column.name} of {name} is not excused"


def test_every_primitive_has_a_backpropagator_or_a_reason() -> None:
    """make_tuple and its kind have one per number of arguments, made when it is used."""
    for name, primitive in TABLE.items():
        cell = find(primitive)
        if isinstance(cell, Hole):
            assert primitive in MACROS or name in ("make_tuple", "make_record", "einsum"), f"{name}: {cell.reason}"
        else:
            parameters = len(cell.graphs[cell.entry].parameters)
            assert parameters == len(primitive.signature) + 2, f"{name} wants (x…, out, dout)"


def test_user_errors_are_the_five_errors() -> None:
    """`raise Exception`, bare TypeError and ValueError are not for users; a verdict's truth value is the one exception."""
    allowed = {"checkers.verdict"}
    for name, path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
                assert node.exc.func.id not in ("Exception", "TypeError", "RuntimeError") or name in allowed, (
                    f"{path}:{node.lineno}"
                )

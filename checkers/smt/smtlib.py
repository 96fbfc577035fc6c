"""
Terms as canonical SMT-LIB 2 text: the same question gives the same text, whatever was built before it.

z3's own printer numbers its lets by the address of a term in its context. Here shared subterms become `define-fun`, numbered in
the order in which a left-to-right walk finishes them; constants and functions are declared in order of name. Operators with one
argument left are printed as that argument, since not every solver reads `(+ x)`.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

# Symbols of the standard or of a solver that an input must not be called.
_RESERVED = """
and or not xor ite let true false distinct abs div mod exp sin cos tan sec csc cot sqrt pi arcsin arccos arctan e
Real Int Bool to_real to_int is_int forall exists match par assert push pop
"""
RESERVED = frozenset(_RESERVED.split())
LONGEST = 160  # a printed subterm longer than this gets a name even if it is used once
SPELLING = {"if": "ite"}
INDEXED = frozenset({z3.Z3_OP_EXTRACT, z3.Z3_OP_SIGN_EXT, z3.Z3_OP_ZERO_EXT})
COLLAPSING = frozenset({"+", "*", "and", "or"})


def variable_name(name: str) -> str:
    """A name that every solver accepts for an input called `name`."""
    clean = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name) or "x"
    if not clean[0].isalpha():
        clean = f"v{clean}"
    return f"{clean}_" if clean in RESERVED else clean


def script(assertions: Sequence[z3.ExprRef], logic: str = "ALL") -> str:
    """A complete script up to `check-sat`; it depends on the structure of the assertions only."""
    uses: dict[int, int] = {}
    order: list[z3.ExprRef] = []
    seen: set[int] = set()
    todo: list[tuple[z3.ExprRef, bool]] = [(a, False) for a in reversed(assertions)]
    while todo:
        term, finished = todo.pop()
        key = term.get_id()
        if finished:
            order.append(term)
            continue
        uses[key] = uses.get(key, 0) + 1
        if key not in seen:
            seen.add(key)
            todo.append((term, True))
            todo.extend((child, False) for child in reversed(term.children()))
    text: dict[int, str] = {}
    declared: dict[str, str] = {}
    defined: list[str] = []
    for term in order:
        body = _print(term, text, declared)
        if term.children() and (uses[term.get_id()] > 1 or len(body) > LONGEST):
            name = f"t!{len(defined)}"
            defined.append(f"(define-fun {name} () {term.sort().sexpr()} {body})")
            body = name
        text[term.get_id()] = body
    lines = [f"(set-logic {logic})", *(declared[name] for name in sorted(declared)), *defined]
    lines += [f"(assert {text[a.get_id()]})" for a in assertions]
    return "\n".join((*lines, "(check-sat)", ""))


def _print(term: z3.ExprRef, text: dict[int, str], declared: dict[str, str]) -> str:
    """One node, given the text of its children; declares what is uninterpreted, sorts before what is made of them."""
    declaration = term.decl()
    children = [text[c.get_id()] for c in term.children()]
    name = declaration.name()
    if declaration.kind() == z3.Z3_OP_UNINTERPRETED:
        for sort in (*(declaration.domain(i) for i in range(declaration.arity())), declaration.range()):
            if sort.kind() == z3.Z3_UNINTERPRETED_SORT:
                declared[f" {sort.name()}"] = f"(declare-sort {sort.name()} 0)"
        domain = " ".join(declaration.domain(i).sexpr() for i in range(declaration.arity()))
        declared[name] = f"(declare-fun {name} ({domain}) {declaration.range().sexpr()})"
        return f"({name} {' '.join(children)})" if children else name
    if not children or z3.is_fp_value(term):
        return str(term.sexpr())
    if len(children) == 1 and name in COLLAPSING:
        return children[0]
    if declaration.kind() == z3.Z3_OP_FPA_TO_FP:
        name = f"(_ to_fp {term.sort().ebits()} {term.sort().sbits()})"
    if declaration.kind() in INDEXED:
        name = f"(_ {name} {' '.join(map(str, declaration.params()))})"
    return f"({SPELLING.get(name, name)} {' '.join(children)})"

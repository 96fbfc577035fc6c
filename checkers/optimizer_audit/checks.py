"""The names of the checks of an audit, as `skip` takes them and the ledger has them, with what each asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from checkers.smt.ieee import LADDER
from semantics.errors import Malformed

OF_RULES: Mapping[str, str] = {
    "proof over the reals": "are both sides equal over the reals, for all inputs?",
    "values over the reals": "are they at points, in exact or enclosed values?",
    "values in IEEE-754": "does the machine tell the sides apart at the edges of the format?",
    "proof in IEEE-754": "is a rule about arrays an identity of bits?",
    **{f"proof in {format.name}": f"are the sides equal for all inputs in {format.name}?" for format in LADDER},
    "types": "is the type of the value kept?",
    "gradients": "is the gradient kept, also at kinks?",
    "weakest side condition": "under which condition would a refuted rule hold?",
    "necessity of the side condition": "does the rule hold without the condition that it declares?",
    "weaker side condition": "would less than the declared condition do?",
    "firing": "does the rule fire on its own left side?",
    "termination": "does the rule alone come to an end?",
    "critical pairs": "where it overlaps with another rule, do both ways lead to one program?",
    "hits": "in how many programs does it fire?",
    "in context": "are values kept in programs where it fires?",
    "subsumption": "do the other rules do the same already?",
}

OF_PASSES: Mapping[str, str] = {
    "gives a program": "does every program lead to a program?",
    "well-formed": "is every result well-formed?",
    "signature": "does the entry keep its parameters and their types?",
    "types": "is every program typed after every step?",
    "values": "are values kept?",
    "gradients": "is the gradient of the result the gradient of the program?",
    "gradients optimized": "is the optimized gradient the gradient?",
    "translation validation": "is every step of the runs equal for all inputs?",
    "cost": "does the result take no more steps of the machine?",
    "idempotence": "does a second run change nothing?",
    "measure": "does the claimed measure decrease with every step?",
    "order": "do the steps in another order lead to the same?",
    "recorded and unrecorded": "do both engines end in one program?",
}

OF_SETS: Mapping[str, str] = {
    "termination of the set": "do the rules together come to an end?",
    "confluence of the set": "do all their overlaps lead to one program?",
}

OF_GRADIENTS: Mapping[str, str] = {
    "gives a program": "does every program lead to a program in its parameters?",
    "forward mode": "is the gradient what forward mode finds?",
    "trace reversal": "is it what the reversal of the trace finds?",
    "second order": "can it be differentiated again?",
    "repeatable": "does one program always lead to one gradient?",
}

CHECKS = {**OF_RULES, **OF_PASSES, **OF_SETS, **OF_GRADIENTS}


def known(skip: Iterable[str]) -> frozenset[str]:
    """The names, all of them names of checks; Malformed with the nearest if one is not."""
    chosen = frozenset((skip,) if isinstance(skip, str) else skip)
    for name in sorted(chosen, key=str):
        if name not in CHECKS:
            near = get_close_matches(str(name), CHECKS, 3, cutoff=0.4) or CHECKS
            raise Malformed(f"no check is called {name!r}", rule="audit", remedy=f"one of {', '.join(near)}")
    return chosen

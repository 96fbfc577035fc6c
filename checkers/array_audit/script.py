"""
The stand-alone script of a finding on arrays: the sources of the forward function and the rule, the arguments bit for bit and in
their memory layout, and one expression that is true when the rule is right. It exits with 1 while the failure is there.

Sources are embedded as for scalars (`primitive_audit.script`), with the names that they use. What cannot be embedded is recorded
as numbers, and the script's first line says so.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from checkers.array_audit.case import Case
from checkers.array_audit.trial import Trial
from checkers.primitive_audit.script import NotEmbeddable, sources

SHORT = 5
MOST = 4096
"""A script does not carry arrays of more elements."""


def real(x: float) -> str:
    """A double as an expression that gives it back bit for bit: in decimal if that is short, else in hexadecimal."""
    x = float(x)
    if not math.isfinite(x):
        return "np.nan" if math.isnan(x) else "np.inf" if x > 0 else "-np.inf"
    return repr(x) if len(repr(x)) <= SHORT else f"float.fromhex({x.hex()!r})"


def literal(value: Any) -> str:
    """A value as an expression of NumPy that gives it back: elements, shape, dtype, and memory layout."""
    if isinstance(value, np.ndarray):
        return laid_out(value)
    if isinstance(value, np.floating) and not isinstance(value, float):
        return f"np.{value.dtype}({real(float(value))})"
    if isinstance(value, float):
        return real(value)
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(literal, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    if isinstance(value, np.generic):
        return literal(value.item())
    if value is None or isinstance(value, (bool, int, str, slice)) or value is Ellipsis:
        return repr(value)
    raise NotEmbeddable(f"an argument is {type(value).__name__}")


def laid_out(array: np.ndarray[Any, Any]) -> str:
    """An array: contiguous, in Fortran order, or every second element of a larger buffer, as it was."""
    if array.size > MOST:
        raise NotEmbeddable(f"an argument has {array.size} elements")
    write = real if array.dtype.kind == "f" else repr
    elements = ", ".join(write(v) for v in array.ravel().tolist())
    shape = "" if array.ndim == 1 and array.size else f".reshape({array.shape})"
    text = f"np.array([{elements}], dtype=np.{np.dtype(array.dtype).name.replace('bool', 'bool_')}){shape}"
    if array.flags.c_contiguous or not array.size:
        return text
    return f"np.asfortranarray({text})" if array.flags.f_contiguous else f"np.repeat({text}, 2, axis=-1)[..., ::2]"


def asked(trial: Trial, what: str, *arguments: Any) -> str:
    """The expression by which a script asks for what `again.py` computes."""
    how = f", fixed={tuple(sorted(trial.fixed))}" if trial.fixed else ""
    how += "" if trial.spread else ", spread=False"
    how += f", framework={trial.framework!r}" if trial.framework else ""
    return f"checkers.array_audit.again.{what}(forward, pullback, x, dout, {', '.join(map(repr, arguments))}{how})"


def script(
    trial: Trial, claim: str, case: Case, cotangent: Any, test: str, found: Any, wanted: Any, now: str = "pull(dout)"
) -> str:
    """
    The script of one failure.

    now   an expression over forward, pullback, pull, x, y, dout and np: what is wrong, computed anew
    test  one over these and `now`, true if nothing is wrong
    """
    head = f'"""{trial.name}: {claim} fails. Exits with 1 while it does."""\n\nimport math\nimport sys\n\nimport numpy as np\n\n'
    tail = f"print('found ', {str(found)!r})\nprint('wanted', {str(wanted)!r})\n"
    try:
        point = f"x = {literal(case.arguments)}\ndout = {literal(cotangent)}\n"
        if not test:
            raise NotEmbeddable("the failure is no property of one call")
        body = trial.recipe or sources(trial)  # type: ignore[arg-type]  # it reads forward_source and pull_source only
    except NotEmbeddable as reason:
        why = f"# The sources are not embedded: {reason}. The verdict below is the recorded one.\n"
        return f"{head}{why}{tail}sys.exit(1)\n"
    if "import numpy as np\n" in body + "\n":
        body = (body + "\n").replace("import numpy as np\n", "", 1)
    call = "pullback(*x, y, d)" if trial.spread else "pullback(x, y, d)"
    helpers = "def pull(d, x=x, y=None):\n    y = forward(*x) if y is None else y\n"
    helpers += f"    with np.errstate(all='ignore'):\n        return {call}\n\n\n"
    verdict = f"right = {test}\nsys.exit(0 if right else 1)\n"
    judge = "import checkers.array_audit.again\n\n" if now.startswith("checkers.") else ""
    shown = f"now = {now}\nprint('now   ', now)\n{tail}{verdict}"
    return f"{head}{judge}{body.strip()}\n\n\n{point}y = forward(*x)\n\n\n{helpers}{shown}"

"""
Backpropagators of memory, as text (Zygote, section 3.2, boxes; MimIrADe, section 3.3.1, pointers).

The sensitivity of the token carries that of every cell, so the adjoint object that Zygote finds by a global lookup is threaded
here, backwards, and the rules are programs like any other: J applies to them again.

    y = load(m, p)          m̄ += ȳ at p                                x = GET(B):     SET(B̄, GET(B̄) + x̄)
    m' = store(m, p, v)     v̄ = m̄'[p],  m̄ = m̄' without p               SET(B, x):      x̄ = GET(B̄); SET(B̄, 0)
    m', p = alloc(m, v)     v̄ = m̄'[p],  m̄ = m̄' without p
    p' = lea(p, i)          nothing: a pointer has no sensitivity

Two looks at one memory meet in `gadd`, which merges in time of the smaller.
"""

from __future__ import annotations

from transforms.backpropagators.structure import _rule

MEMORY: dict[str, str] = {
    "memory": _rule("home", "ZERO"),
    "alloc": _rule(
        "m v",
        "%p = getitem(%out, 1)",
        "%d = getitem(%dout, 0)",
        "%dv = cell(%d, %p)",
        "%dm = cell_cleared(%d, %p)",
        "%dm, %dv",
    ),
    "load": _rule("m p", "%dm = cell_alone(%m, %p, %dout)", "%dm, ZERO"),
    "store": _rule("m p v", "%dv = cell(%dout, %p)", "%dm = cell_cleared(%dout, %p)", "%dm, ZERO, %dv"),
    "lea": _rule("p i", "ZERO, ZERO"),
    "apart": _rule("v", "%dout"),
    "cell": _rule("d p", "%dd = cell_alone(%d, %p, %dout)", "%dd, ZERO"),
    "cell_alone": _rule("m p d", "%dd = cell(%dout, %p)", "ZERO, ZERO, %dd"),
    "cell_cleared": _rule("d p", "%dd = cell_cleared(%dout, %p)", "%dd, ZERO"),
}

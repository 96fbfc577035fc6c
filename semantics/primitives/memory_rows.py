"""
The rows of memory (MimIrADe, section 3.3.1), and of the sensitivities of memories.

    memory(home) -> m           alloc(m, v) -> (m', p)     load(m, p) -> v
    store(m, p, v) -> m'        lea(p, i) -> p'            the pointer to part i of what p points to

`m` is the token. `alloc` and `store` consume it and give the next one; `load` only looks at it, so it hands none back: nothing can
go on from a look. `apart` is v, which must share nothing with an array that is changed afterwards. The last three rows are the
algebra of sensitivities, which backpropagators are written in.
"""

from __future__ import annotations

from semantics.primitives.row import row

MEMORY = (
    row("memory", "home", "integer -> any"),
    row("alloc", "m v", "any any -> tuple"),
    row("load", "m p", "any any -> any"),
    row("store", "m p v", "any any any -> any"),
    row("lea", "p i", "any any -> any"),
    row("apart", "v", "any -> any"),
    row("cell", "d p", "any any -> any"),
    row("cell_alone", "m p d", "any any any -> any"),
    row("cell_cleared", "d p", "any any -> any"),
)

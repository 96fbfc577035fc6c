"""
How generated code counts the references to its arrays: by plain additions.

Numba counts by atomic ones, some 4 ns each, since threads may share an array. An array that generated code makes is its own until
it is given out, and one that it is given is lent, and counted by nobody (`backend.ways_in.text`), or has a record of its own for
the call; so no other thread counts while it runs. The functions have the names by which Numba leaves out pairs of calls, and are
internal, so that no other code calls them.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils

COUNT = ir.IntType(64)


def counted_alone(module: Any) -> None:
    """The functions that count, where a module calls them, as functions of its own."""
    called = {name: function for name in STEPS if (function := module.globals.get(f"NRT_{name}")) is not None}
    for name, function in called.items():
        if function.is_declaration:
            function.linkage = "internal"
            builder = ir.IRBuilder(function.append_basic_block())
            (record,) = function.args
            with builder.if_then(builder.not_(cgutils.is_null(builder, record)), likely=True):
                place = builder.bitcast(record, COUNT.as_pointer())
                count = builder.add(builder.load(place), COUNT(STEPS[name]))
                builder.store(count, place)
                if name == "decref":
                    with builder.if_then(builder.icmp_unsigned("==", count, COUNT(0)), likely=False):
                        builder.call(
                            cgutils.get_or_insert_function(module, function.function_type, "NRT_MemInfo_call_dtor"), [record]
                        )
            builder.ret_void()


STEPS = {"incref": 1, "decref": -1}
"""What each function adds to the number of references, with which the record of an array begins."""

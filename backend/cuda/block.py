"""
What a block of threads is to code of arrays. The loops of `backend.arrays.loops.shares`, and memory for arrays.

    _each, _rows, _all, _alone   begin a nest of loops, and so with `_meet`: every thread has written what it had to
    _columns, _own               are inside of one: an element is the same thread's throughout the nest, so nobody waits
    _empty, _full                take memory from the piece of the block, one array after another; none is given back

A thread whose code traps in a loop that is shared leaves alone. It says so in STOP, and the others leave when they next meet,
before anyone reads what it has not written. They leave, too, where there is no room for an array. Then the status is still LEFT.

In the shared memory of a block are three words: the address of the next array, the end of its piece, and whether to stop.
"""

from __future__ import annotations

from backend.arrays.values import MADE
from backend.lowering.first_order import Lowered
from backend.stacks.memory import MEMORY
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType

NEXT, END, STOP = range(3)
SHARED = 8 * 3
LEFT = -1
MOST = 1 << 58  # elements: more than any memory has

RUNTIME = f"""
@_device
def _meet():
    cuda.syncthreads()
    state = cuda.shared.array(0, _word)
    if state[{STOP}] != 0:
        _leave()


@_device
def _each(n):
    _meet()
    return range(cuda.threadIdx.x, n, cuda.blockDim.x)


@_device
def _rows(n):
    _meet()
    return range(cuda.threadIdx.x // _WIDTH, n, cuda.blockDim.x // _WIDTH)


@_device
def _columns(n):
    return range(cuda.threadIdx.x % _WIDTH, n, _WIDTH)


@_device
def _all(n):
    _meet()
    return range(n)


@_device
def _own(n):
    return range(cuda.threadIdx.x, n, cuda.blockDim.x)


@_device
def _alone(n):
    _meet()
    return range(n if cuda.threadIdx.x == 0 else 0)


@_device
def _take(size):
    _meet()
    state = cuda.shared.array(0, _word)
    at = state[{NEXT}]
    room = state[{END}] - at
    cuda.syncthreads()
    if size > room:
        _leave()
    if cuda.threadIdx.x == 0:
        state[{NEXT}] = at + size
    return at


@_device
def _count(shape):
    count = 1
    for n in shape + (1,):  # of an array without axes too: Numba goes over no empty tuple
        if n < 0 or (n > 0 and count > {MOST} // n):
            return {MOST}
        count = count * n
    return count


@_inside
def _empty(shape, dtype):
    return _array(_take(8 * _count(shape)), shape, dtype)


@_inside
def _full(shape, fill, dtype):
    array = _empty(shape, dtype)
    elements = _reshape(array, (_count(shape),))
    for k in _each(_count(shape)):
        elements[k] = fill
    return array
"""

READ = {REAL: "numbers[{}]", INTEGER: "given[{}]", BOOLEAN: "given[{}] != 0"}


def block_source(code: Lowered) -> str:
    """
    The generated code with a kernel that runs one sample per block.

    given    the arguments of all samples in words, `numbers` the same as doubles: a number in one word, an array in its address
             and its sizes; `found` and `values` the results, in the same way
    arena    the address of the memory for arrays, `size` bytes for each block
    """
    loads, at = [], 0
    for type in code.arguments:
        if isinstance(type, ArrayType):
            sizes = "".join(f"given[a + {at + 1 + k}], " for k in range(len(type.dims)))
            loads.append(f"_array(given[a + {at}], ({sizes}), {MADE[type.dtype]})")
        else:
            loads.append(READ[type].format(f"a + {at}"))
        at += width(type)
    stores, to = [], 0
    for number, type in enumerate(code.results):
        value = f"v{number}"
        if isinstance(type, ArrayType):
            stores.append(f"found[r + {to}] = _address({value})")
            stores += [f"found[r + {to + 1 + k}] = {value}.shape[{k}]" for k in range(len(type.dims))]
        else:
            stores.append(f"{'values' if type == REAL else 'found'}[r + {to}] = {value}")
        to += width(type)
    memory = MEMORY if code.stacks else ()
    own = [f"{m}[i * ({m}.size // cuda.gridDim.x) : (i + 1) * ({m}.size // cuda.gridDim.x)]" for m in memory[:-1]]
    values = [f"v{k}" for k in range(len(code.results))]
    lines = "\n        ".join([*stores, "status[i] = 0"])
    return f"""{RUNTIME}

{code.source}

def batch({", ".join(["given", "numbers", "found", "values", "status", "arena", "size", *memory, "fuel", "one"])}):
    i = cuda.blockIdx.x
    a = i * {at}
    r = i * {to}
    state = cuda.shared.array(0, _word)
    if cuda.threadIdx.x == 0:
        state[{NEXT}] = arena + i * size
        state[{END}] = arena + (i + 1) * size
        state[{STOP}] = 0
    cuda.syncthreads()
    ({", ".join([*values, "left", "code"])},) = kernel({", ".join([*loads, *own, *memory[-1:], "fuel", "one"])})
    if code != 0:
        state[{STOP}] = code
        status[i] = code
        return
    _meet()
    if cuda.threadIdx.x == 0:
        {lines}
"""


def width(type: object) -> int:
    """How many words a number or an array has among the arguments or results of a sample."""
    return 1 + len(type.dims) if isinstance(type, ArrayType) else 1

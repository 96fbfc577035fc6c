"""
How values, frames and code lie in memory: the numbers that the machine's source, the loader and the host share.

One buffer of 64-bit words, seen as integers (I) and as doubles (F):

    state | constants | stack, growing up | heap, growing up
    state | constants | stack, growing up | young objects, to LIMIT | old objects, to OLD, growing up

The second is how a run on compiled code begins: when the place of young objects is full, those that can be reached are moved behind
the old ones (`collecting.promote`), and their place is used again. Objects do not change, so no old one leads to a young one, but
for sums of sparse sensitivities: CHANGED begins a list of those. Where OLD is 0 there are no young objects. The room of old objects
that nobody needs any more (`collecting.sweep`) is for large ones: HOLES begins a list.

A *value* is two words, a tag and a payload. A payload is the number itself, or, from TUPLE on, the address of an *object*:

    object     [words, values, …raw, tag, payload, …]     all its words; how many values it ends with
    tuple      no raw words                               closure   raw: the address of its graph in the code
    record     raw: the label's place in the host's table
    array      raw: dtype, whether it has ZEROs, rank, elements, sizes…, then one word per element; no values
    sparse     raw: the same up to the sizes; the rest is in `sparse_arrays`
    deferred   raw: the same up to the sizes; the rest is in `deferred`
    slice      no raw words; start, stop, step
    memory     raw: its home; what each cell holds            pointer    raw: home, address; the indices of its path
    cells      no raw words; the sensitivity of each cell
    grown      a list that was changed: `growing_lists`

A *frame* is [return address, caller's frame, address for the result] and then values: parameters, captured ones, and what each
instruction computes, in order. So of a frame that waits exactly what lies below the address for the result has been computed.

Code is another array of words. A graph starts with [parameters, captured, words of its frame]; an instruction is
[opcode, place for the result in the frame, operands, operand…]. An operand is a place in the frame, or, if negative, the address
of a constant. A closure is made by CLOSE, whose first operand is the address of the graph.
"""

from __future__ import annotations

# tags
UNIT, REAL, INT, BOOL, ZERO, PRIM, OPAQUE = range(7)
TUPLE, CLOSURE, RECORD, ARRAY, SPARSE, DEFERRED, SLICE, MEMORY, POINTER, CELLS, GROWN, BUFFER, CHANGES = range(7, 20)
BOXED = TUPLE
"""The first tag whose payload is an address."""

# words of the state: those before HP are the program's, the others the buffer's
PC, FP, TOP, STEPS, RESULT, RESULT_PAYLOAD, ONE, FEW, HP, HEAP, LIMIT, STACK_END, WANTED, OLD, CHANGED, HOLES = range(16)
STATE = 16

# a frame, a graph, an object
RETURN_PC, RETURN_FP, RETURN_OUT, FRAME = range(4)
PARAMETERS, CAPTURED, WORDS, BODY = range(4)
SIZE, VALUES, RAW = range(3)
DTYPE, HOLED, RANK, COUNT, SHAPE = range(2, 7)

# what a run of the machine ends with
RUNNING, DONE, PAUSED, SERVICE, FULL = range(5)
STATUSES = ("running", "done", "paused", "service", "full")

# the machine's own instructions; those of primitives follow (`opcodes`)
CALL, TAIL, RETURN, CLOSE = range(4)
OWN = 4

LIST_LABEL = 0
"""The place of the label of lists in the table of every host."""

BOOLEANS, INTEGERS, SINGLES, DOUBLES, LISTED = range(5)
"""The dtypes bool, i64, f32, whose elements are arrays without axes, and f64; and that of a list's sensitivity (`sparse_lists`)."""

SHORT, DEAR = 64, 8
"""
Of few elements, so many are copied rather than changed in place, and so many more for each that is changed; as many are written out
rather than said to be ZERO.
"""

EXACT = 1 << 53
"""Integers up to this one, and from its negative on, are reals."""

LONGEST = 1 << 32
"""The step of a slice is shorter, or it is the host's."""

ENTRIES, SUM, UNSET, TO_ADD = 1, 2, -1, -1
"""
What the sensitivity of a list is; the tag of an element of a list that is still to be found; and, in the place of VALUES, that an
object has two values whose sum is still to be found, and where it is to be.
"""

FEW_CELLS = 64
"""Cells of a memory that the machine goes over itself: it makes a new memory for every store."""

SMALL = 8
"""
Elements of a tuple whose sensitivity is written out although only one of them has one, and of a list that is copied to be longer.
"""

ZERO_BITS = 0x7FF8_5A45_524F_0001
"""The NaN that stands for the symbolic ZERO among the elements of an array; values that come in never have it."""

BEHIND, BEFORE, OVER = range(3)
"""How the entries of a sparse sensitivity meet a word: as the right operand of a sum, as the left one, or in its stead."""

COMPARISONS = {"lt": 1, "le": 3, "gt": 4, "ge": 6, "eq": 2, "ne": 13}
"""
Which answers make a comparison True: 1, 2, 4, 8, where <, = or > or none of them holds. Of booleans only the last two can be asked.
"""

NAMES = {name: value for name, value in list(globals().items()) if name.isupper() and isinstance(value, int)}
"""Every number above by its name: what the head of the generated source defines."""

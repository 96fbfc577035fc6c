"""
Tuples that are taken apart where they are made, so that neither is left: elements, lengths, sums and instances of known tuples.

The measure has four parts: the injections into tuples that still hold something; the elements that the remaining
`instantiate`s would unfold to; for every element of a sum of sums three to the power of its height, since `(s + t)[i]` becomes
a sum of two lower elements; the applications.
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import Apply, NodeId, Program
from semantics.primitives.table import TABLE
from transforms.surgery import application, arguments_of, become, index_of
from transforms.system import RewriteSystem, rewrite_of

MAKE_TUPLE, GETITEM, LENGTH, OF_LENGTH = TABLE["make_tuple"], TABLE["getitem"], TABLE["length"], TABLE["of_length"]
GADD, INSTANTIATE, INJECT = TABLE["gadd"], TABLE["instantiate"], TABLE["inject"]
TERMS = 64
NESTED = 8  # elements of elements that are looked through to find the one that goes first
# Which arguments the shape of a result is made of.
PARTS = {
    GETITEM: slice(0, 1),
    OF_LENGTH: slice(0, 1),
    INSTANTIATE: slice(1, 2),
    INJECT: slice(2, 3),
    MAKE_TUPLE: slice(None),
    GADD: slice(None),
}


def items_of(program: Program, node: NodeId) -> tuple[NodeId, ...] | None:
    """The elements of a tuple that is made in place, else None."""
    found = application(program, node, MAKE_TUPLE)
    return found.arguments if found is not None else None


@rewrite_of("getitem")
def element(program: Program, place: int) -> Program | None:
    """(x₀, …, xₙ₋₁)[i]  ⟹  xᵢ, for a constant i from -n to n - 1, unless xᵢ is built of such an element, which goes first"""
    item = _element_at(program, place)
    return None if item is None or first_element(program, place) is not None else become(Edit(program), place, item)


def first_element(program: Program, place: int) -> NodeId | None:
    """
    The element that goes before the one at `place`.

    In a chain of n tuples that hand on a value, the outermost first would move the uses of all n from each to the next.
    """
    node = _element_at(program, place)
    for _ in range(NESTED):
        if node is None or _element_at(program, node) is not None:
            return node
        found = arguments_of(program, node, GETITEM)
        node = found[0] if found is not None else None
    return None


def _element_at(program: Program, place: NodeId) -> NodeId | None:
    """The xᵢ that (x₀, …, xₙ₋₁)[i] at `place` stands for, or None."""
    found = arguments_of(program, place, GETITEM)
    items = items_of(program, found[0]) if found is not None else None
    index = index_of(program, found[1]) if found is not None else None
    return items[index] if items is not None and index is not None and -len(items) <= index < len(items) else None


@rewrite_of("length")
def length_of_made(program: Program, place: int) -> Program | None:
    """length((x₀, …, xₙ₋₁))  ⟹  n"""
    found = arguments_of(program, place, LENGTH)
    items = items_of(program, found[0]) if found is not None else None
    if items is None:
        return None
    edit = Edit(program)
    return become(edit, place, edit.constant(len(items)))


@rewrite_of("of_length")
def made_of_length(program: Program, place: int) -> Program | None:
    """of_length((x₀, …, xₙ₋₁), n)  ⟹  (x₀, …, xₙ₋₁)"""
    found = arguments_of(program, place, OF_LENGTH)
    items = items_of(program, found[0]) if found is not None else None
    if found is None or items is None or index_of(program, found[1]) != len(items):
        return None
    return become(Edit(program), place, found[0])


@rewrite_of("make_tuple")
def made_of_elements(program: Program, place: int) -> Program | None:
    """(t[0], …, t[n-1])  ⟹  t, where t = of_length(u, n): only then is t known to be a tuple of n"""
    items = items_of(program, place) if place in program.nodes else None
    first = arguments_of(program, items[0], GETITEM) if items else None
    if not items or first is None:
        return None
    checked = arguments_of(program, first[0], OF_LENGTH)
    if checked is None or index_of(program, checked[1]) != len(items):
        return None
    for index, item in enumerate(items):
        part = arguments_of(program, item, GETITEM)
        if part is None or part[0] != first[0] or index_of(program, part[1]) != index:
            return None
    return become(Edit(program), place, first[0])


@rewrite_of("getitem")
def element_of_sum(program: Program, place: int) -> Program | None:
    """gadd(s, t)[i]  ⟹  gadd(s[i], t[i]), where a tuple made in place or an injected element is among what is added"""
    found = arguments_of(program, place, GETITEM)
    parts = arguments_of(program, found[0], GADD) if found is not None else None
    if found is None or parts is None or index_of(program, found[1]) is None or not _resolves(program, found[0]):
        return None
    edit, owner = Edit(program), program.nodes[place]
    assert isinstance(owner, Apply)
    elements = [edit.call(owner.graph, GETITEM, s, found[1], name=owner.name, location=owner.location) for s in parts]
    return become(edit, place, edit.call(owner.graph, GADD, *elements, name=owner.name, location=owner.location))


def _resolves(program: Program, node: NodeId) -> bool:
    """Whether one of the first TERMS terms of a sum is a known tuple: the rule is sound without that, but idle."""
    todo, looked = [node], 0
    while todo and looked < TERMS:
        current = todo.pop()
        looked += 1
        if program.callee(current) in (MAKE_TUPLE, INJECT):
            return True
        todo.extend(arguments_of(program, current, GADD) or ())
    return False


@rewrite_of("instantiate")
def instance_of_made(program: Program, place: int) -> Program | None:
    """instantiate(d, (x₀, …, xₙ₋₁))  ⟹  (instantiate(d[0], x₀), …, instantiate(d[n-1], xₙ₋₁))"""
    found = arguments_of(program, place, INSTANTIATE)
    items = items_of(program, found[1]) if found is not None else None
    if found is None or items is None:
        return None
    edit, old = Edit(program), program.nodes[place]
    assert isinstance(old, Apply)
    parts = [
        edit.call(old.graph, INSTANTIATE, edit.call(old.graph, GETITEM, found[0], edit.constant(i)), x) for i, x in enumerate(items)
    ]
    return become(edit, place, edit.call(old.graph, MAKE_TUPLE, *parts, name=old.name, location=old.location))


@rewrite_of("inject")
def injected_size(program: Program, place: int) -> Program | None:
    """inject((x₀, …, xₙ₋₁), i, d)  ⟹  inject((None, …, None), i, d): only the size is looked at"""
    found = arguments_of(program, place, INJECT)
    items = items_of(program, found[0]) if found is not None else None
    if found is None or not items or all(program.constant(x) is None for x in items):
        return None
    edit, old = Edit(program), program.nodes[place]
    assert isinstance(old, Apply)
    blank = edit.call(old.graph, MAKE_TUPLE, *(edit.constant(None) for _ in items))
    edit.set_inputs(place, (old.function, blank, *found[1:]))
    return edit.program


RULES = (element, length_of_made, made_of_length, made_of_elements, element_of_sum, instance_of_made, injected_size)


def measure(program: Program) -> tuple[int, ...]:
    """Injections into tuples that are not blank; the spread of all instantiates; the height of all elements; applications."""
    heights: dict[NodeId, tuple[int, int]] = {}
    injections = spread = height = count = 0
    for node, found in program.nodes.items():
        if isinstance(found, Apply):
            count += 1
            if (d := arguments_of(program, node, INSTANTIATE)) is not None:
                spread += _shape(program, d[1], heights)[1]
            elif (t := arguments_of(program, node, GETITEM)) is not None:
                height += 3 ** _shape(program, t[0], heights)[0]
            elif (t := arguments_of(program, node, INJECT)) is not None:
                injections += not all(program.constant(x) is None for x in items_of(program, t[0]) or (t[0],))
    return injections, spread, height, count


def _shape(program: Program, root: NodeId, known: dict[NodeId, tuple[int, int]]) -> tuple[int, int]:
    """The height in sums and the size in elements of what `root` is built of; elements count as much as the whole."""
    todo = [(root, False)]
    while todo:
        node, ready = todo.pop()
        if node in known:
            continue
        callee = program.callee(node)
        below = program.inputs(node)[1:][PARTS[callee]] if callee in PARTS else ()
        if not ready:
            todo.append((node, True))
            todo.extend((n, False) for n in below)
            continue
        height = max((known[n][0] for n in below), default=0) + (callee is GADD)
        size = sum(known[n][1] for n in below) + (callee not in (GETITEM, INSTANTIATE) or not below)
        known[node] = (height, size)
    return known[root]


DOC = "tuples taken apart where they are made"
SYSTEM = RewriteSystem(name="tuples", rules=RULES, doc=DOC, measure=measure, blocker=first_element)

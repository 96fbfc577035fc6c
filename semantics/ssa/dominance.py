"""
The shape of a control-flow graph: reverse postorder, dominance and postdominance, and the forest of its loops.

Block a *dominates* block b if every path from the entry to b goes through a; every block dominates itself. The immediate
dominators make a tree, found by the iterative algorithm of Cooper, Harvey and Kennedy (2001). #0, the outside, is its root; of the
tree of *postdominators* it is the root as well, as what a function returns to (Zygote, section 3.1: "the implicit block 0").

A *loop* is entered at its header. It is reducible if its header dominates all of its blocks, so that it can be entered nowhere
else; the forest is found by Havlak's algorithm (1997), which names the other loops irreducible. Nothing recurs on Python's stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce

from semantics.ssa.form import OUTSIDE, Function, Label

Edges = Mapping[Label, tuple[Label, ...]]


def successors(function: Function) -> dict[Label, tuple[Label, ...]]:
    """The edges of a function, with one from the outside to the entry. A jump to a block that is not there is none."""
    known = function.by_label
    edges = {block.label: tuple(label for label in block.successors if label in known) for block in function.blocks}
    return {OUTSIDE: (function.entry,), **edges}


def reversed_edges(edges: Edges) -> dict[Label, tuple[Label, ...]]:
    """Every edge the other way round."""
    found: dict[Label, list[Label]] = {label: [] for label in edges}
    for label, targets in edges.items():
        for target in targets:
            found[target].append(label)
    return {label: tuple(sources) for label, sources in found.items()}


def walk(edges: Edges) -> tuple[list[Label], list[Label]]:
    """The labels that a depth-first walk from the outside comes to, in preorder and in postorder."""
    entered, left = [OUTSIDE], []
    seen = {OUTSIDE}
    path = [(OUTSIDE, iter(edges[OUTSIDE]))]
    while path:
        label, rest = path[-1]
        following = next((target for target in rest if target not in seen), None)
        if following is None:
            left.append(label)
            path.pop()
        else:
            seen.add(following)
            entered.append(following)
            path.append((following, iter(edges[following])))
    return entered, left


def reverse_postorder(function: Function) -> tuple[Label, ...]:
    """The blocks that can be reached, each before its successors except along the edges that close a loop."""
    return tuple(reversed(walk(successors(function))[1][:-1]))


class Ancestry:
    """The tree of a depth-first walk: a label is below those that were entered before it and left after it."""

    def __init__(self, edges: Edges) -> None:
        entered, left = walk(edges)
        self.entered = {label: i for i, label in enumerate(entered)}
        self.left = {label: i for i, label in enumerate(left)}

    def below(self, above: Label, label: Label) -> bool:
        """Whether `above` is `label` or one of its ancestors."""
        return self.entered[above] <= self.entered[label] and self.left[label] <= self.left[above]


@dataclass(frozen=True)
class Dominators:
    """The tree of dominators: `immediate` leads from every block that can be reached to its parent, at last to #0."""

    immediate: Mapping[Label, Label]

    @cached_property
    def children(self) -> dict[Label, tuple[Label, ...]]:
        """The blocks that each immediately dominates, in reverse postorder."""
        found: dict[Label, list[Label]] = {OUTSIDE: [], **{label: [] for label in self.immediate}}
        for label, parent in self.immediate.items():
            found[parent].append(label)
        return {label: tuple(labels) for label, labels in found.items()}

    @cached_property
    def _tree(self) -> Ancestry:
        return Ancestry(self.children)

    def dominates(self, a: Label, b: Label) -> bool:
        """Whether every path to b goes through a. No path leads to a block that cannot be reached: all dominate it."""
        if a == b or b not in self._tree.entered:
            return True
        return a in self._tree.entered and self._tree.below(a, b)


def dominators_in(edges: Edges) -> Dominators:
    """
    The tree of dominators of a graph whose root is #0, parents before their children.

    Each block's parent is what the paths to its predecessors in the tree have in common; repeated until nothing changes.

    An edge back to a block that dominates its source says nothing new, and to compare the two would take a walk through the whole
    loop: only the other edges are looked at, those of a reducible graph once. Predecessors that come last in reverse postorder
    are met first: of many exits along one path each is one step from the next.
    """
    order = tuple(reversed(walk(edges)[1]))
    number = {label: i for i, label in enumerate(order)}
    arriving = {
        label: sorted((p for p in sources if p in number), key=number.__getitem__, reverse=True)
        for label, sources in reversed_edges(edges).items()
    }
    backward = {(p, label) for label in order for p in arriving[label] if number[p] >= number[label]}
    left_out = set(backward)
    parent = {OUTSIDE: OUTSIDE}
    while True:
        while _improve(order, number, arriving, left_out, parent):
            pass
        tree = Dominators({label: parent[label] for label in order[1:]})
        if all(tree.dominates(label, source) for source, label in left_out):
            return tree
        left_out = {(source, label) for source, label in left_out if tree.dominates(label, source)}


def _improve(
    order: tuple[Label, ...],
    number: Mapping[Label, int],
    arriving: Mapping[Label, list[Label]],
    left_out: set[tuple[Label, Label]],
    parent: dict[Label, Label],
) -> bool:
    """Finds the parents anew, in one pass; whether one of them has changed that an earlier pass had found."""

    def common(a: Label, b: Label) -> Label:
        while a != b:
            if number[a] > number[b]:
                a = parent[a]
            else:
                b = parent[b]
        return a

    changed = False
    for label in order[1:]:
        found = reduce(common, (p for p in arriving[label] if p in parent and (p, label) not in left_out))
        changed |= label in parent and parent[label] != found
        parent[label] = found
    return changed


def dominators(function: Function) -> Dominators:
    """The tree of dominators."""
    return dominators_in(successors(function))


def postdominators(function: Function) -> Dominators:
    """The tree of postdominators, of the blocks from which a return can be reached."""
    edges = reversed_edges(successors(function))
    returns = tuple(block.label for block in function.blocks if not block.successors)
    return dominators_in(
        {**{label: tuple(p for p in sources if p != OUTSIDE) for label, sources in edges.items()}, OUTSIDE: returns}
    )


@dataclass(frozen=True, slots=True)
class Loop:
    """
    A loop.

    latches      the blocks that jump back to the header
    parent       the header of the innermost loop around it, None if there is none
    irreducible  whether it can be entered elsewhere than at its header
    """

    header: Label
    latches: tuple[Label, ...]
    parent: Label | None
    irreducible: bool


@dataclass(frozen=True)
class Loops:
    """The forest of loops: each by its header, and the header of the innermost loop of every block that can be reached, or None."""

    by_header: Mapping[Label, Loop]
    innermost: Mapping[Label, Label | None]

    @cached_property
    def _inside(self) -> dict[Label, list[Label]]:
        """The blocks and the headers of the loops that lie immediately in each loop."""
        found: dict[Label, list[Label]] = {header: [] for header in self.by_header}
        for label, header in self.innermost.items():
            around = self.by_header[label].parent if label == header else header
            if around is not None:
                found[around].append(label)
        return found

    def body(self, header: Label) -> frozenset[Label]:
        """All blocks of a loop, those of the loops inside it too."""
        found: set[Label] = set()
        todo = [header]
        while todo:
            label = todo.pop()
            found.add(label)
            todo += self._inside.get(label, ())
        return frozenset(found)

    def around(self, label: Label) -> Iterator[Loop]:
        """The loops that a block lies in, innermost first."""
        header = self.innermost[label]
        while header is not None:
            yield self.by_header[header]
            header = self.by_header[header].parent


def loops(function: Function) -> Loops:
    """The forest of loops; inner loops are found first, and from then on stand as one block for all of theirs."""
    edges = successors(function)
    tree = Ancestry(edges)
    order = list(tree.entered)[1:]
    sources = {label: [s for s in found if s in tree.entered] for label, found in reversed_edges(edges).items()}
    latches = {label: tuple(s for s in sources[label] if tree.below(label, s)) for label in order}
    arriving = {label: set(sources[label]) - set(latches[label]) for label in order}
    around: dict[Label, Label] = {}
    irreducible: set[Label] = set()
    stands_for = Representatives(order)
    for header in reversed(order):
        body = dict.fromkeys(stands_for[latch] for latch in latches[header] if latch != header)
        todo = list(body)
        while todo:
            for inside in [stands_for[source] for source in arriving[todo.pop()]]:
                if not tree.below(header, inside):
                    irreducible.add(header)
                    arriving[header].add(inside)
                elif inside != header and inside not in body:
                    body[inside] = None
                    todo.append(inside)
        for label in body:
            around[label] = header
            stands_for.join(label, header)
    by_header = {h: Loop(h, latches[h], around.get(h), h in irreducible) for h in order if latches[h]}
    return Loops(by_header, {label: label if label in by_header else around.get(label) for label in order})


class Representatives:
    """Disjoint sets of labels, with path compression."""

    def __init__(self, labels: Iterable[Label]) -> None:
        self.parent = {label: label for label in labels}

    def __getitem__(self, label: Label) -> Label:
        root = label
        while self.parent[root] != root:
            root = self.parent[root]
        while self.parent[label] != root:
            self.parent[label], label = root, self.parent[label]
        return root

    def join(self, label: Label, root: Label) -> None:
        """The set of `label` becomes part of that of `root`, which stands for both."""
        self.parent[self[label]] = self[root]

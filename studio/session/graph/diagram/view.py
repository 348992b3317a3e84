"""View: which nodes are in view for a state of open groups, and the edges between them."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from studio.session.graph.diagram.arrange import Shown
from studio.session.graph.diagram.groups import ROOT, GroupTree
from studio.session.graph.diagram.labels import Labels
from studio.session.graph.diagram.operators import ProgramIndex
from studio.session.graph.diagram.scene import FORWARD, PHASES, VALUE
from studio.session.graph.diagram.texts import DiagramWords

PAGE = 1_000
"""Children of a group that are shown at once; a box "… 4,000 more" opens the next."""

MOST_EDGES = 10_000
"""Edges that are drawn at once: more would cover each other, and take seconds."""

_NEVER, _HIDDEN = -1, -2


@dataclass
class State:
    """What the user has opened: groups, pages of large groups, and the phases that are shown; whether boxes
    have room for pictures."""

    opened: set[int] = field(default_factory=set)
    pages: dict[int, int] = field(default_factory=dict)
    phases: frozenset[int] = frozenset(range(len(PHASES)))
    pictured: bool = False

    def copy(self) -> State:
        """A state that stays when this one changes."""
        return State(set(self.opened), dict(self.pages), self.phases, self.pictured)


class View:
    """Finds what is shown. The box "… more" of a group has a number of its own after those of all nodes."""

    def __init__(self, index: ProgramIndex, tree: GroupTree, labels: Labels, words: DiagramWords) -> None:
        self._index = index
        self._tree = tree
        self._labels = labels
        self._words = words
        self.count = len(tree.parents)
        self._parents = np.array(tree.parents, np.int64)
        self._levels: list[npt.NDArray[np.int64]] = []
        nodes = tree.children[ROOT]
        while nodes:
            self._levels.append(np.array(nodes, np.int64))
            nodes = [child for node in nodes for child in tree.children.get(node, ())]

    def more_of(self, frame: int) -> int:
        """The number of the box for the children of a group that are not shown."""
        return self.count + 1 + frame

    def frame_of_more(self, node: int) -> int:
        """The group that a box "… more" is in."""
        return node - self.count - 1

    def behind(self, frame: int, state: State) -> list[int]:
        """The children of a group that its box "… more" stands for."""
        return self._of_phases(frame, state)[state.pages.get(frame, 1) * PAGE :]

    def _of_phases(self, frame: int, state: State) -> list[int]:
        children = self._tree.children[frame]
        if len(state.phases) == len(PHASES):
            return children
        return [node for node in children if self._tree.phases[node] in state.phases]

    def children(self, state: State) -> dict[int, list[int]]:
        """ROOT and the open frames in view, each with the nodes to show in it."""
        found: dict[int, list[int]] = {}
        stack = [ROOT]
        while stack:
            frame = stack.pop()
            nodes = self._of_phases(frame, state)
            most = state.pages.get(frame, 1) * PAGE
            nodes = nodes if len(nodes) <= most else [*nodes[:most], self.more_of(frame)]
            found[frame] = nodes
            stack += [node for node in nodes if node in state.opened]
        return found

    def near(
        self, state: State, middles: Mapping[int, tuple[float, float]], at: tuple[float, float], most: int
    ) -> State:
        """The state with so few groups open that ``most`` boxes are shown, those nearest to ``at``."""
        children = self.children(state)
        if sum(map(len, children.values())) <= most:
            return state

        def entry(frame: int) -> tuple[float, int]:
            x, y = middles.get(frame, (float("inf"), 0.0))
            return (x - at[0]) ** 2 + (y - at[1]) ** 2, frame

        total = len(children[ROOT])
        chosen: set[int] = set()
        waiting = [entry(node) for node in children[ROOT] if node in children]
        heapq.heapify(waiting)
        while waiting and total < most:
            _, nearest = heapq.heappop(waiting)
            if total + len(children[nearest]) <= most:
                total += len(children[nearest])
                chosen.add(nearest)
                for node in children[nearest]:
                    if node in children:
                        heapq.heappush(waiting, entry(node))
        return State(chosen, state.pages, state.phases, state.pictured)

    def title(self, node: int, state: State) -> str:
        """The title of any box."""
        if node < self.count:
            return self._labels.title(node)
        return self._words.more.format(f"{len(self.behind(self.frame_of_more(node), state)):,}")

    def note(self, node: int) -> str:
        """The note of any box."""
        return self._labels.note(node) if node < self.count else ""

    def shown(self, state: State) -> Shown:
        """All that is to be drawn."""
        children = self.children(state)
        parents = {node: frame for frame, nodes in children.items() for node in nodes}
        edges, texts, whole = self._edges(self._represented(children, state), children, parents)
        sizes = {
            node: self._labels.size(
                self.title(node, state),
                self.note(node),
                node in self._tree.children or node > self.count,
                state.pictured and self._may_have_picture(node),
            )
            for node in parents
        }
        top = children[ROOT]
        columns = {node: self._phase(node) for node in top}
        named = {
            self._tree.names[node]: node
            for node in top
            if columns[node] == FORWARD and node in self._tree.names
        }
        counterparts = {
            node: named[name]
            for node, column in columns.items()
            if column != FORWARD and (name := self._tree.names.get(node, "")) in named
        }
        return Shown(children, sizes, edges, texts, parents, columns, counterparts, whole - len(edges))

    def _may_have_picture(self, node: int) -> bool:
        """Whether it is computed for a sample, or an input; an output is the result of an operator."""
        inputs = len(self._index.operators) + len(self._index.inputs)
        return node < self.count and (self._tree.kinds[node] != VALUE or node < inputs)

    def _phase(self, node: int) -> int:
        if node < self.count:
            return self._tree.phases[node]
        frame = self.frame_of_more(node)
        return FORWARD if frame == ROOT else self._tree.phases[frame]

    def _represented(self, children: Mapping[int, list[int]], state: State) -> npt.NDArray[np.int64]:
        """For each node the box that shows it, itself or one around it; below 0 if none does."""
        own = np.full(self.count, _NEVER, np.int64)
        for frame, nodes in children.items():
            whole = self._tree.children[frame]
            if len(whole) > len(nodes) or (nodes and nodes[-1] >= self.count):
                own[whole] = _HIDDEN
                if nodes and nodes[-1] >= self.count:
                    own[self.behind(frame, state)] = nodes[-1]
                    nodes = nodes[:-1]
            own[nodes] = nodes
        found = np.full(self.count, _HIDDEN, np.int64)
        for level in self._levels:
            ours, around = own[level], self._parents[level]
            found[level] = np.where(ours != _NEVER, ours, np.where(around == ROOT, _HIDDEN, found[around]))
        return found

    def _edges(
        self,
        represented: npt.NDArray[np.int64],
        children: Mapping[int, list[int]],
        parents: Mapping[int, int],
    ) -> tuple[list[tuple[int, int]], list[str], int]:
        """One edge for all that flows between two boxes, and its text; and how many edges there are.

        Of very many the short ones are drawn.
        """
        index = self._index
        sources, targets = represented[index.sources], represented[index.targets]
        used = np.nonzero((sources >= 0) & (targets >= 0) & (sources != targets))[0]
        sources, targets, flowing = sources[used], targets[used], index.flowing[used]
        order = np.lexsort((flowing, targets, sources))
        edges: list[tuple[int, int]] = []
        texts: list[list[int]] = []
        last = (ROOT, ROOT)
        for source, target, value in zip(
            sources[order].tolist(), targets[order].tolist(), flowing[order].tolist(), strict=True
        ):
            if (source, target) != last:
                last = (source, target)
                edges.append(last)
                texts.append([value])
            elif texts[-1][-1] != value:
                texts[-1].append(value)
        kept = [
            n
            for n, (source, target) in enumerate(edges)
            if not (source in children and _is_within(target, source, parents))
            and not (target in children and _is_within(source, target, parents))
        ]
        whole = len(kept)
        if whole > MOST_EDGES:
            kept = sorted(kept, key=lambda n: abs(edges[n][1] - edges[n][0]))[:MOST_EDGES]
        return [edges[n] for n in kept], [self._labels.edge(texts[n]) for n in kept], whole


def _is_within(node: int, frame: int, parents: Mapping[int, int]) -> bool:
    while node != ROOT:
        if node == frame:
            return True
        node = parents[node]
    return False

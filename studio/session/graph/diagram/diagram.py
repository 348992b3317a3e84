"""Diagram: the groups of a Program, which of them are open, and scenes of what is shown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from engine.core.errors import FormatError
from studio.session.graph.diagram.arrange import LayoutCache, arranged, scene_of
from studio.session.graph.diagram.groups import ROOT, GroupTree
from studio.session.graph.diagram.labels import Labels
from studio.session.graph.diagram.neighbours import neighbours
from studio.session.graph.diagram.operators import ProgramIndex
from studio.session.graph.diagram.paths import grouped
from studio.session.graph.diagram.scene import FORWARD, MORE, PHASES, VALUE, Scene
from studio.session.graph.diagram.texts import ENGLISH, DiagramWords, cleaned
from studio.session.graph.diagram.view import PAGE, State, View


class Diagram:
    """A Program as nested groups that open and close.

    Nodes are numbers, which stay the same whatever is open: operators, inputs and outputs of the Program,
    groups, and for each group the box that stands for its children that are not shown yet.

    Args:
        program: as ``serialize.to_plain`` gives it.
        by: what groups are of: "layer", "line", "prefix"; "auto" takes the first that the Program has.
        words: those in titles and notes.

    Raises:
        FormatError: ``program`` is not as Model Studio writes it.
    """

    def __init__(self, program: Mapping[str, Any], by: str = "auto", words: DiagramWords = ENGLISH) -> None:
        try:
            self._index = ProgramIndex(program)
            self.grouped_by, paths = grouped(self._index, by)
            self._tree = GroupTree(self._index, paths, self.grouped_by, words)
            self._labels = Labels(self._index, self._tree, words)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise FormatError(
                f"diagram: the Program is not as Model Studio writes it: {cleaned(repr(error))}; "
                "get the model from a source that you trust"
            ) from error
        self._omitted = 0  # edges of the last scene
        self._view = View(self._index, self._tree, self._labels, words)
        self._count = self._view.count
        self._state = State()
        self._cache = LayoutCache()
        self._lock = threading.Lock()  # of the layouts
        self._middles: dict[int, tuple[float, float]] = {}  # of the groups in the last scenes
        self._last: Scene | None = None
        self._open_the_only()

    def _open_the_only(self) -> None:
        """A group that has the whole Program says nothing closed."""
        at = ROOT
        while True:
            nodes = [n for n in self._tree.children[at] if self._tree.kinds[n] != VALUE]
            if len(nodes) != 1 or nodes[0] not in self._tree.children:
                return
            (at,) = nodes
            self._state.opened.add(at)

    @property
    def shortened(self) -> str:
        """Why less than the whole Program is shown, empty if all of it is: its damage, and edges that the
        last scene omits."""
        reasons = [self._index.shortened]
        if self._omitted:
            reasons.append(f"{self._omitted:,} of the longer edges are not shown: there are too many")
        return "; ".join(filter(None, reasons))

    # ----- what is open

    def open(self, node: int) -> bool:
        """Show what is in a group; False for a node that is none."""
        if node not in self._tree.children or node == ROOT:
            return False
        self._state.opened.add(node)
        return True

    def close(self, node: int) -> bool:
        """Show a group as one box; what is open within it is so again when it is opened. False if it was not
        open."""
        if node not in self._state.opened:
            return False
        self._state.opened.discard(node)
        return True

    def is_open(self, node: int) -> bool:
        """Whether the group is shown as a frame around its children, where it is in view."""
        return node in self._state.opened

    def more(self, node: int) -> bool:
        """Show the next children of a group: ``node`` is the group, or its box "… more"."""
        frame = self._view.frame_of_more(node) if node >= self._count else node
        children = self._tree.children.get(frame, [])
        pages = self._state.pages.get(frame, 1)
        if len(children) <= pages * PAGE:
            return False
        self._state.pages[frame] = pages + 1
        return True

    def open_all(self) -> None:
        """Open every group."""
        self._state.opened = {node for node in self._tree.children if node != ROOT}

    def close_all(self) -> None:
        """Close every group."""
        self._state.opened = set()
        self._open_the_only()

    def reveal(self, node: int) -> None:
        """Open the groups around a node, with as many of their children that it is among them."""
        if node >= self._count:
            node = self._view.frame_of_more(node)
        while node != ROOT:
            parent = self._tree.parents[node]
            place = self._tree.children[parent].index(node)
            pages = place // PAGE + 1
            if pages > self._state.pages.get(parent, 1):
                self._state.pages[parent] = pages
            if parent != ROOT:
                self._state.opened.add(parent)
            node = parent

    def open_as(self, other: Diagram) -> None:
        """Open what is open in another diagram of the same Program, in other words."""
        self._state = other._state.copy()

    def show(self, phases: Iterable[int | str]) -> None:
        """Show operators of these phases only: "forward", "backward", "update", or their numbers."""
        self._state.phases = frozenset(PHASES.index(p) if isinstance(p, str) else int(p) for p in phases)

    def give_room(self, pictured: bool) -> None:
        """Let boxes have room for a picture below their texts, or not."""
        self._state.pictured = pictured

    @property
    def phases(self) -> frozenset[int]:
        """The phases that are shown."""
        return self._state.phases

    @property
    def has_phases(self) -> frozenset[int]:
        """The phases that the Program has operators of."""
        return frozenset(self._index.phases)

    # ----- nodes

    @property
    def operator_count(self) -> int:
        """How many operators the diagram has; their nodes are the numbers below."""
        return len(self._index.operators)

    @property
    def node_count(self) -> int:
        """How many nodes there are; a box "… more" has a number from here on."""
        return self._count

    def uses(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Each use of a value between two operators: (block, operator) of the one that makes it and of the
        one that takes it."""
        place, operators = self._index.place, self.operator_count
        return [
            (place(source), place(target))
            for source, target in zip(self._index.sources.tolist(), self._index.targets.tolist(), strict=True)
            if source < operators and target < operators
        ]

    def node_of(self, block: int, operator: int) -> int:
        """The node of an operator. Raises KeyError for one that the diagram does not have."""
        numbers = self._index.numbers[block]
        if not 0 <= operator < len(numbers):
            raise KeyError((block, operator))
        return numbers[operator]

    def operators_of(self, node: int) -> list[tuple[int, int]]:
        """(block, operator) of all operators that a node has, in order."""
        return [self._index.place(number) for number in self._numbers_of(node)]

    def _numbers_of(self, node: int) -> list[int]:
        operators = self.operator_count
        if node >= self._count:
            stack = self._view.behind(self._view.frame_of_more(node), self._state)
        else:
            stack = [node]
        found: list[int] = []
        while stack:
            at = stack.pop()
            if at < operators:
                found.extend(range(at, self._index.ends[at]))
            else:
                stack += self._tree.children.get(at, ())
        return sorted(found)

    def parents_of(self, node: int) -> list[int]:
        """The groups around a node, the outermost first."""
        if node >= self._count:
            frame = self._view.frame_of_more(node)
            return [] if frame == ROOT else [*self.parents_of(frame), frame]
        found = []
        node = self._tree.parents[node]
        while node != ROOT:
            found.append(node)
            node = self._tree.parents[node]
        return found[::-1]

    def children_of(self, node: int | None = None) -> list[int]:
        """The nodes directly in a group, in order; those at the top for None."""
        return list(self._tree.children.get(ROOT if node is None else node, ()))

    def is_group(self, node: int) -> bool:
        """Whether the node has others in it."""
        return node in self._tree.children and node != ROOT

    def kind_of(self, node: int) -> int:
        """The index of the node's kind in ``KINDS``."""
        return MORE if node >= self._count else self._tree.kinds[node]

    def phase_of(self, node: int) -> int:
        """The index of the node's phase in ``PHASES``."""
        if node >= self._count:
            frame = self._view.frame_of_more(node)
            return FORWARD if frame == ROOT else self._tree.phases[frame]
        return self._tree.phases[node]

    def path_of(self, node: int) -> str:
        """The names of the groups around a node and its own: ``layer1.0.conv1``."""
        names = [self._tree.names.get(n, "") for n in [*self.parents_of(node), node] if n < self._count]
        return cleaned(".".join(name for name in names if name), 300)

    def named(self, name: str) -> list[int]:
        """The groups whose path is ``name``, as ``layer1.0``, in each phase; else those with that title."""
        groups = [node for node in self._tree.children if node != ROOT]
        found = [node for node in groups if self.path_of(node) == name]
        return found or [node for node in groups if name in (self.title_of(node), self.type_of(node))]

    def type_of(self, node: int) -> str:
        """The type of an operator as the Program's text shows it; empty for other nodes."""
        return self._index.types[node] if node < self.operator_count else ""

    def find(self, text: str, most: int = 1_000) -> list[int]:
        """The nodes whose title, operator or Variables contain ``text``, whatever the case of its letters."""
        wanted = text.casefold().strip()
        if not wanted:
            return []
        found: set[int] = set()
        tree, index = self._tree, self._index
        for node, name in tree.names.items():
            if wanted in name.casefold():
                found.add(node)
        types = {kind for kind in set(index.types) if wanted in kind.casefold()}
        found.update(n for n, kind in enumerate(index.types) if kind in types)
        operators = self.operator_count
        for value, name in enumerate(index.names):
            if wanted in name.casefold():
                found.update(maker for maker in index.makers_of(value) if maker < self._count)
        for number, values in index.parameters.items():
            if any(wanted in index.names[value].casefold() for value in values):
                found.add(number)
        for n, value in enumerate([*index.inputs, *index.outputs]):
            if wanted in index.names[value].casefold():
                found.add(operators + n)
        return sorted(found, key=self._first_operator)[:most]

    def _first_operator(self, node: int) -> tuple[int, int]:
        start = node
        while start in self._tree.children and start >= self.operator_count:
            start = self._tree.children[start][0]
        return start, -node

    def neighbours(self, node: int, direction: str) -> list[int]:
        """The nodes that an arrow key leads to, nearest first, in the last scene: those at the other ends of
        edges that leave or enter ``node`` there ("up", "down", "left", "right"), then, to the left and right,
        the others at its height."""
        scene = self._last
        return [] if scene is None else neighbours(scene, node, direction)

    # ----- scenes

    def scene(
        self,
        seconds: float = 0.1,
        cancelled: Callable[[], bool] | None = None,
        middle: tuple[float, float] | None = None,
        most: int = 2_000,
    ) -> Scene:
        """What is shown now; may run in a thread.

        Args:
            seconds: after these, layouts are no longer improved.
            cancelled: is asked between frames.
            middle: of the view, in the last scene. Where more than ``most`` boxes would be shown, open groups
                far from it are shown closed.

        Raises:
            LayoutCancelled: ``cancelled`` gave True.
        """
        end = time.monotonic() + seconds
        state = self._state.copy()
        with self._lock:
            state = self._view.near(state, self._middles, middle or (0.0, 0.0), most)
            shown = self._view.shown(state)
            asked = cancelled or (lambda: False)
            found = arranged(shown, self._cache, lambda: time.monotonic() > end or asked(), asked)
            scene = scene_of(
                found,
                [self.kind_of(node) for node in found.ids],
                [self.phase_of(node) for node in found.ids],
                [node in shown.children for node in found.ids],
                [self._view.title(node, state) for node in found.ids],
                [self._view.note(node) for node in found.ids],
                shown,
            )
            self._middles.update(
                (node, (x + w / 2, y + h / 2))
                for node, (x, y, w, h) in zip(found.ids, found.boxes, strict=True)
                if node in self._tree.children
            )
            self._last, self._omitted = scene, shown.omitted
        return scene

    @property
    def layouts(self) -> tuple[int, int]:
        """How many layouts were made, and how many came from the cache."""
        return self._cache.made, self._cache.reused

    def title_of(self, node: int) -> str:
        """``conv1 · conv2d``, the name of a group, or "… 4,000 more"."""
        return self._view.title(node, self._state)

    def note_of(self, node: int) -> str:
        """The second line of its box; may be empty."""
        return self._view.note(node)

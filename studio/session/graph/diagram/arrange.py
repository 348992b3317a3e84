"""From the nodes that are shown to a Scene: each frame is laid out by itself, from the inside out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from studio.session.graph.diagram.columns import flipped, stretched
from studio.session.graph.diagram.groups import ROOT
from studio.session.graph.diagram.layered import BOX, ENTRY, EXIT, Contents, Layout, Point, lay_out
from studio.session.graph.diagram.scene import TITLE_HEIGHT, Ints, Scene
from studio.session.graph.diagram.side_edges import Box, SideEdge, corridor, side_routes

_PADDING = 16.0
_MARGIN = 24.0
_Link: TypeAlias = tuple[int, int, int]  # from a box to a box; the node that the value comes from
_Step: TypeAlias = tuple[int, _Link]  # the frame of a link
_MOST_STACKED = 60
_FIRST_COLUMN = -2  # of frames for columns, going down
_EDGE = -1  # the end of a link where it enters or leaves its frame


class LayoutCancelled(Exception):
    """The scene is no longer wanted."""


class LayoutCache:
    """Layouts by what they are of, so that equal groups cost one; the last used stay, up to ``most`` boxes
    and edges together."""

    def __init__(self, most: int = 60_000) -> None:
        self._found: OrderedDict[Contents, Layout] = OrderedDict()
        self._most = most
        self._size = 0
        self.made = 0
        self.reused = 0

    def get(self, contents: Contents, stop: Callable[[], bool]) -> Layout:
        """The layout of ``contents``."""
        layout = self._found.get(contents)
        if layout is not None:
            self._found.move_to_end(contents)
            self.reused += 1
            return layout
        self.made += 1
        layout = self._found[contents] = lay_out(contents, stop)
        self._size += _size_of(contents)
        while self._size > self._most and len(self._found) > 1:
            self._size -= _size_of(self._found.popitem(last=False)[0])
        return layout


def _size_of(contents: Contents) -> int:
    return len(contents.sizes) + len(contents.edges)


@dataclass
class Shown:
    """What is to be drawn.

    Attributes:
        children: of ROOT and of each open frame the nodes to show, in order.
        sizes: width and height of every node that is shown closed; the least width of a frame.
        edges: pairs of shown nodes, and the text of each.
        parents: of each shown node the frame around it.
        columns: of the nodes in ROOT, where they are in several; in the second one edges go up.
        counterparts: of nodes in other columns than the first those that they are to be next to.
        omitted: how many further edges there are.
    """

    children: Mapping[int, Sequence[int]]
    sizes: Mapping[int, Point]
    edges: Sequence[tuple[int, int]]
    texts: Sequence[str]
    parents: Mapping[int, int]
    columns: Mapping[int, int] = field(default_factory=dict)
    counterparts: Mapping[int, int] = field(default_factory=dict)
    omitted: int = 0


@dataclass
class _Frame:
    """An open frame, or the whole: what is in it, and the parts of edges that it has."""

    nodes: list[int]
    entries: dict[int, int] = field(default_factory=dict)  # by the node that the value comes from
    exits: dict[int, int] = field(default_factory=dict)
    links: dict[_Link, int] = field(default_factory=dict)  # the number of each in the layout
    layout: Layout | None = None
    size: Point = (0.0, 0.0)
    left: float = 0.0  # of the contents within the frame
    top: float = 0.0
    goes_up: bool = False

    def link(self, a: int, b: int, source: int) -> _Link:
        """Let a value pass; returns the key of the part of its way."""
        key = a, b, source
        self.links.setdefault(key, len(self.links))
        return key

    def in_order(self, local: Mapping[int, int]) -> None:
        """Put entries and exits into an order that depends on nothing outside of the frame."""
        ends: dict[int, list[int]] = {}
        for a, b, source in self.links:
            if a == _EDGE:
                ends.setdefault(source, []).append(local[b])
        starts = {source: local[a] for a, b, source in self.links if b == _EDGE}
        entries = sorted(self.entries, key=lambda source: sorted(ends[source]))
        self.entries = {source: n for n, source in enumerate(entries)}
        self.exits = {source: n for n, source in enumerate(sorted(self.exits, key=starts.__getitem__))}


@dataclass(frozen=True)
class Arranged:
    """Boxes of nodes, in the order of drawing, and the corners of each edge."""

    width: float
    height: float
    ids: list[int]
    boxes: list[Box]
    routes: list[list[Point]]


def arranged(
    shown: Shown, cache: LayoutCache, stop: Callable[[], bool], cancelled: Callable[[], bool]
) -> Arranged:
    """Places for all that is shown. Raises LayoutCancelled."""
    return _Arrangement(shown, cache, stop, cancelled).result()


class _Arrangement:
    def __init__(
        self, shown: Shown, cache: LayoutCache, stop: Callable[[], bool], cancelled: Callable[[], bool]
    ) -> None:
        self._shown = shown
        self._cache = cache
        self._stop = stop
        self._cancelled = cancelled
        self._parents = dict(shown.parents)
        self._frames = self._all_frames()
        self._between: list[tuple[int, int, int]] = []  # edges between columns: number, from, to
        # Of each edge the links that it runs along, from its source to its target.
        self._steps: list[list[_Step]] = [
            self._steps_of(number, a, b) for number, (a, b) in enumerate(shown.edges)
        ]

    def _all_frames(self) -> dict[int, _Frame]:
        """The whole, then its columns if it has some, then frames before those within them."""
        shown = self._shown
        frames = {frame: _Frame(list(nodes)) for frame, nodes in shown.children.items()}
        numbers = sorted(set(shown.columns.values()))
        if len(numbers) > 1:
            nodes, inner = shown.children[ROOT], {f: v for f, v in frames.items() if f != ROOT}
            columns = {number: _FIRST_COLUMN - number for number in numbers}
            frames = {ROOT: _Frame(list(columns.values()))}
            for number, column in columns.items():
                frames[column] = _Frame([node for node in nodes if shown.columns[node] == number])
                self._parents[column] = ROOT
            for node in nodes:
                self._parents[node] = columns[shown.columns[node]]
            frames |= inner
        for node, frame in frames.items():
            if node != ROOT:
                around = frames[self._parents[node]]
                frame.goes_up = around.goes_up or (node == _FIRST_COLUMN - 1 and numbers[0] == 0)
        return frames

    def _chain(self, node: int) -> list[int]:
        """The frames around a node, from the whole inwards."""
        chain = []
        while True:
            node = self._parents[node]
            chain.append(node)
            if node == ROOT:
                return chain[::-1]

    def _steps_of(self, number: int, a: int, b: int) -> list[_Step]:
        """The frames that an edge runs through, and its link in each."""
        first, second = [*self._chain(a), a], [*self._chain(b), b]
        level = 0
        while level + 1 < min(len(first), len(second)) and first[level + 1] == second[level + 1]:
            level += 1
        if level + 1 >= min(len(first), len(second)):
            return []  # one is within the other
        if level == 0 and first[1] <= _FIRST_COLUMN:
            self._between.append((number, a, b))
            return []
        steps = []
        for place in range(len(first) - 2, level, -1):
            frame = self._frames[first[place]]
            frame.exits.setdefault(a, len(frame.exits))
            steps.append((first[place], frame.link(first[place + 1], _EDGE, a)))
        common = first[level]
        steps.append((common, self._frames[common].link(first[level + 1], second[level + 1], a)))
        for place in range(level + 1, len(second) - 1):
            frame = self._frames[second[place]]
            frame.entries.setdefault(a, len(frame.entries))
            steps.append((second[place], frame.link(_EDGE, second[place + 1], a)))
        return steps

    def _size(self, node: int) -> Point:
        frame = self._frames.get(node)
        return self._shown.sizes[node] if frame is None else frame.size

    def _lay_out(self, node: int, frame: _Frame) -> None:
        local = {child: n for n, child in enumerate(frame.nodes)}
        frame.in_order(local)
        entries = {source: len(local) + n for n, source in enumerate(frame.entries)}
        first_exit = len(local) + len(entries)
        exits = {source: first_exit + n for n, source in enumerate(frame.exits)}
        found = []
        for a, b, source in frame.links:
            start = entries[source] if a == _EDGE else local[a]
            end = exits[source] if b == _EDGE else local[b]
            shifts = self._shift(a, source, False), self._shift(b, source, True)
            found.append((start, end, (a, b, source), shifts))
        found.sort(key=lambda link: link[:2])
        frame.links = {link: n for n, (_, _, link, _) in enumerate(found)}
        nets: dict[int, int] = {}
        edges = [
            (start, end, nets.setdefault(source, len(nets)), *shifts)
            for start, end, (_, _, source), shifts in found
        ]
        contents = Contents(
            (*map(self._size, frame.nodes), *[(0.0, 0.0)] * (len(entries) + len(exits))),
            (*[BOX] * len(local), *[ENTRY] * len(entries), *[EXIT] * len(exits)),
            tuple(edges),
            # Updates are next to what they are of, if these are not too many for it.
            node < _FIRST_COLUMN and len(frame.nodes) <= _MOST_STACKED,
        )
        layout = self._cache.get(contents, self._stop)
        frame.layout = layout = flipped(layout, contents.sizes) if frame.goes_up else layout
        if node < 0:
            frame.size = (layout.width, layout.height)
            return
        width = max(layout.width + 2 * _PADDING, self._shown.sizes[node][0])
        frame.left, frame.top = (width - layout.width) / 2, TITLE_HEIGHT + _PADDING / 2
        frame.size = (width, layout.height + frame.top + _PADDING)

    def _shift(self, node: int, source: int, arriving: bool) -> float | None:
        """How far from the middle of an open frame a value enters or leaves it."""
        frame = self._frames.get(node) if node != _EDGE else None
        if frame is None or frame.layout is None:
            return None
        points = frame.entries if arriving else frame.exits
        point = points.get(source)
        if point is None:
            return 0.0
        number = len(frame.nodes) + point + (0 if arriving else len(frame.entries))
        return round(frame.left + frame.layout.places[number][0] - frame.size[0] / 2, 2)

    def result(self) -> Arranged:
        whole = self._frames[ROOT]
        in_columns = bool(whole.nodes) and whole.nodes[0] <= _FIRST_COLUMN
        for node in reversed(list(self._frames)):  # from the inside out
            if self._cancelled():
                raise LayoutCancelled
            if node != ROOT or not in_columns:
                self._lay_out(node, self._frames[node])
        corridors = self._put_columns(whole) if in_columns else {}
        ids: list[int] = []
        boxes: list[Box] = []
        origins: dict[int, Point] = {ROOT: (_MARGIN, _MARGIN)}
        stack = [(node, ROOT, n) for n, node in reversed(list(enumerate(whole.nodes)))]
        while stack:
            node, parent, place = stack.pop()
            x, y = origins[parent]
            left, top = self._layout(parent).places[place]
            x, y = x + left, y + top
            if node >= 0:
                ids.append(node)
                boxes.append((x, y, *self._size(node)))
            frame = self._frames.get(node)
            if frame is not None:
                origins[node] = (x + frame.left, y + frame.top)
                stack += [(child, node, n) for n, child in reversed(list(enumerate(frame.nodes)))]
        routes = [self._route(steps, origins) for steps in self._steps]
        if in_columns:
            edges = [self._side_edge(*edge, corridors) for edge in self._between]
            closed = [box for node, box in zip(ids, boxes, strict=True) if node not in self._frames]
            for number, route in side_routes(edges, dict(zip(ids, boxes, strict=True)), closed).items():
                routes[number] = route
        layout = self._layout(ROOT)
        return Arranged(layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN, ids, boxes, routes)

    def _layout(self, frame: int) -> Layout:
        layout = self._frames[frame].layout
        assert layout is not None
        return layout

    def _column_of(self, node: int) -> int:
        return self._chain(node)[1]

    def _put_columns(self, whole: _Frame) -> dict[int, float]:
        """Put columns side by side, the rows of each next to those that they belong to; where the space
        before each begins."""
        middles: dict[int, float] = {}  # of the nodes directly in columns
        lefts: dict[int, float] = {}
        corridors: dict[int, float] = {}
        tops: dict[int, float] = {}
        x = 0.0
        for place, column in enumerate(whole.nodes):
            frame, layout = self._frames[column], self._layout(column)
            sizes = [*map(self._size, frame.nodes), *[(0.0, 0.0)] * (len(layout.places) - len(frame.nodes))]
            tops[column] = 0.0
            if place:
                wanted = self._wanted(frame.nodes, column, middles)
                frame.layout, tops[column] = layout, _ = stretched(layout, sizes, wanted)
                frame.size = (layout.width, layout.height)
                corridors[column] = x
                x += corridor(len({a for _, a, b in self._between if self._column_of(b) == column}))
            lefts[column] = x
            x += layout.width
            for n, node in enumerate(frame.nodes):
                middles[node] = tops[column] + layout.places[n][1] + sizes[n][1] / 2
        highest = min(tops.values())
        places = tuple((lefts[column], tops[column] - highest) for column in whole.nodes)
        height = max(y + self._frames[c].size[1] for (_, y), c in zip(places, whole.nodes, strict=True))
        whole.layout = Layout(x, height, places, ())
        return {column: _MARGIN + left for column, left in corridors.items()}

    def _wanted(self, nodes: Sequence[int], column: int, middles: Mapping[int, float]) -> dict[int, float]:
        """The heights of nodes, by their place in a column: that of their counterpart, else the lowest of
        what they take values of."""
        taken: dict[int, float] = {}
        for _, a, b in self._between:
            first, second = ([*self._chain(node), node] for node in (a, b))
            if second[1] == column and first[2] in middles:
                taken[second[2]] = max(taken.get(second[2], 0.0), middles[first[2]])
        wanted = {}
        for place, node in enumerate(nodes):
            at = middles.get(self._shown.counterparts.get(node, ROOT), taken.get(node))
            if at is not None:
                wanted[place] = at
        return wanted

    def _side_edge(self, number: int, a: int, b: int, corridors: Mapping[int, float]) -> SideEdge:
        order = self._frames[ROOT].nodes
        first, second = order.index(self._column_of(a)), order.index(self._column_of(b))
        # The space before a column has its number.
        passed = range(first + 1, second + 1) if first < second else range(first, second, -1)
        spaces = tuple(corridors[order[place]] for place in passed)
        return SideEdge(number, a, b, first < second, spaces)

    def _route(self, steps: list[_Step], origins: Mapping[int, Point]) -> list[Point]:
        points: list[Point] = []
        for frame, link in steps:
            x, y = origins[frame]
            route = self._layout(frame).routes[self._frames[frame].links[link]]
            points += [(x + px, y + py) for px, py in route]
        return _simplified(points)


def _simplified(points: list[Point]) -> list[Point]:
    """Without points that change nothing: doubled ones, and those on a vertical line between two."""
    found: list[Point] = []
    for point in points:
        if found and abs(found[-1][0] - point[0]) < 0.01 and abs(found[-1][1] - point[1]) < 0.01:
            continue
        if len(found) > 1 and abs(found[-1][0] - point[0]) < 0.01 and abs(found[-2][0] - point[0]) < 0.01:
            found.pop()
        found.append(point)
    return found


def scene_of(
    found: Arranged,
    kinds: Sequence[int],
    phases: Sequence[int],
    opened: Sequence[bool],
    titles: Sequence[str],
    notes: Sequence[str],
    shown: Shown,
) -> Scene:
    """The arrays of what was arranged; the sequences are by row."""
    rows = {node: n for n, node in enumerate(found.ids)}
    starts = np.zeros(len(found.routes) + 1, np.int32)
    np.cumsum([len(route) for route in found.routes], out=starts[1:])
    points = [point for route in found.routes for point in route]
    ends: Ints = np.array([(rows[a], rows[b]) for a, b in shown.edges], np.int32).reshape(-1, 2)
    return Scene(
        width=found.width,
        height=found.height,
        ids=np.array(found.ids, np.int32),
        boxes=np.array(found.boxes, np.float32).reshape(-1, 4),
        kinds=np.array(kinds, np.int8),
        phases=np.array(phases, np.int8),
        opened=np.array(opened, np.bool_),
        titles=titles,
        notes=notes,
        edge_points=np.array(points, np.float32).reshape(-1, 2),
        edge_starts=starts,
        edge_ends=ends,
        edge_texts=shown.texts,
    )

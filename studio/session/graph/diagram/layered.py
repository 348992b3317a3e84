"""The layout of the boxes in one frame: layers by longest path, order by barycentres, then coordinates.

Layers are as in Sugiyama's method. A long edge passes the layers between through points that have their own
place in the order; edges of one value share them. So that no graph takes long, the number of points is
limited: the longest edges beyond it go through lanes at the right side.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from studio.session.graph.diagram.coordinates import coordinates

BOX, ENTRY, EXIT = range(3)

_BETWEEN = 20.0  # pixels between boxes side by side
_BETWEEN_POINTS = 12.0
_LAYER_GAP = 34.0  # room for the text of an edge
_LANE = 10.0
_MOST_LANES = 16
_ASPECT = 1.5  # width to height of what is packed without edges
_LEAST_WIDEST = 10  # boxes that a layer may have in any case

Point = tuple[float, float]


@dataclass(frozen=True)
class Contents:
    """What is within a frame; equal contents get equal layouts.

    Attributes:
        sizes: width and height of each node.
        kinds: BOX, or ENTRY and EXIT for the points where edges enter and leave the frame.
        edges: (from, to, value, shift from, shift to): ``value`` numbers what flows, so that edges of the
            same one run together; the shifts are how far from the middle of a box an edge begins and ends,
            None where the layout may choose.
        stacked: boxes without edges are below each other, not in rows.
    """

    sizes: tuple[tuple[float, float], ...]
    kinds: tuple[int, ...]
    edges: tuple[tuple[int, int, int, float | None, float | None], ...]
    stacked: bool = False


@dataclass(frozen=True)
class Layout:
    """Where the nodes of a frame are: left and top of each, and the corners of each edge."""

    width: float
    height: float
    places: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]


def lay_out(contents: Contents, stop: Callable[[], bool]) -> Layout:
    """Lay out what is in a frame; ``stop`` is asked between improvements and ends them."""
    nodes = len(contents.sizes)
    parts, alone = _parts(contents)
    places: list[Point] = [(0.0, 0.0)] * nodes
    routes: list[tuple[Point, ...]] = [()] * len(contents.edges)
    blocks: list[tuple[float, float, list[int], list[int]]] = []  # width, height, nodes, edges
    for members, edges in parts:
        local = {node: n for n, node in enumerate(members)}
        part = _Part(
            [contents.sizes[n] for n in members],
            [contents.kinds[n] for n in members],
            [(local[a], local[b], net, sa, sb) for a, b, net, sa, sb in (contents.edges[e] for e in edges)],
        )
        part.arrange(stop)
        for n, node in enumerate(members):
            places[node] = part.places[n]
        for n, edge in enumerate(edges):
            routes[edge] = part.routes[n]
        blocks.append((part.width, part.height, members, edges))
    if alone:
        blocks.append((*_grid(contents, alone, places), alone, []))
    width, height = _pack(blocks, contents, places, routes)
    return Layout(width, height, tuple(places), tuple(routes))


def _parts(contents: Contents) -> tuple[list[tuple[list[int], list[int]]], list[int]]:
    """The connected parts as (nodes, edges), those with entries and exits as one; and boxes without edges."""
    roots = list(range(len(contents.sizes)))

    def root(node: int) -> int:
        while roots[node] != node:
            roots[node] = node = roots[roots[node]]
        return node

    joined: set[int] = set()
    for a, b, *_ in contents.edges:
        joined.update((a, b))
        first, second = sorted((root(a), root(b)))
        roots[second] = first
    ports = [node for node, kind in enumerate(contents.kinds) if kind != BOX]
    for node in ports[1:]:
        first, second = sorted((root(ports[0]), root(node)))
        roots[second] = first
    joined.update(ports)
    members: dict[int, list[int]] = {}
    alone = []
    for node in range(len(contents.sizes)):
        if node in joined:
            members.setdefault(root(node), []).append(node)
        else:
            alone.append(node)
    edges: dict[int, list[int]] = {}
    for number, edge in enumerate(contents.edges):
        edges.setdefault(root(edge[0]), []).append(number)
    found = [(nodes, edges.get(key, [])) for key, nodes in members.items()]
    found.sort(key=lambda part: (all(contents.kinds[node] == BOX for node in part[0]), part[0][0]))
    return found, alone


def _grid(contents: Contents, alone: list[int], places: list[Point]) -> tuple[float, float]:
    """Put boxes without edges into rows; the size of all of them."""
    width = max(contents.sizes[node][0] for node in alone)
    height = max(contents.sizes[node][1] for node in alone)
    step_x, step_y = width + _BETWEEN, height + _BETWEEN
    columns = 1 if contents.stacked else max(1, round(math.sqrt(len(alone) * _ASPECT * step_y / step_x)))
    for n, node in enumerate(alone):
        places[node] = (n % columns * step_x, n // columns * step_y)
    rows = -(-len(alone) // columns)
    return min(columns, len(alone)) * step_x - _BETWEEN, rows * step_y - _BETWEEN


def _pack(
    blocks: list[tuple[float, float, list[int], list[int]]],
    contents: Contents,
    places: list[Point],
    routes: list[tuple[Point, ...]],
) -> tuple[float, float]:
    """Move the parts next to each other, in rows; the size of the whole. Exits go to the bottom of it."""
    if not blocks:
        return 0.0, 0.0
    ports = any(kind != BOX for kind in contents.kinds)
    # Nothing is put below a part that edges leave the frame from.
    begin = blocks[0][0] + 2 * _BETWEEN if ports else 0.0
    rest = blocks[1:] if ports else blocks
    area = sum((w + _BETWEEN) * (h + _BETWEEN) for w, h, *_ in rest)
    limit = begin + max([math.sqrt(area * _ASPECT), *(w for w, *_ in rest)])
    x = y = row = width = lowest = 0.0
    for number, (w, h, nodes, edges) in enumerate(blocks):
        if number and x > begin and x + w > limit:
            x, y, row = begin, y + row + 2 * _BETWEEN, 0.0
        if x or y:
            for node in nodes:
                places[node] = (places[node][0] + x, places[node][1] + y)
            for edge in edges:
                routes[edge] = tuple((px + x, py + y) for px, py in routes[edge])
        width, lowest = max(width, x + w), max(lowest, y + h)
        row = 0.0 if ports and number == 0 else max(row, h)
        x = max(x + w + 2 * _BETWEEN, begin)
    height = lowest
    exits = {node for node, kind in enumerate(contents.kinds) if kind == EXIT}
    if exits and blocks[0][1] < height:
        for node in exits:
            places[node] = (places[node][0], height)
        for number, (_, b, *_) in enumerate(contents.edges):
            if b in exits and routes[number]:
                routes[number] = (*routes[number], (routes[number][-1][0], height))
    return width, height


class _Part:
    """The layout of connected boxes. Nodes from ``boxes`` on are points that long edges pass."""

    def __init__(
        self,
        sizes: Sequence[Point],
        kinds: Sequence[int],
        edges: Sequence[tuple[int, int, int, float | None, float | None]],
    ) -> None:
        self.boxes = len(sizes)
        self.widths = [width for width, _ in sizes]
        self.heights = [height for _, height in sizes]
        self.kinds = kinds
        self.edges = edges
        self.layer = [0] * len(sizes)
        self.layers: list[list[int]] = []
        self.above: list[list[tuple[int, float, float]]] = []
        self.below: list[list[tuple[int, float, float]]] = []
        self.paths: list[list[int] | None] = []  # of each edge the points that it passes; None: by a lane
        self.width = self.height = 0.0
        self.places: list[Point] = []
        self.routes: list[tuple[Point, ...]] = []

    def arrange(self, stop: Callable[[], bool]) -> None:
        self._choose_layers()
        self._pass_layers()
        self._order(stop)
        few = len(self.widths) < 4000
        x = coordinates(self.layers, self.widths, self._gap, self.above, self.below, 6 if few else 2, stop)
        self._finish(x)

    def _gap(self, a: int, b: int) -> float:
        return _BETWEEN if a < self.boxes and b < self.boxes else _BETWEEN_POINTS

    # ----- layers

    def _choose_layers(self) -> None:
        """The layer of each box: below all that it takes values of. An edge against the order stays one."""
        before: list[list[int]] = [[] for _ in range(self.boxes)]
        after: list[list[int]] = [[] for _ in range(self.boxes)]
        for a, b, *_ in self.edges:
            if a != b:
                after[a].append(b)
                before[b].append(a)
        entries = [n for n in range(self.boxes) if self.kinds[n] == ENTRY]
        widest = max(_LEAST_WIDEST, math.ceil(0.9 * math.sqrt(self.boxes)))
        counts: list[int] = []
        waiting = [len(sources) for sources in before]
        ready = [n for n in range(self.boxes) if not waiting[n] and self.kinds[n] == BOX]
        done = [False] * self.boxes
        order: list[int] = []

        def follow(node: int) -> None:
            done[node] = True
            for target in after[node]:
                waiting[target] -= 1
                if not waiting[target] and not done[target] and self.kinds[target] == BOX:
                    heapq.heappush(ready, target)

        for node in entries:
            follow(node)
        rest = iter(range(self.boxes))
        while True:
            if ready:
                node = heapq.heappop(ready)
            else:  # all done, or boxes in a circle
                node = next((n for n in rest if not done[n] and self.kinds[n] == BOX), -1)
                if node < 0:
                    break
            if done[node]:
                continue
            level = 1 + max((self.layer[source] for source in before[node] if done[source]), default=-1)
            level = max(level, 1) if entries else level
            while level < len(counts) and counts[level] >= widest:
                level += 1
            counts.extend([0] * (level + 1 - len(counts)))
            counts[level] += 1
            self.layer[node] = level
            order.append(node)
            follow(node)
        for node in reversed(order):
            if after[node] and len(set(before[node])) < len(set(after[node])):
                boxes = [self.layer[t] for t in after[node] if self.kinds[t] == BOX]
                level = min(boxes, default=0) - 1
                while level > self.layer[node] and counts[level] >= widest:
                    level -= 1
                if level > self.layer[node]:
                    counts[self.layer[node]] -= 1
                    counts[level] += 1
                    self.layer[node] = level
        last = max((self.layer[n] for n in range(self.boxes) if self.kinds[n] != EXIT), default=0) + 1
        for node in range(self.boxes):
            if self.kinds[node] == EXIT:
                self.layer[node] = last
        used = sorted(set(self.layer))
        compact = {level: n for n, level in enumerate(used)}
        self.layer = [compact[level] for level in self.layer]
        self.layers = [[] for _ in used]

    def _pass_layers(self) -> None:
        """Give long edges points in the layers between."""
        most = 4 * self.boxes + 400
        reach: dict[tuple[int, int], int] = {}
        for a, b, net, *_ in self.edges:
            span = self.layer[b] - self.layer[a]
            if span > 0:
                reach[a, net] = max(reach.get((a, net), 0), span)
        allowed: set[tuple[int, int]] = set()
        points = 0
        for key, span in sorted(reach.items(), key=lambda item: item[1]):
            points += span - 1
            if points > most:
                break
            allowed.add(key)
        chains: dict[tuple[int, int], list[int]] = {}
        links: dict[tuple[int, int], tuple[float, float, float]] = {}
        for a, b, net, from_shift, to_shift in self.edges:
            span = self.layer[b] - self.layer[a]
            if span < 1 or (span > 1 and (a, net) not in allowed):
                self.paths.append(None)
                continue
            chain = chains.setdefault((a, net), [])
            while len(chain) < span - 1:
                chain.append(len(self.widths))
                self.layer.append(self.layer[a] + len(chain))
                self.widths.append(0.0)
                self.heights.append(0.0)
            path = chain[: span - 1]
            self.paths.append(path)
            whole = [a, *path, b]
            for n, (one, other) in enumerate(pairwise(whole)):
                start = (from_shift or 0.0) if n == 0 else 0.0
                end = (to_shift or 0.0) if n == len(whole) - 2 else 0.0
                matters = (1.0 if one < self.boxes else 2.0) * (1.0 if other < self.boxes else 2.0)
                links.setdefault((one, other), (start, end, matters))
        self.above = [[] for _ in self.widths]
        self.below = [[] for _ in self.widths]
        for (one, other), (start, end, matters) in links.items():
            self.below[one].append((other, end - start, matters))
            self.above[other].append((one, start - end, matters))
        for node, layer in enumerate(self.layer):
            self.layers[layer].append(node)

    # ----- order

    def _order(self, stop: Callable[[], bool]) -> None:
        """Order each layer so that few edges cross: barycentres of the layer above, then of the one below."""
        self._first_order()
        best, fewest = [list(layer) for layer in self.layers], self._crossings()
        place = [0] * len(self.widths)
        for layer in self.layers:
            for n, node in enumerate(layer):
                place[node] = n
        idle = 0
        for turn in range(24):
            if fewest == 0 or idle > 3 or stop():
                break
            down = turn % 2 == 0
            neighbours = self.above if down else self.below
            for layer in self.layers if down else reversed(self.layers):
                keys = {}
                for node in layer:
                    near = neighbours[node]
                    keys[node] = sum(place[o] for o, *_ in near) / len(near) if near else place[node]
                layer.sort(key=keys.__getitem__)
                for n, node in enumerate(layer):
                    place[node] = n
            found = self._crossings()
            if found < fewest:
                best, fewest, idle = [list(layer) for layer in self.layers], found, 0
            else:
                idle += 1
        self.layers = best

    def _first_order(self) -> None:
        """Depth first from the top, so that what belongs together begins next to each other."""
        number: dict[int, int] = {}
        for layer in self.layers:
            for first in layer:
                stack = [first]
                while stack:
                    node = stack.pop()
                    if node not in number:
                        number[node] = len(number)
                        stack.extend(o for o, *_ in reversed(self.below[node]))
        for layer in self.layers:
            layer.sort(key=number.__getitem__)

    def _crossings(self) -> int:
        place = [0] * len(self.widths)
        for layer in self.layers:
            for n, node in enumerate(layer):
                place[node] = n
        total = 0
        for layer in self.layers:
            seen: list[int] = []
            for node in layer:
                ends = [place[other] for other, *_ in self.below[node]]
                for end in ends:
                    total += len(seen) - bisect_right(seen, end)
                for end in ends:
                    insort(seen, end)
        return total

    # ----- places

    def _finish(self, x: list[float]) -> None:
        tops: list[float] = []
        bottoms: list[float] = []
        y = 0.0
        for number, layer in enumerate(self.layers):
            height = max(self.heights[node] for node in layer)
            if number:
                y += _LAYER_GAP if height or number < len(self.layers) - 1 else _LAYER_GAP / 2
            tops.append(y)
            y += height
            bottoms.append(y)
            if number == 0 and height == 0:
                y -= _LAYER_GAP / 2  # entries are at the frame's edge
        self.height = y
        left = min(x[node] - self.widths[node] / 2 for node in range(len(x)))
        for node in range(len(x)):
            x[node] -= left
        self.width = max(x[node] + self.widths[node] / 2 for node in range(len(x)))
        self.places = [
            (x[node] - self.widths[node] / 2, tops[self.layer[node]]) for node in range(self.boxes)
        ]
        ends = self._ends(x)
        lanes = 0
        for number, (a, b, _, shift, _) in enumerate(self.edges):
            start = (x[a] + (shift or 0.0), self.places[a][1] + self.heights[a])
            end = (ends[number], self.places[b][1])
            path = self.paths[number]
            points = [start]
            if path is None:
                lane = self.width + _LANE * (1 + lanes % _MOST_LANES)
                lanes += 1
                low, high = bottoms[self.layer[a]] + _LAYER_GAP / 3, end[1] - _LAYER_GAP / 3
                points += [(start[0], low), (lane, low), (lane, high), (end[0], high)]
            else:
                if start[1] < bottoms[self.layer[a]]:
                    points.append((start[0], bottoms[self.layer[a]]))
                for node in path:
                    top, bottom = tops[self.layer[node]], bottoms[self.layer[node]]
                    points += [(x[node], top), (x[node], bottom)] if bottom > top else [(x[node], top)]
            points.append(end)
            self.routes.append(tuple(points))
        if lanes:
            self.width += _LANE * (1 + min(lanes, _MOST_LANES))

    def _ends(self, x: list[float]) -> list[float]:
        """Where each edge ends: spread over the top of its box in the order in which they come."""
        arriving: dict[int, list[tuple[float, int]]] = {}
        found = [0.0] * len(self.edges)
        for number, (a, b, _, _, shift) in enumerate(self.edges):
            if shift is not None:
                found[number] = x[b] + shift
                continue
            path = self.paths[number]
            source = self.width if path is None else x[path[-1]] if path else x[a]
            arriving.setdefault(b, []).append((source, number))
        for node, edges in arriving.items():
            edges.sort()
            step = min(18.0, 0.7 * self.widths[node] / len(edges))
            for n, (_, number) in enumerate(edges):
                found[number] = x[node] + (n - (len(edges) - 1) / 2) * step
        return found

"""GroupTree: the nodes of a diagram, which are operators and the groups around them.

A group has the operators of one layer call (or line, or prefix) of one phase. Where an operator outside of a
group lies between two of it, so that the group would be in a circle with others, it is several groups
(tensorboard#572: drawing those as one makes cycles that the Program does not have).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from studio.session.graph.diagram.circles import in_circles
from studio.session.graph.diagram.operators import GRADIENT, ProgramIndex
from studio.session.graph.diagram.paths import LAYERS, LINES, Path, common
from studio.session.graph.diagram.scene import (
    BACKWARD,
    BRANCH,
    FORWARD,
    LAYER,
    LINE,
    LOOP,
    OPERATOR,
    PREFIX,
    UPDATE,
    VALUE,
)
from studio.session.graph.diagram.texts import DiagramWords

ROOT = -1
_FEW_UPDATES = 3  # are drawn without a group around them


class _Piece(NamedTuple):
    """A group to be made, or an operator: its operators, and what distinguishes it from its parent."""

    members: list[int]
    name: str  # empty for an operator that no group of its own has
    depth: int  # of the paths, up to what its members share


class GroupTree:
    """Nodes by number: operators, then inputs and outputs of the Program, then groups.

    Attributes:
        parents: of each node, ROOT at the top.
        children: of each group, of each operator with sub-blocks, and of ROOT, in order.
        kinds, phases: of each node.
        names: of each group; of an operator what the group of it alone would be called.
        sizes: how many operators each node has; 0 for inputs and outputs.
    """

    def __init__(self, index: ProgramIndex, paths: Sequence[Path], by: str, words: DiagramWords) -> None:
        self._index = index
        self._paths = list(paths)
        self._kind = {LAYERS: LAYER, LINES: LINE}.get(by, PREFIX)
        self._words = words
        operators, count = len(index.operators), index.nodes
        self.parents = [ROOT] * count
        self.children: dict[int, list[int]] = {}
        self.kinds = [OPERATOR] * operators + [VALUE] * (count - operators)
        self.phases = list(index.phases)
        for value in index.inputs:  # a gradient that is given belongs to the others
            self.phases.append(BACKWARD if GRADIENT in index.names[value] else FORWARD)
        for value in index.outputs:
            makers = index.makers_of(value)
            self.phases.append(self.phases[makers[0]] if makers else FORWARD)
        self.names: dict[int, str] = {}
        self.sizes = [1] * operators + [0] * (count - operators)
        order = np.argsort(index.targets, kind="stable")
        self._origins: list[int] = index.sources[order].tolist()
        self._starts: list[int] = np.searchsorted(index.targets[order], np.arange(operators + 1)).tolist()
        self._build()
        del self._origins, self._starts, self._paths

    def _build(self) -> None:
        index, operators = self._index, len(self._index.operators)
        top = self._level(0, operators)
        updates = [number for number in top if self.phases[number] == UPDATE and not self._paths[number]]
        if len(updates) > _FEW_UPDATES:
            for number in updates:
                self._paths[number] = (self._words.updates,)
        work = [(ROOT, top, 0)]
        for number, regions in index.regions.items():
            work += self._regions(number, regions)
        while work:
            parent, members, depth = work.pop()
            found = self.children.setdefault(parent, [])
            for piece in self._pieces(members, depth):
                if len(piece.members) == 1:
                    (node,) = piece.members
                    if piece.name:
                        self.names[node] = piece.name
                else:
                    node = self._group(piece.name, piece.members, self._kind)
                    work.append((node, piece.members, piece.depth))
                self.parents[node] = parent
                found.append(node)
        first_output = operators + len(index.inputs)
        self.children[ROOT] = [
            *range(operators, first_output),
            *self.children[ROOT],
            *range(first_output, index.nodes),
        ]

    def _level(self, number: int, end: int) -> list[int]:
        """The operators from ``number`` to ``end`` without those in sub-blocks of others."""
        found = []
        while number < end:
            found.append(number)
            number = self._index.ends[number]
        return found

    def _group(self, name: str, members: Iterable[int], kind: int) -> int:
        node = len(self.parents)
        self.parents.append(ROOT)
        self.kinds.append(kind)
        self.names[node] = name
        self.sizes.append(0)
        first = None
        for member in members:
            first = member if first is None else first
            self.sizes[node] += self._index.ends[member] - member
        self.phases.append(FORWARD if first is None else self.phases[first])
        return node

    def _regions(self, number: int, regions: Sequence[tuple[int, int]]) -> list[tuple[int, list[int], int]]:
        """Groups for the sub-blocks of an operator; what is to be divided further."""
        levels = [self._level(first, end) for first, end in regions]
        if not any(levels):
            return []
        loop = "while" in self._index.types[number]
        kind = self.kinds[number] = LOOP if loop else BRANCH
        self.sizes[number] = self._index.ends[number] - number
        outer = self._paths[number]
        for member in (member for level in levels for member in level):
            path = self._paths[member]
            self._paths[member] = path[len(common([path, outer])) :]
        words = self._words
        titles = [words.condition, ""] if loop else [words.if_true, words.if_false]
        if len(levels) != 2:
            titles = [""] * len(levels)
        work, found = [], self.children.setdefault(number, [])
        for level, title in zip(levels, titles, strict=True):
            if not level:
                continue
            if not title:
                work.append((number, level, 0))
                continue
            if len(level) == 1:
                (node,) = level
                self.names[node] = title
            else:
                node = self._group(title, level, kind)
                work.append((node, level, 0))
            self.parents[node] = number
            found.append(node)
        return work

    def _pieces(self, members: list[int], depth: int) -> list[_Piece]:
        """Divide the operators of a group into its children."""
        pieces: dict[tuple[int, str], list[int]] = {}
        places: dict[int, int] = {}
        whole: list[list[int]] = []
        divided = False
        paths, phases = self._paths, self.phases
        for place, member in enumerate(members):
            path = paths[member]
            if len(path) <= depth:
                whole.append([member])
                continue
            key = phases[member], path[depth]
            piece = pieces.get(key)
            if piece is None:
                pieces[key] = piece = []
                whole.append(piece)
            elif places[id(piece)] != place - 1:
                divided = True
            piece.append(member)
            places[id(piece)] = place
        parts = [(piece, 1) for piece in whole]
        if divided:
            parts = self._without_circles(whole)
        return [self._piece(piece, number, depth) for piece, number in parts]

    def _piece(self, members: list[int], number: int, depth: int) -> _Piece:
        """One child; names of groups that have nothing but one group are joined."""
        first = self._paths[members[0]]
        if len(first) <= depth:
            return _Piece(members, "", depth)
        end = depth + 1
        if len(members) == 1:
            end = len(first)
        while end < len(first) and self._share(members, end):
            end += 1
        name = ".".join(first[depth:end])
        return _Piece(members, name if number == 1 else f"{name} ({number})", end)

    def _share(self, members: list[int], depth: int) -> bool:
        """Whether all paths have the same name there."""
        name = self._paths[members[0]][depth]
        return all(len(self._paths[m]) > depth and self._paths[m][depth] == name for m in members)

    def _without_circles(self, pieces: list[list[int]]) -> list[tuple[list[int], int]]:
        """Pieces and their numbers: those in a circle are divided where others lie between."""
        owner: dict[int, int] = {}
        ends = self._index.ends
        for number, piece in enumerate(pieces):
            for member in piece:
                for inner in range(member, ends[member]):
                    owner[inner] = number
        sources: list[set[int]] = [set() for _ in pieces]
        for operator, number in owner.items():
            for origin in self._origins[self._starts[operator] : self._starts[operator + 1]]:
                other = owner.get(origin, number)
                if other != number:
                    sources[number].add(other)
        found: list[tuple[list[int], int]] = []
        for circle in in_circles([list(each) for each in sources]):
            if len(circle) == 1:
                found.append((pieces[circle[0]], 1))
                continue
            runs: list[tuple[int, list[int]]] = []
            for member in sorted(member for number in circle for member in pieces[number]):
                if not runs or runs[-1][0] != owner[member]:
                    runs.append((owner[member], []))
                runs[-1][1].append(member)
            counts = Counter[int]()
            for number, run in runs:
                counts[number] += 1
                found.append((run, counts[number]))
        return sorted(found, key=lambda part: part[0][0])

"""Labels: the texts of nodes and edges, and the sizes of boxes that hold them."""

from __future__ import annotations

from collections.abc import Sequence

from studio.session.graph.diagram.groups import GroupTree
from studio.session.graph.diagram.operators import ProgramIndex
from studio.session.graph.diagram.scene import VALUE
from studio.session.graph.diagram.sizes import BATCH, UNKNOWN, batches
from studio.session.graph.diagram.texts import DiagramWords, cleaned, shape_text, text_width

_TALL, _LOW = 44.0, 30.0  # with a note and without
_PICTURED, _PICTURE_WIDTH = 104.0, 192.0  # with a picture below the texts
_LEAST_WIDTH, _MOST_WIDTH = 96.0, 280.0
_FEW = 3  # operators of a group that are named


class Labels:
    """What nodes and edges say."""

    def __init__(self, index: ProgramIndex, tree: GroupTree, words: DiagramWords) -> None:
        self._index = index
        self._tree = tree
        self._words = words
        self._batches = batches(index)
        self._batch = BATCH if index.batch_is_open else UNKNOWN
        self._anywhere = not index.others_are_open

    def title(self, node: int) -> str:
        """``conv1 · conv2d``, or the name of a group."""
        name = cleaned(self._name(node))
        if node < len(self._index.operators):
            kind = cleaned(self._index.types[node])
            return f"{name} · {kind}" if name and name.partition("#")[0] != kind else name or kind
        return cleaned(self._index.names[self._value(node)]) if self._tree.kinds[node] == VALUE else name

    def _name(self, node: int) -> str:
        """The name of a group; a number comes with the name of what it counts: ``layer1.0``."""
        names = self._tree.names
        name = names.get(node, "")
        if name[:1].isdecimal():
            around = names.get(self._tree.parents[node], "").rpartition(".")[2]
            if around and name.partition(".")[0].partition("#")[0].isdecimal():
                return f"{around}.{name}"
        return name

    def note(self, node: int) -> str:
        """The second line of a box: how many operators, the shapes of parameters, or that of an input."""
        if node in self._tree.children:
            size = self._tree.sizes[node]
            if size > _FEW:
                return self._words.operators.format(f"{size:,}")
            while node in self._tree.children and node >= len(self._index.operators):
                node = self._tree.children[node][0]
            return self._words.first_of.format(cleaned(self._index.types[node], 24), size - 1)
        if self._tree.kinds[node] == VALUE:
            value = self._value(node)
            return f"{self._shape(value)} {cleaned(self._index.value(value).dtype, 20)}".strip()
        return cleaned(", ".join(self._shapes(node)), 40)

    def _shapes(self, node: int) -> list[str]:
        """Those of an operator's parameters: two different ones at most, numbers only if they are all."""
        found: list[str] = []
        for number in self._index.parameters.get(node, ()):
            if self._index.value(number).shape or not found:
                text = self._shape(number)
                found = [] if found == [self._words.scalar] else found
                if text not in found:
                    found.append(text)
            if len(found) == 2:
                break
        return found

    def size(
        self, title: str, note: str, is_group: bool = False, pictured: bool = False
    ) -> tuple[float, float]:
        """Width and height of a box with these texts; a group has room for the square that opens it. Widths
        are multiples, so that equal blocks whose names differ by a letter have equal layouts.

        Args:
            pictured: there is room for a picture below the texts.
        """
        width = max(text_width(title), text_width(note, 11.0)) + (44 if is_group else 28)
        width = min(max(width, _LEAST_WIDTH), _MOST_WIDTH)
        width = -(-width // 8) * 8
        if pictured:
            return max(width, _PICTURE_WIDTH), _PICTURED
        return width, _TALL if note else _LOW

    def edge(self, values: Sequence[int]) -> str:
        """The shape of what flows along an edge, or how many values do."""
        shapes = [self._shape(value) for value in values[:3]]
        if len(shapes) == 1:
            return shapes[0]
        if len(shapes) == 2:
            return f"2 × {shapes[0]}" if shapes[0] == shapes[1] else ", ".join(shapes)
        return self._words.tensors.format(f"{len(values):,}")

    def _shape(self, number: int) -> str:
        """That of a value."""
        shape = self._index.value(number).shape
        if shape is None:
            return "?"
        return shape_text(shape, self._batches.get(number, self._batch), self._anywhere, self._words)

    def _value(self, node: int) -> int:
        """That of an input or output of the Program."""
        index = self._index
        place, inputs = node - len(index.operators), len(index.inputs)
        return index.inputs[place] if place < inputs else index.outputs[place - inputs]

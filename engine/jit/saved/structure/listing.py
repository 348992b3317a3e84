"""The differences of two Programs as a text with a line for each operator, like that of ``diff -u``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.jit.saved.structure.changes import Place, Structure
from engine.jit.saved.structure.repair import repaired_operator

LONGEST_NAME, LONGEST_VALUE, LONGEST = 60, 80, 400
ALL = -1


@dataclass(frozen=True)
class ListedOperator:
    """A line: ``mark`` is "-" for an operator of A, "+" for one of B, "" for one of both, and "@" for a line
    in place of ``text`` equal operators. ``a`` and ``b`` are its places."""

    mark: str
    text: str
    depth: int = 0
    a: Place | None = None
    b: Place | None = None


def listed_operators(
    a: Mapping[str, Any], b: Mapping[str, Any], found: Structure, context: int = 3
) -> list[ListedOperator]:
    """The lines of two plain Programs that ``compare_structure`` compared.

    ``context`` is how many equal operators are shown around each difference, ``ALL`` for all of them. Values
    that both have are named as in A.
    """
    texts = _Operators(a), _Operators(b, {new: old for old, new in found.same.items()})
    lines = list(_marked(found))
    shown = set(range(len(lines)))
    if context != ALL:
        marked = (at for at, (mark, _, _) in enumerate(lines) if mark)
        shown = {near for at in marked for near in range(at - context, at + context + 1)}
    return list(_listed(lines, shown, texts))


Row = tuple[str, Place | None, Place | None]


def _marked(found: Structure) -> Iterator[Row]:
    """The rows with their marks; a row that changed is one of A, then one of B."""
    for a, b in found.rows:
        if a is None or b is None:
            yield "-" if b is None else "+", a, b
        elif a in found.marks[0]:
            yield "-", a, b
            yield "+", a, b
        else:
            yield "", a, b


def _listed(
    lines: list[Row], shown: set[int], texts: tuple[_Operators, _Operators]
) -> Iterator[ListedOperator]:
    omitted = 0
    for at, (mark, a, b) in enumerate(lines):
        if at not in shown:
            omitted += 1
            continue
        if omitted:
            yield ListedOperator("@", str(omitted))
        omitted = 0
        operators, place = (texts[1], b) if mark == "+" else (texts[0], a)
        if place is not None:
            yield ListedOperator(mark, operators.text(place), operators.depth(place), a, b)
    if omitted:
        yield ListedOperator("@", str(omitted))


class _Operators:
    """The operators of a Program as text."""

    def __init__(self, plain: Mapping[str, Any], names: Mapping[str, str] | None = None) -> None:
        self._blocks = plain.get("blocks")  # of a damaged Program they may hold anything
        self._names = names or {}

    def _block(self, number: int) -> Mapping[str, Any]:
        found = self._blocks[number] if isinstance(self._blocks, list | tuple) else None
        return found if isinstance(found, Mapping) else {}

    def depth(self, place: Place) -> int:
        """How many blocks are around an operator."""
        block, depth = place[0], 0
        while block > 0 and depth < LONGEST_NAME:
            parent = self._block(block).get("parent")
            if type(parent) is not int or not 0 <= parent < block:
                break
            block, depth = parent, depth + 1
        return depth

    def text(self, place: Place) -> str:
        """``y = conv2d(x, w, strides=[1, 1])  # layer1``."""
        op = repaired_operator(self._block(place[0])["ops"][place[1]])
        reads = [self._name(name) for names in op["inputs"].values() for name in names]
        attrs = [f"{name}={_short(repr(value), LONGEST_VALUE)}" for name, value in op["attrs"].items()]
        makes = ", ".join(self._name(name) for names in op["outputs"].values() for name in names)
        text = f"{_short(op['type'], LONGEST_NAME)}({', '.join([*reads, *attrs])})"
        text = _short(f"{makes} = {text}" if makes else text, LONGEST)
        layer = op.get("layer", "")
        return f"{text}  # {_short(layer, LONGEST_VALUE)}" if layer else text

    def _name(self, name: str) -> str:
        return _short(self._names.get(name, name), LONGEST_NAME)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def text_of(lines: Iterable[ListedOperator], same: str = "{0} equal operators") -> Iterator[str]:
    """The lines as text: a mark, a blank, the operator."""
    for line in lines:
        text = same.format(line.text) if line.mark == "@" else line.text
        yield f"{line.mark or ' '} {'    ' * line.depth}{text}"

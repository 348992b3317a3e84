"""The differences of two Programs as a text with a line for each operator, like that of ``diff -u``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engine.jit.saved.structure.changes import Place, Structure
from engine.jit.saved.structure.repair import repaired

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
    one, other = _Operators(a), _Operators(b, {new: old for old, new in found.same.items()})
    lines: list[ListedOperator] = []
    for place, counterpart in found.rows:
        if place is None and counterpart is not None:
            lines.append(
                ListedOperator("+", other.text(counterpart), other.depth(counterpart), None, counterpart)
            )
        elif place is not None and counterpart is None:
            lines.append(ListedOperator("-", one.text(place), one.depth(place), place, None))
        elif place is not None and counterpart is not None:
            pair = place, counterpart
            if found.marks[0].get(place) is None:
                lines.append(ListedOperator("", one.text(place), one.depth(place), *pair))
            else:
                lines.append(ListedOperator("-", one.text(place), one.depth(place), *pair))
                lines.append(ListedOperator("+", other.text(counterpart), other.depth(counterpart), *pair))
    return lines if context == ALL else list(_shortened(lines, context))


def _shortened(lines: list[ListedOperator], context: int) -> Iterator[ListedOperator]:
    shown = set[int]()
    for at, line in enumerate(lines):
        if line.mark:
            shown.update(range(at - context, at + context + 1))
    omitted = 0
    for at, line in enumerate(lines):
        if at in shown:
            if omitted:
                yield ListedOperator("@", str(omitted))
            omitted = 0
            yield line
        else:
            omitted += 1
    if omitted:
        yield ListedOperator("@", str(omitted))


class _Operators:
    """The operators of a Program as text."""

    def __init__(self, plain: Mapping[str, Any], names: Mapping[str, str] | None = None) -> None:
        self._blocks = plain["blocks"] if _is_sound(plain) else repaired(plain)["blocks"]
        self._names = names or {}
        self._depths: dict[int, int] = {}

    def depth(self, place: Place) -> int:
        """How many blocks are around an operator."""
        block, depth = place[0], 0
        while block > 0 and depth < LONGEST_NAME:
            parent = self._blocks[block].get("parent")
            if type(parent) is not int or not 0 <= parent < block:
                break
            block, depth = parent, depth + 1
        return depth

    def text(self, place: Place) -> str:
        """``y = conv2d(x, w, strides=[1, 1])  # layer1``."""
        op = self._blocks[place[0]]["ops"][place[1]]
        reads = [self._name(name) for names in op["inputs"].values() for name in names]
        attrs = [f"{name}={_short(repr(value), LONGEST_VALUE)}" for name, value in op["attrs"].items()]
        makes = ", ".join(self._name(name) for names in op["outputs"].values() for name in names)
        text = f"{op['type']}({', '.join([*reads, *attrs])})"
        text = _short(f"{makes} = {text}" if makes else text, LONGEST)
        layer = op.get("layer", "")
        return f"{text}  # {_short(layer, LONGEST_VALUE)}" if layer else text

    def _name(self, name: str) -> str:
        return _short(self._names.get(name, name), LONGEST_NAME)


def _is_sound(plain: Mapping[str, Any]) -> bool:
    try:
        return all(
            type(op["attrs"]) is dict and {*map(type, (op["inputs"], op["outputs"]))} == {dict}
            for block in plain["blocks"]
            for op in block["ops"]
        )
    except (AttributeError, KeyError, TypeError):
        return False


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def text_of(lines: Iterable[ListedOperator], same: str = "{0} equal operators") -> Iterator[str]:
    """The lines as text: a mark, a blank, the operator."""
    for line in lines:
        text = same.format(line.text) if line.mark == "@" else line.text
        yield f"{line.mark or ' '} {'    ' * line.depth}{text}"

"""The path of the group of each operator: by layer calls, lines, or prefixes of parameters."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePath
from typing import Any, TypeAlias

from resources.operator_keys import LOSS
from studio.session.graph.diagram.operators import ProgramIndex
from studio.session.graph.diagram.scene import BACKWARD

LAYERS, LINES, PREFIXES = "layer", "line", "prefix"
GROUPINGS = (LAYERS, LINES, PREFIXES)

Path: TypeAlias = tuple[str, ...]

_DEEPEST = 100
_SUMS = ("sum", "add_n", "elementwise_add")
_OF_PADDLE = re.compile(r"^(.*)\.[wb]_\d+$")


def grouped(index: ProgramIndex, by: str) -> tuple[str, list[Path]]:
    """What the groups are of, and the path of each operator; ``by`` may be "auto"."""
    if by in ("auto", LAYERS):
        found = _layers(index)
        if by == LAYERS or any(found):
            return LAYERS, found
    if by in ("auto", LINES):
        found = _lines(index)
        if by == LINES or _divide(found):
            return LINES, found
    return PREFIXES, _prefixes(index)


def _divide(paths: list[Path]) -> bool:
    """Whether groups tell something: several, none with nearly all operators."""
    counts = Counter(paths)
    ((_, most),) = counts.most_common(1) or [((), 0)]
    return len(counts) > 2 and most <= 0.8 * len(paths) and counts[()] <= 0.5 * len(paths)


def _layers(index: ProgramIndex) -> list[Path]:
    known: dict[str, Path] = {"": ()}
    paths = []
    for operator in index.operators:
        layer = operator.get("layer") or ""
        path = known.get(layer)
        if path is None:
            path = known[layer] = tuple(layer.split(".")[:_DEEPEST])
        paths.append(path)
    _place_sums(index, paths)
    return paths


def _place_sums(index: ProgramIndex, paths: list[Path]) -> None:
    """The sum of several gradients of a value, which no layer call made, belongs to what made them.

    Else it would lie between two gradients of each residual block.
    """
    outside = ((), (LOSS,))
    sums = {
        number
        for number, kind in enumerate(index.types)
        if kind in _SUMS and index.phases[number] == BACKWARD and paths[number] in outside
    }
    if not sums:
        return
    arriving: dict[int, list[int]] = {}
    for source, target in zip(index.sources.tolist(), index.targets.tolist(), strict=True):
        if target in sums and source < len(paths):
            arriving.setdefault(target, []).append(source)
    for number in sorted(arriving):
        if all(index.phases[source] == BACKWARD for source in arriving[number]):
            paths[number] = common([paths[source] for source in arriving[number]]) or paths[number]


def common(paths: list[Path]) -> Path:
    """The names that all paths begin with."""
    first = paths[0]
    for path in paths[1:]:
        same = 0
        for one, other in zip(first, path, strict=False):
            if one != other:
                break
            same += 1
        first = first[:same]
    return first


def _lines(index: ProgramIndex) -> list[Path]:
    known: dict[tuple[Any, Any], Path] = {(None, None): ()}
    paths = []
    for operator in index.operators:
        place = operator.get("file"), operator.get("line")
        path = known.get(place)
        if path is None:
            path = known[place] = (f"{PurePath(str(place[0])).name}:{place[1]}",) if place[0] else ()
        paths.append(path)
    return paths


def _prefixes(index: ProgramIndex) -> list[Path]:
    """An operator belongs to the group of its parameter; what prepares a parameter, to its user.

    Between two operators of one group it belongs to that, too.
    """
    count = len(index.operators)
    found: list[Path | None] = [None] * count
    by_value: dict[int, Path] = {}
    for number in range(count):
        taken = () if number in index.regions else index.parameters.get(number, ())
        for value in taken:  # those of a loop belong to what is in it
            path = by_value.get(value)
            if path is None:
                path = by_value[value] = _prefix(index.names[value])
            if path and found[number] is None:
                found[number] = path
    arrives: dict[int, list[int]] = {}
    for source, target in zip(index.sources.tolist(), index.targets.tolist(), strict=True):
        if target < count:
            arrives.setdefault(target, []).append(source)
    for number in range(count):
        if found[number] is None:
            for source in arrives.get(number, ()):
                prepared = source < count and source not in arrives  # made of parameters only
                if prepared and found[source] and index.phases[number] == index.phases[source]:
                    found[number] = found[source]
                    break
    paths: list[Path] = []
    after: Path = ()
    following: list[Path] = [()] * count
    for number in range(count - 1, -1, -1):
        following[number] = after
        after = found[number] or after
    before: Path = ()
    for number in range(count):
        path = found[number]
        if path is None:
            path = common([before, following[number]])
        else:
            before = path
        paths.append(path)
    return paths


def _prefix(name: str) -> Path:
    """``layer1.0.conv1`` of ``layer1.0.conv1.weight``; ``conv2d_0`` of Paddle's ``conv2d_0.w_0``."""
    match = _OF_PADDLE.match(name[:1000])
    head = match[1] if match else name[:1000].rpartition(".")[0] or name[:1000].rpartition("/")[0]
    return tuple(part for part in re.split(r"[./]", head) if part)[:_DEEPEST]

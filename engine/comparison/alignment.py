"""Which operator of one side is which of the other: by layer call, type and shape, in their order."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Hashable, Iterable, Sequence

from engine.comparison.recorded import Applied

Pairs = list[tuple[int, int]]
Key = Callable[[Applied], Hashable]

_MOST = 4_000_000  # of a product of lengths; longer ones are aligned by counting

_KEYS: tuple[Key, ...] = (
    lambda each: (each.layer, each.type, each.shape),
    lambda each: (each.layer, each.type),
    lambda each: (each.type, each.shape),
)


def aligned(a: Sequence[Applied], b: Sequence[Applied]) -> Pairs:
    """Pairs of positions. Branches and loops themselves have none, their operators do.

    Operators of one layer call are aligned among each other first: with equal shapes, then by type alone.
    Those that are left have a counterpart in another layer call if type and shape are equal there.
    """
    found: Pairs = []
    left_a = [n for n, each in enumerate(a) if not each.contains]
    left_b = [n for n, each in enumerate(b) if not each.contains]
    for key in _KEYS:
        by_layer = key is not _KEYS[-1]
        made = _round(a, b, left_a, left_b, key, by_layer)
        found += made
        one, other = {x for x, _ in made}, {y for _, y in made}
        left_a = [n for n in left_a if n not in one]
        left_b = [n for n in left_b if n not in other]
    return sorted(found, key=lambda pair: pair[1])


def _round(
    a: Sequence[Applied], b: Sequence[Applied], left_a: list[int], left_b: list[int], key: Key, by_layer: bool
) -> Pairs:
    found: Pairs = []
    groups_a, groups_b = (_groups(side, left, by_layer) for side, left in ((a, left_a), (b, left_b)))
    for name, in_a in groups_a.items():
        in_b = groups_b.get(name, [])
        keys_a, keys_b = [key(a[n]) for n in in_a], [key(b[n]) for n in in_b]
        found += [(in_a[x], in_b[y]) for x, y in common(keys_a, keys_b)]
    return found


def _groups(side: Sequence[Applied], left: Iterable[int], by_layer: bool) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for n in left:
        found.setdefault(side[n].layer if by_layer else "", []).append(n)
    return found


def common(a: Sequence[Hashable], b: Sequence[Hashable]) -> Pairs:
    """Positions of equal keys in both lists, in order: a common subsequence."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    found = [(n, n) for n in range(start)]
    middle_a, middle_b = a[start : len(a) - end], b[start : len(b) - end]
    if len(middle_a) * len(middle_b) > _MOST:
        found += [(x + start, y + start) for x, y in _counted(middle_a, middle_b)]
    else:
        matcher = difflib.SequenceMatcher(None, middle_a, middle_b, autojunk=False)
        for block in matcher.get_matching_blocks():
            found += [(start + block.a + n, start + block.b + n) for n in range(block.size)]
    return found + [(len(a) - n, len(b) - n) for n in range(end, 0, -1)]


def _counted(a: Sequence[Hashable], b: Sequence[Hashable]) -> Pairs:
    """The nth of a key is the nth of the same key: for lists that are too long for a better way."""
    waiting: dict[Hashable, list[int]] = {}
    for n, key in enumerate(reversed(b)):
        waiting.setdefault(key, []).append(len(b) - 1 - n)
    return [(n, waiting[key].pop()) for n, key in enumerate(a) if waiting.get(key)]

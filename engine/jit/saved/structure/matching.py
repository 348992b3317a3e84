"""Which operator of one Program is which of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise

from engine.jit.saved.structure.align import in_order, longest_ascending, unique_pairs
from engine.jit.saved.structure.reading import ReadProgram

MOST_READERS = 32
"""Readers of one value that a key looks at."""
ENOUGH = 2
"""Up to so many operators that could have another counterpart, no other way to match is tried."""

Pair = tuple[int, int]


class Side:
    """One of the Programs, with the keys of its operators.

    ``label`` has for each operator the number of the Layer's call that it is part of, in a Program without
    calls that of the names of its parameters; 0 where it has none, or where these are not compared.
    """

    def __init__(self, program: ReadProgram, labels: Sequence[int]) -> None:
        self.program, self.label = program, labels
        self._readers: dict[int, list[int]] | None = None
        self._near: dict[Pair, int] = {}

    def readers(self, value: int) -> list[int]:
        """The operators that read a value."""
        if self._readers is None:
            self._readers = {}
            for number, op in enumerate(self.program.ops):
                for read in op.reads:
                    self._readers.setdefault(read, []).append(number)
        return self._readers.get(value, [])

    def own(self, number: int) -> Hashable:
        """The operator's own contents and its label."""
        return self.program.ops[number].own << 32 | self.label[number]

    def owns(self, numbers: Sequence[int]) -> list[int]:
        """``own`` of several operators."""
        ops, label = self.program.ops, self.label
        return [ops[number].own << 32 | label[number] for number in numbers]

    def type(self, number: int) -> Hashable:
        """The operator's type and its label."""
        return self.program.ops[number].type, self.label[number]

    def own_alone(self, number: int) -> Hashable:
        """The operator's own contents."""
        return self.program.ops[number].own

    def type_alone(self, number: int) -> Hashable:
        """The operator's type."""
        return self.program.ops[number].type

    def nearest(self, number: int) -> Hashable:
        """The operator, its label, and the operators next to it."""
        return self._around(number, 1), self.label[number]

    def near(self, number: int) -> Hashable:
        """The operator, its label, and the operators that are at most two steps away."""
        return self._around(number, 2), self.label[number]

    def _around(self, number: int, steps: int) -> int:
        op = self.program.ops[number]
        if not steps:
            return op.own
        found = self._near.get((number, steps))
        if found is None:
            makers, step = self.program.makers, steps - 1
            above = [-1 if makers[read] < 0 else self._around(makers[read], step) for read in op.reads]
            readers = [reader for value in op.makes for reader in self.readers(value)[:MOST_READERS]]
            below = sorted([self._around(reader, step) for reader in readers])
            found = self._near[number, steps] = self.program.numbers.of(("near", op.own, *above, -2, *below))
        return found


Key = Callable[[Side, int], Hashable]
_STRICT: tuple[Key, ...] = (Side.near, Side.nearest)
_LOOSE: tuple[Key, ...] = (Side.own, Side.type, Side.own_alone, Side.type_alone)


class Matching:
    """The pairs of operators, in the blocks that belong together.

    ``pairs`` has for an operator of A that of B, ``back`` the reverse; ``blocks`` the pairs of blocks, and
    ``moved`` the operators of A whose counterpart is in another position of the order.
    """

    def __init__(self, a: Side, b: Side) -> None:
        self.a, self.b = a, b
        self.pairs: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.blocks: list[Pair] = []
        self.moved: set[int] = set()
        waiting = [(0, 0)] if a.program.blocks and b.program.blocks else []
        while waiting:
            one, other = waiting.pop()
            self.blocks.append((one, other))
            for i in self._match(a.program.blocks[one].ops, b.program.blocks[other].ops):
                left, right = a.program.ops[i].regions, b.program.ops[self.pairs[i]].regions
                waiting += reversed(list(zip(left, right, strict=False)))

    def lone(self) -> tuple[list[int], list[int]]:
        """The operators without a counterpart, but for those within others."""
        return (
            [n for one, _ in self.blocks for n in self.a.program.blocks[one].ops if n not in self.pairs],
            [n for _, other in self.blocks for n in self.b.program.blocks[other].ops if n not in self.back],
        )

    def cost(self) -> int:
        """How many operators have no counterpart, or one in another position."""
        return sum(map(len, self.lone())) + len(self.moved)

    def gain(self) -> int:
        """How many of them might have one if labels were not compared."""
        one, other = (
            Counter(side.own_alone(n) for n in lone)
            for side, lone in zip((self.a, self.b), self.lone(), strict=True)
        )
        return (one & other).total() + len(self.moved)

    def _match(self, a: Sequence[int], b: Sequence[int]) -> list[int]:
        """Pair the operators of two blocks; those of A that have a counterpart."""
        begin = self._same_beginning(a, b)
        left, right = a[begin:], b[begin:]
        pairs: list[Pair] = [(n, n) for n in range(begin)]
        if left and right:
            pairs += [(begin + i, begin + j) for i, j in self._match_rest(left, right)]
            pairs.sort()
            in_place = longest_ascending(pairs)
            if len(in_place) < len(pairs):
                self.moved.update(a[i] for i in {i for i, _ in pairs} - {i for i, _ in in_place})
        for i, j in pairs:
            self.pairs[a[i]], self.back[b[j]] = b[j], a[i]
        return [a[i] for i, _ in pairs]

    def _same_beginning(self, a: Sequence[int], b: Sequence[int]) -> int:
        """How many operators are the same from the beginning, and read what the same ones made."""
        ops, others = self.a.program.ops, self.b.program.ops
        label, other_label, pairs = self.a.label, self.b.label, self.pairs
        makers, other_makers = self.a.program.makers, self.b.program.makers
        begin = 0
        for i, j in zip(a, b, strict=False):
            one, other = ops[i], others[j]
            if one.own != other.own or label[i] != other_label[j]:
                return begin
            for x, y in zip(one.reads, other.reads, strict=True):
                maker = makers[x]
                if maker < 0:
                    if other_makers[y] >= 0:
                        return begin
                elif pairs.get(maker) != other_makers[y]:
                    return begin
            pairs[i] = j
            begin += 1
        return begin

    def _match_rest(self, a: Sequence[int], b: Sequence[int]) -> list[Pair]:
        own_a, own_b = self.a.owns(a), self.b.owns(b)
        ordered = longest_ascending(unique_pairs(own_a, own_b))
        found = {a[i]: b[j] for i, j in ordered}
        open_gaps = []
        for gap_a, gap_b in _gaps(ordered, len(a), len(b)):
            same = own_a[gap_a.start : gap_a.stop] == own_b[gap_b.start : gap_b.stop]
            if same and self._is_consistent(a, b, gap_a, gap_b, found):
                ordered += zip(gap_a, gap_b, strict=True)
            else:
                open_gaps.append((list(gap_a), list(gap_b)))
        moved: list[Pair] = []
        for key in _STRICT:
            ordered += self._match_gaps(a, b, open_gaps, key, rough=False)
            open_gaps = _split(open_gaps, ordered)
        for key in _STRICT:
            moved += self._equal(a, b, ordered + moved, key)
        open_gaps = _split(open_gaps, moved)
        for key in _LOOSE:
            ordered += self._match_gaps(a, b, open_gaps, key)
            open_gaps = _split(open_gaps, ordered)
        moved += self._equal(a, b, ordered + moved, Side.own, labelled=True)
        return ordered + moved

    def _is_consistent(
        self, a: Sequence[int], b: Sequence[int], gap_a: range, gap_b: range, found: dict[int, int]
    ) -> bool:
        """Whether all operators of a gap read what the counterparts of those before read."""
        makers, others = self.a.program.makers, self.b.program.makers
        fresh: dict[int, int] = {-1: -1}
        for i, j in zip(gap_a, gap_b, strict=True):
            reads, other_reads = self.a.program.ops[a[i]].reads, self.b.program.ops[b[j]].reads
            for x, y in zip(reads, other_reads, strict=True):
                maker = makers[x]
                known = fresh[maker] if maker in fresh else found.get(maker, self.pairs.get(maker))
                if known != others[y]:
                    return False
            fresh[a[i]] = b[j]
        found.update(fresh)
        return True

    def _match_gaps(
        self,
        a: Sequence[int],
        b: Sequence[int],
        gaps: Sequence[tuple[list[int], list[int]]],
        key: Key,
        rough: bool = True,
    ) -> list[Pair]:
        found: list[Pair] = []
        for left, right in gaps:
            if left and right:
                keys_a = [key(self.a, a[n]) for n in left]
                keys_b = [key(self.b, b[n]) for n in right]
                found += [(left[i], right[j]) for i, j in in_order(keys_a, keys_b, rough)]
        return found

    def _equal(
        self, a: Sequence[int], b: Sequence[int], known: list[Pair], key: Key, labelled: bool = False
    ) -> list[Pair]:
        """Pairs of operators without a counterpart whose key occurs once, or, with ``labelled``, as often as
        it likes within one label."""
        places: dict[Hashable, tuple[list[int], list[int]]] = {}
        for which, (side, ops) in enumerate(((self.a, a), (self.b, b))):
            open_places = bytearray(b"1") * len(ops)
            for pair in known:
                open_places[pair[which]] = 0
            n = open_places.find(b"1")
            while n >= 0:
                if side.label[ops[n]] or not labelled:
                    places.setdefault(key(side, ops[n]), ([], []))[which].append(n)
                n = open_places.find(b"1", n + 1)
        return [
            pair
            for left, right in places.values()
            if labelled or len(left) == len(right) == 1
            for pair in zip(left, right, strict=False)
        ]


def _gaps(ordered: Sequence[Pair], end_a: int, end_b: int) -> Iterator[tuple[range, range]]:
    """What lies between neighbouring pairs."""
    before = (-1, -1)
    for pair in (*ordered, (end_a, end_b)):
        if pair[0] - before[0] > 1 or pair[1] - before[1] > 1:
            yield range(before[0] + 1, pair[0]), range(before[1] + 1, pair[1])
        before = pair


def _split(
    gaps: Sequence[tuple[list[int], list[int]]], pairs: Sequence[Pair]
) -> list[tuple[list[int], list[int]]]:
    """The gaps without the operators of ``pairs``; pairs that ascend within a gap divide it."""
    partner = dict(pairs)
    taken = {j for _, j in pairs}
    found = []
    for left, right in gaps:
        inside = set(right)
        cuts = [(i, partner[i]) for i in left if partner.get(i) in inside]
        ascending = all(one[1] < other[1] for one, other in pairwise(cuts))
        edges = [*cuts, (left[-1] + 1 if left else 0, right[-1] + 1 if right else 0)] if ascending else []
        at_a = at_b = 0
        for cut_a, cut_b in edges or [(left[-1] + 1 if left else 0, right[-1] + 1 if right else 0)]:
            part_a, part_b = [], []
            while at_a < len(left) and left[at_a] < cut_a:
                part_a.append(left[at_a])
                at_a += 1
            while at_b < len(right) and right[at_b] < cut_b:
                part_b.append(right[at_b])
                at_b += 1
            part_a = [n for n in part_a if n not in partner]
            part_b = [n for n in part_b if n not in taken]
            if part_a and part_b:
                found.append((part_a, part_b))
    return found


def match(a: ReadProgram, b: ReadProgram) -> Matching:
    """Match the operators with regard to their labels, or without where more have a counterpart then."""
    numbers: dict[str, int] = {"": 0}
    labels = [labels_of(program, numbers) for program in (a, b)]
    known = [set(each) for each in labels]
    plain = [[0] * len(program.ops) for program in (a, b)]
    if 2 * len(known[0] & known[1]) <= min(map(len, known)):  # layers or parameters were renamed
        labels = plain
    found = Matching(Side(a, labels[0]), Side(b, labels[1]))
    if labels is plain or found.gain() <= ENOUGH:
        return found
    other = Matching(Side(a, plain[0]), Side(b, plain[1]))
    return other if other.cost() < found.cost() else found


def labels_of(program: ReadProgram, numbers: dict[str, int]) -> list[int]:
    """The Layer's call of each operator as a number; in a Program without them the names of its
    parameters."""
    labels = [op.layer for op in program.ops]
    if not any(labels):
        names, specs = program.names, program.specs
        labels = [" ".join([names[value] for value in op.reads if specs[value]]) for op in program.ops]
    number = numbers.setdefault
    return [number(label, len(numbers)) for label in labels]

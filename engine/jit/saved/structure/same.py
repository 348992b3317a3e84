"""Which value of one Program is which of another, and whether an operator reads the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.jit.saved.structure.matching import Matching
from engine.jit.saved.structure.reading import ReadProgram

FARTHEST = 1000
"""Operators without a counterpart that are passed on the way to a value, at most."""
MOST_STEPS = 1_000_000
"""Steps for all of them together: what is not found by then counts as following from those operators."""


class SameValues:
    """The counterparts of values: what the counterpart of an operator makes, the input of the same position,
    and the parameter that the same operators read."""

    def __init__(self, a: ReadProgram, b: ReadProgram, matching: Matching) -> None:
        self._a, self._b, self._matching = a, b, matching
        self._left = MOST_STEPS
        self.values: dict[int, int] = {}
        self._back: dict[int, int] = {}
        for x, y in zip(a.inputs.values(), b.inputs.values(), strict=False):
            self._pair(x, y)
        for one, other in matching.blocks:
            arguments = zip(a.blocks[one].arguments, b.blocks[other].arguments, strict=False)
            for x, y in arguments:
                self._pair(x, y)
        values, back, ops, others = self.values, self._back, a.ops, b.ops
        for i, j in matching.pairs.items():
            for x, y in zip(ops[i].makes, others[j].makes, strict=False):
                values[x] = y
                back[y] = x
        self._pair_parameters()
        self._passed = self._passed_through()

    def _pair(self, x: int, y: int) -> None:
        if x not in self.values and y not in self._back:
            self.values[x] = y
            self._back[y] = x

    def _pair_parameters(self) -> None:
        """Parameters belong together that most operators read in the same place; of several, those of one
        name."""
        candidates: dict[tuple[int, int], int] = {}
        makers, others, known, taken = self._a.makers, self._b.makers, self.values, self._back
        for i, j in self._matching.pairs.items():
            x, y = self._a.ops[i], self._b.ops[j]
            if x.layout == y.layout:
                for one, other in zip(x.reads, y.reads, strict=True):
                    if makers[one] < 0 and others[other] < 0:
                        pair = one, other
                        if pair in candidates:
                            candidates[pair] += 1
                        elif one not in known and other not in taken:
                            candidates[pair] = 1
        order = list(candidates)
        if min(len({pair[side] for pair in order}) for side in (0, 1)) < len(order):  # several for one

            def rank(pair: tuple[int, int]) -> tuple[bool, int, bool]:
                one, other = pair
                specs = self._a.specs[one] != self._b.specs[other]
                return specs, -candidates[pair], self._a.names[one] != self._b.names[other]

            order.sort(key=rank)
        for one, other in order:
            self._pair(one, other)

    # ----- what operators read -----

    def reads(self, i: int, j: int) -> bool:
        """Whether two operators of the same slots read the same values, or others only as a consequence."""
        return self.all(self._a.ops[i].reads, self._b.ops[j].reads)

    def all(self, left: Sequence[int], right: Sequence[int]) -> bool:
        """Whether values are the same, or others only as a consequence of other changes."""
        return len(left) == len(right) and all(map(self.one, left, right))

    def one(self, x: int, y: int) -> bool:
        """Whether a value of B is that of A, or another one only as a consequence of other changes."""
        if self.values.get(x) == y:
            return True
        gone, new = self._is_passed(self._a, x, 0), self._is_passed(self._b, y, 1)
        if not gone and not new:
            return False
        if gone and new and not self._has_counterpart(x, y):
            return True  # one in place of the other
        behind = self._behind(self._b, y, 1) if new else {y}
        before = self._behind(self._a, x, 0) if gone else {x}
        return self._left <= 0 or any(self.values.get(each) in behind for each in before)

    def _has_counterpart(self, x: int, y: int) -> bool:
        return x in self.values or y in self._back

    def _is_passed(self, program: ReadProgram, value: int, side: int) -> bool:
        maker = program.makers[value]
        return maker >= 0 and maker in self._passed[side]

    def _passed_through(self) -> tuple[set[int], set[int]]:
        """The operators without a counterpart, and those that were moved to other values."""
        pairs = self._matching.pairs
        gone, new = map(set, self._matching.lone())
        for i in self._matching.moved:
            x, y = self._a.ops[i], self._b.ops[pairs[i]]
            if [self.values.get(value) for value in x.reads] != list(y.reads):
                gone.add(i)
                new.add(pairs[i])
        return gone, new

    def _behind(self, program: ReadProgram, value: int, side: int) -> set[int]:
        """A value, and those that operators without a counterpart compute it from."""
        found, waiting = {value}, [value]
        while waiting and len(found) < FARTHEST and self._left > 0:
            each = waiting.pop()
            if self._is_passed(program, each, side):
                op = program.ops[program.makers[each]]
                self._left -= 1 + len(op.reads)
                fresh = [read for read in op.reads if read not in found]
                found.update(fresh)
                waiting += fresh
        return found

    def names(self) -> Iterator[tuple[str, str]]:
        """The names in B of the values of A."""
        for x, y in self.values.items():
            yield self._a.names[x], self._b.names[y]

"""Products of matrices in plans: those that do not depend on each other become one call.

The gradients of a product, and the products of one input with several weights, are such. Their shards are
handed over to the threads at once, where one product after another has them wait for each other. The
operators stay single ones, which change their places in the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from math import prod
from typing import Any

from engine.core.operators.operator import Operator
from engine.core.values.dtype import float32, float64
from engine.core.values.spec import Spec
from engine.kernels.cpu.products import SHARD
from engine.program.graph.liveness import Liveness, arguments
from engine.program.graph.program import Variable, variables_of

_NAMES = ("matmul_v2", "product_of_rows")
_MOST = 8  # products in a call
_REACH = 40  # operators from the first one on: results live longer the farther they move


class _Group:
    """Products at ``members`` that may be computed at one place, before the operator at ``until``; what they
    read is computed before ``since``."""

    def __init__(self) -> None:
        self.members: list[int] = []
        self.since, self.until = 0, 1 << 60

    @property
    def place(self) -> int:
        """The position of the operator that they come before, or that is the last of them."""
        return min(self.members[-1], self.until)


def order_products(
    live: Liveness, specs: Mapping[int, Spec], known: Container[int]
) -> tuple[Liveness, list[list[int]]]:
    """The operators with products next to each other that do not depend on each other, and the positions of
    such neighbours, two and more.

    ::

        a = matmul(x, q)                       a = matmul(x, q)
        b = relu(a)                            c = matmul(x, k)
        c = matmul(x, k)               ->      b = relu(a)
        return b, c                            return b, c
    """
    ops, groups, group = live.ops, list[_Group](), _Group()
    for position, operator in enumerate(ops):
        if live.changed_by(operator):  # of arrays that a product may read
            group = _Group()
        if not _is_large(operator, specs) or not _moves(operator, live, known):
            continue
        made = [live.makers.get(id(v), -1) for v in arguments(operator)]
        since = max([n + 1 for n in made if n < position], default=0)
        changes = [n for n in made if n > position]  # as the update of a weight
        until = min([*live.readers.get(id(operator.outputs[0]), ()), *changes], default=1 << 60)
        full = len(group.members) == _MOST or (group.members and position - group.members[0] > _REACH)
        reads_one = any(n in group.members for n in made)
        if full or reads_one or max(since, group.since) > min(until, group.until):
            group = _Group()
        if not group.members:
            groups.append(group)
        group.members.append(position)
        group.since, group.until = max(since, group.since), min(until, group.until)
    groups = [group for group in groups if len(group.members) > 1]
    if not groups:
        return live, []
    moved = {position for group in groups for position in group.members}
    comes = {group.place: group for group in groups}
    ordered: list[Operator] = []
    found: list[list[int]] = []
    for position, operator in enumerate(ops):
        if position in comes:
            members = comes[position].members
            found.append(list(range(len(ordered), len(ordered) + len(members))))
            ordered += [ops[n] for n in members]
        if position not in moved:
            ordered.append(operator)
    return Liveness(ordered), found


def _moves(operator: Operator, live: Liveness, known: Container[int]) -> bool:
    """Whether it gives the same value wherever it is between the operators that it depends on and its
    readers."""
    given = [id(v) for v in arguments(operator)]
    made = [id(v) for v in variables_of(operator.outputs)]
    if any(key in known or key not in live.once for key in made):
        return False
    return all(key in live.once or key not in live.makers for key in given)


def _is_large(operator: Operator, specs: Mapping[int, Spec]) -> bool:
    """Whether it is a product that threads share."""
    if operator.opdef.name not in _NAMES:
        return False
    (made,) = operator.outputs
    given = operator.inputs[0]
    if not isinstance(made, Variable) or not isinstance(given, Variable) or made.persistable:
        return False
    result, x = specs.get(id(made), made.spec), specs.get(id(given), given.spec)
    if not (result.known and x.known) or x.dtype not in (float32, float64) or x.ndim < 2:
        return False
    turned = operator.attrs.get("trans_x")
    rows = operator.opdef.name == "product_of_rows"
    inner = prod(x.shape[:-1]) if rows else x.shape[-2 if turned else -1]
    return result.size * inner >= SHARD


class Products:
    """One call of a plan for several products.

    ``kernels`` are those of the single products, in order, by which it computes until :meth:`follow` is given
    one for all of them.
    """

    def __init__(
        self, operators: Sequence[Operator], kernels: Callable[[], Sequence[Callable[..., Any]]]
    ) -> None:
        self._operators, self._kernels = operators, kernels
        self._whole: Callable[..., Sequence[Any]] | None = None

    def follow(self, whole: Callable[..., Sequence[Any]] | None) -> None:
        """Compute by ``whole``, which takes the operands of all products; None: one after another."""
        self._whole = whole

    def __call__(self, *values: Any) -> Sequence[Any]:
        if self._whole is not None:
            return self._whole(*values)
        return self._one_by_one(values)

    def _one_by_one(self, values: Sequence[Any]) -> list[Any]:
        """The results, where a profiler finds the operator that each is of."""
        found, pairs = [], zip(values[::2], values[1::2], strict=True)
        for operator, kernel, pair in zip(self._operators, self._kernels(), pairs, strict=True):  # noqa: B007
            found.append(kernel(*pair))
        return found

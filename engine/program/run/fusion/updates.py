"""Updates in plans: adjacent ones become one call.

The operators of a Program stay one for each parameter. Where the arrays that a call gets are slices of an
arena (``engine/eager/arena.py``), one operator over flat arrays updates them; otherwise each is updated
alone, with bitwise identical results, and ``missed`` says that moving them into one may be worthwhile. On a
GPU one launch updates them in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import is_
from typing import Any

import numpy as np

from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator
from engine.core.place import array_module
from engine.core.values.dtype import float32, float64
from engine.core.values.spec import Spec
from engine.eager.arena import Arenas, Row, row_at
from engine.eager.tensor import Tensor
from engine.kernels.choice import TOGETHER
from engine.ops.training.flat_updates import FLAT
from engine.program.graph.program import Variable
from engine.program.run.kernels import OneCall

# Inputs that all operators of a group share.
_SHARED = ("learning_rate", "skip_update")


def update_groups(ops: Sequence[Operator], specs: Mapping[int, Spec]) -> list[list[int]]:
    """The positions of neighbours that update different parameters alike, two and more."""
    found: list[list[int]] = []
    for position, operator in enumerate(ops):
        if operator.opdef.name not in FLAT or operator.replay or not _is_plain(operator, specs):
            continue
        group = found[-1] if found else None
        if group and group[-1] == position - 1 and _alike(ops[group[0]], operator, ops, group):
            group.append(position)
        else:
            found.append([position])
    return [group for group in found if len(group) > 1]


def _is_plain(operator: Operator, specs: Mapping[int, Spec]) -> bool:
    spec = specs.get(id(operator.inputs[0]))
    return spec is not None and spec.known and spec.dtype in (float32, float64)


def _alike(first: Operator, other: Operator, ops: Sequence[Operator], group: Sequence[int]) -> bool:
    if first.opdef is not other.opdef or first.attrs != other.attrs:
        return False
    names = first.opdef.input_names
    if any(first.inputs[names.index(n)] is not other.inputs[names.index(n)] for n in _SHARED if n in names):
        return False
    written = {id(v) for n in group for v in ops[n].outputs if v is not None}
    written |= {id(ops[n].replaced(k)) for n in group for k in range(len(ops[n].outputs))}
    return not any(id(v) in written for v in other.inputs if v is not None)


class _Place:
    """Positions of the arrays of a call: the rows, the numbers of their parameters, and ``inputs`` of
    ``flat``, the operator over flat arrays, with None for the gradients and shared inputs."""

    __slots__ = ("ids", "inputs", "kernel", "order", "rows")

    def __init__(
        self, arrays: Sequence[Any], rows: list[Row], order: list[int], names: Sequence[str], flat: OpDef
    ) -> None:
        self.ids, self.rows, self.order = list(map(id, arrays)), rows, order  # the rows hold the arrays
        self.kernel: OneCall | None = None
        found = dict(zip(names, rows[0].arena.stretch(rows[0], rows[-1]), strict=True))
        self.inputs = [found[name]._array if name in found else None for name in flat.input_names]


class Update:
    """One call of a plan that updates the parameters of several operators.

    It takes the arrays of all parameters and then, slot by slot, of their state; the gradients; and the
    inputs that the operators share.
    """

    def __init__(self, operators: Sequence[Operator]) -> None:
        first = operators[0]
        self._one, self._flat = first.opdef, FLAT[first.opdef.name].opdef
        self.name = self._flat.name
        self._attrs = dict(first.attrs)
        names = self._one.input_names
        self._count = len(operators)
        self._shared = [name for name in _SHARED if name in names]
        self._columns = ["param", *[n for n in names if n not in (*_SHARED, "param", "grad")]]
        inputs = [dict(zip(names, operator.inputs, strict=True)) for operator in operators]
        self.variables = [given[name] for name in self._columns for given in inputs]
        self.gradients = [given["grad"] for given in inputs]
        self.shared = [inputs[0][name] for name in self._shared]
        self._arenas = Arenas(self._columns[1:])
        self._place: _Place | None = None  # of the last call
        self._grads = self._flat.index_of["grads"]
        self._shared_at = [self._flat.index_of[name] for name in self._shared]
        self.missed = False  # whether the last call updated them one by one

    def __call__(self, arrays: Sequence[Any], gradients: Sequence[Any], shared: Sequence[Any]) -> None:
        if not isinstance(arrays[0], np.ndarray):
            self._on_device(arrays, gradients, dict(zip(self._shared, shared, strict=True)))
            return
        place = self._place
        if place is None or list(map(id, arrays)) != place.ids:
            place = self._place = self._found(arrays)
        self.missed = place is None or not place.rows[0].arena.uniform(place.rows[0], place.rows[-1])
        if place is None or self.missed:
            self._one_by_one(arrays, gradients, dict(zip(self._shared, shared, strict=True)))
            return
        inputs = place.inputs.copy()
        inputs[self._grads] = [gradients[n] for n in place.order]
        for at, value in zip(self._shared_at, shared, strict=True):
            inputs[at] = value
        if place.kernel is None:
            place.kernel = OneCall(self._flat, self._attrs, inputs)
        place.kernel(*inputs)

    def kernel(self) -> tuple[str, str]:
        """Whose kernel the last call over flat arrays used, and why NumPy's; as of :class:`Explained`."""
        call = None if self._place is None else self._place.kernel
        return ("numpy", "") if call is None else (call.report(), call.why_numpy())

    def _on_device(self, arrays: Sequence[Any], gradients: Sequence[Any], shared: dict[str, Any]) -> None:
        """The update of arrays of CuPy."""
        together = self._one.overrides.get(TOGETHER)
        count = self._count
        columns = {name: arrays[n * count : (n + 1) * count] for n, name in enumerate(self._columns)}
        if together is None or not together[0](columns, gradients, shared, self._attrs):
            self._one_by_one(arrays, gradients, shared, array_module(arrays[0]))

    def _one_by_one(
        self, arrays: Sequence[Any], gradients: Sequence[Any], shared: dict[str, Any], xp: Any = np
    ) -> None:
        kernel = self._one.kernel_for("cpu" if xp is np else "cupy")[0]
        names = self._one.input_names
        for n, gradient in enumerate(gradients):
            given = dict(zip(self._columns, arrays[n :: self._count], strict=True))
            given |= {**shared, "grad": gradient}
            kernel(xp, *[given[name] for name in names], **self._attrs)

    def _found(self, arrays: Sequence[Any]) -> _Place | None:
        """Positions of these arrays; None if they are not neighbours in one arena."""
        rows = []
        for n in range(self._count):
            row, own = row_at(arrays[n]), arrays[n :: self._count]
            if row is None or len(own) != len(row.arrays) or not all(map(is_, own, row.arrays)):
                return None
            rows.append((row.number, n, row))
        rows.sort(key=lambda each: each[0])
        first, arena = rows[0][0], rows[0][2].arena
        if any(row.arena is not arena or number != first + n for n, (number, _, row) in enumerate(rows)):
            return None
        return _Place(arrays, [row for _, _, row in rows], [n for _, n, _ in rows], self._columns, self._flat)

    def settle(self, tensor_of: Callable[[Variable], Tensor | None]) -> None:
        """Move the Tensors of these Variables into an arena, where they may."""
        found = [tuple([tensor_of(v) for v in self.variables[n :: self._count]]) for n in range(self._count)]
        members = [each for each in found if all(tensor is not None for tensor in each)]
        for tensors in members:
            self._arenas.find(tensors[0])
        new = {id(p) for p in self._arenas.homeless([tensors[0] for tensors in members])}
        self._arenas.take_in([tensors for tensors in members if id(tensors[0]) in new])  # type: ignore[misc]

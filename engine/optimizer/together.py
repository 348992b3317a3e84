"""Updates of parameters that lie in arenas: one operator for neighbours that are updated alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core import mode as modes
from engine.core.operators.opdef import Applier
from engine.core.place import is_cupy
from engine.eager.arena import Arenas, Row
from engine.eager.tensor import Parameter, Tensor, write
from engine.kernels.choice import TOGETHER
from engine.ops.elementwise import arithmetic
from engine.optimizer.groups import Group

if TYPE_CHECKING:
    from engine.optimizer.optimizer import Optimizer
    from engine.program.run.kernels import OneCall

Pairs = list[tuple[Any, Any]]
# Kernels that are cached; which neighbours are updated alike may change from step to step.
_CALLS = 64


class Due:
    """A row with the gradient and the way of its update in this step."""

    __slots__ = ("alike", "gradient", "number", "row")

    def __init__(self, row: Row, gradient: Tensor, alike: tuple[Any, ...], number: int) -> None:
        self.row = row
        self.gradient = gradient
        self.alike = alike  # factor of the learning rate, attributes, decay
        self.number = number  # of its pair


class Together:
    """Updates many parameters of an optimizer by ``flat``, the operator of its rule over flat arrays.

    Every bit is that of the update parameter by parameter, which is for those that can't lie in an arena, or
    whose gradient is not of their shape and dtype. Neighbours are updated at once where they have the same
    factor of the learning rate, the same attributes, and have made equally many steps. ``state`` names the
    slots as the operator does.
    """

    def __init__(self, flat: Applier[Any, Any], state: tuple[str, ...]) -> None:
        self._flat = flat
        self._state = state
        self.arenas = Arenas(state)
        self._usual: dict[int, _Usual] = {}  # by the id of a group
        self._calls: dict[Any, OneCall] = {}  # by arena, first and last row

    def __deepcopy__(self, memo: dict[int, Any]) -> Together:
        """One without arenas: copies of Tensors have memory of their own."""
        made = memo[id(self)] = Together(self._flat, self._state)
        return made

    def update(self, optimizer: Optimizer, group: Group, pairs: Pairs, lr: float) -> Pairs:
        """Update the parameters that lie in arenas, or on a GPU; returns the other pairs."""
        if pairs and is_cupy(pairs[0][0]._array) and modes.current().fast:
            return on_device(optimizer, group, pairs, lr)
        usual = self._usual.get(id(group))
        if usual is not None:
            gradients = usual.gradients(group, pairs)
            if gradients is not None:
                attributes = optimizer._attributes(group.options, None, None)
                rate = optimizer._rate_now(lr, usual.factor, usual.rows[0].tensors[0])
                if not (self._is_call_alone(optimizer) and usual.repeated(attributes, gradients, rate)):
                    alike = (usual.factor, attributes, None)
                    usual.remember(self._apply(optimizer, usual.rows, gradients, alike, lr))
                return []
            del self._usual[id(group)]
        return self._update(optimizer, group, pairs, lr)

    def _update(self, optimizer: Optimizer, group: Group, pairs: Pairs, lr: float) -> Pairs:
        """The same for a step that may differ from the last one."""
        new = [p for p in self.arenas.homeless([p for p, _ in pairs]) if not optimizer._uses_master(p)]
        if new:
            self.arenas.take_in([(p, *optimizer._state_of(p, p, group)) for p in new])
        alone, due, plain = [], [], optimizer._alike
        alike: Any = None
        for number, (parameter, gradient) in enumerate(pairs):
            row = self.arenas.find(parameter)
            if row is None or not _fits(parameter._array, gradient):
                alone.append((parameter, gradient))
                continue
            decay = parameter.regularizer or group.decay
            factor = parameter.optimize_attr["learning_rate"]
            if not (alike and optimizer._alike and alike[0] == factor and alike[2] is decay):
                alike = (factor, optimizer._attributes(group.options, decay, parameter), decay)
            if decay is not None:
                gradient, plain = optimizer._decayed(parameter, gradient, decay), False
            due.append(Due(row, gradient, alike, number))
        found = list(runs(due))
        for run in found:
            self._apply(optimizer, [d.row for d in run], [d.gradient for d in run], run[0].alike, lr)
        if plain and not alone and len(found) == 1:
            self._usual[id(group)] = _Usual(group, pairs, found[0], self._flat.opdef.index_of)
        return alone

    def _apply(
        self, optimizer: Optimizer, rows: list[Row], gradients: list[Tensor], alike: Any, lr: float
    ) -> tuple[OneCall, list[Any]] | None:
        """Update neighbours in an arena by one operator; returns the call of its kernel and what that was
        given, if it was all."""
        factor, attributes, _ = alike
        param, *state = rows[0].arena.stretch(rows[0], rows[-1])
        given: dict[str, Any] = dict(zip(self._state, state, strict=True))
        given["param"], given["grads"], given["skip_update"] = param, gradients, optimizer._skip_update
        given["learning_rate"] = optimizer._rate_now(lr, factor, param)
        opdef = self._flat.opdef
        inputs = [given[name] for name in opdef.input_names]
        made = None
        if self._is_call_alone(optimizer):
            arrays = [_array(value) for value in inputs]
            made = self._call(rows, attributes, arrays), arrays
            made[0](*arrays)
        else:
            self._flat(*inputs, **attributes)
        for row in rows:
            row.updated()
        return made

    def _is_call_alone(self, optimizer: Optimizer) -> bool:
        """Whether an update is the call of its kernel, without the mode around it: nothing observes it and
        nothing is cast."""
        return modes.current().fast and optimizer._skip_update is None

    def calls(self) -> list[tuple[int, int, OneCall]]:
        """The calls that updated neighbours so far: how many parameters, how many numbers in them, the
        kernel."""
        return [
            (last - first + 1, arena.rows[last].end - arena.rows[first].begin, call)
            for (arena, first, last), call in self._calls.items()
        ]

    def _call(self, rows: list[Row], attributes: dict[str, Any], arrays: list[Any]) -> OneCall:
        """The kernel for neighbours, the same one in each step."""
        from engine.program.run.kernels import OneCall  # with the first update, not with the engine

        place = (rows[0].arena, rows[0].number, rows[-1].number)
        found = self._calls.get(place)
        if found is None or found.attrs != attributes:
            if len(self._calls) >= _CALLS:
                self._calls.clear()
            found = self._calls[place] = OneCall(self._flat.opdef, attributes, arrays)
        return found


def on_device(optimizer: Optimizer, group: Group, pairs: Pairs, lr: float) -> Pairs:
    """Update parameters of a GPU where they lie: one launch for all that are updated alike.

    Returns the pairs that have to be updated one by one.
    """
    found = optimizer._rule.opdef.overrides.get(TOGETHER)
    left: Pairs = []
    alike: dict[Any, list[tuple[Tensor, Tensor, tuple[Tensor, ...], Parameter]]] = {}
    for parameter, gradient in pairs:
        decay = parameter.regularizer or group.decay
        if found is None or gradient.__class__ is not Tensor or not is_cupy(parameter._array):
            left.append((parameter, gradient))
            continue
        target = parameter
        if optimizer._uses_master(parameter):
            target = optimizer._memory.master(parameter)
            gradient = arithmetic.cast(gradient, out_dtype="float32")
        if decay is not None:
            gradient = optimizer._decayed(target, gradient, decay)
        state = optimizer._state_of(parameter, target, group)
        attributes = optimizer._attributes(group.options, decay, parameter)
        factor = parameter.optimize_attr["learning_rate"]
        key = (factor, target._array.dtype, tuple(sorted(attributes.items())))
        alike.setdefault(key, []).append((target, gradient, state, parameter))
    for (factor, _, attributes), members in alike.items():
        rate = optimizer._rate_now(lr, factor, members[0][0])
        columns = {"param": [target._array for target, *_ in members]}
        for n, slot in enumerate(optimizer._state):
            columns[slot] = [state[n]._array for _, _, state, _ in members]
        shared = {"learning_rate": rate._array, "skip_update": _array(optimizer._skip_update)}
        done = found[0](columns, [g._array for _, g, _, _ in members], shared, dict(attributes))
        for target, gradient, state, parameter in members:
            if done:
                for tensor in (target, *state):
                    write(tensor, tensor._array)
            else:
                decay = parameter.regularizer or group.decay
                optimizer._update(target, gradient, rate, state, group.options, decay, parameter)
            if target is not parameter:
                optimizer._from_master(parameter, target)
    return left


class _Usual:
    """What a step of a group was like in which all its parameters were updated at once, without decay.

    The next one mostly is the same: then a few comparisons of whole lists decide.
    """

    def __init__(self, group: Group, pairs: Pairs, run: list[Due], index_of: Mapping[str, int]) -> None:
        self._group = group  # held, so that its id stays its own
        self._parameters = [p for p, _ in pairs]
        self._grads_at, self._rate_at = index_of["grads"], index_of["learning_rate"]
        self._made: tuple[OneCall, list[Any]] | None = None
        self._order = [due.number for due in run]
        self.rows = [due.row for due in run]
        self.factor = run[0].alike[0]
        self._ids = list(map(id, self._parameters))
        self._tensors = [t for row in self.rows for t in row.tensors]
        self._arrays = [id(a) for row in self.rows for a in row.arrays]  # which the rows hold
        self._shapes = [p._array.shape for p in self._parameters]
        self._dtypes = [p._array.dtype for p in self._parameters]

    def gradients(self, group: Group, pairs: Pairs) -> list[Tensor] | None:
        """The gradients in the order of ``rows``; None where this step is another one."""
        parameters, given = [p for p, _ in pairs], [g for _, g in pairs]
        if list(map(id, parameters)) != self._ids or group.decay is not None:
            return None
        if [id(t._array) for t in self._tensors] != self._arrays:
            return None
        for parameter in parameters:
            if parameter.regularizer is not None or parameter.optimize_attr["learning_rate"] != self.factor:
                return None
        for gradient, shape, dtype in zip(given, self._shapes, self._dtypes, strict=True):
            if gradient.__class__ is not Tensor:
                return None
            array = gradient._array
            if array.shape != shape or array.dtype != dtype or array.__class__ is not np.ndarray:
                return None
        first, last = self.rows[0], self.rows[-1]
        return [given[n] for n in self._order] if first.arena.uniform(first, last) else None

    def remember(self, made: tuple[OneCall, list[Any]] | None) -> None:
        """Keep the call of a step and its arrays, but for the gradients, whose memory may go."""
        self._made = made
        if made is not None:
            made[1][self._grads_at] = ()

    def repeated(self, attributes: dict[str, Any], gradients: list[Tensor], rate: Tensor) -> bool:
        """Call the kernel that the last step called, where it was one with these attributes."""
        if self._made is None or self._made[0].attrs != attributes:
            return False
        call, arrays = self._made
        arrays[self._grads_at] = [g._array for g in gradients]
        arrays[self._rate_at] = rate._array
        call(*arrays)
        arrays[self._grads_at] = ()
        for row in self.rows:
            row.updated()
        return True


def runs(found: list[Due]) -> Iterator[list[Due]]:
    """Neighbours that are updated alike, in the same step of their powers, as runs."""
    found.sort(key=lambda due: (id(due.row.arena), due.row.number))
    run: list[Due] = []
    for due in found:
        if run:
            last = run[-1]
            neighbours = due.row.arena is last.row.arena and due.row.number == last.row.number + 1
            if not (neighbours and (due.alike is last.alike or due.alike == last.alike)):
                yield from _in_step(run)
                run = []
        run.append(due)
    if run:
        yield from _in_step(run)


def _in_step(run: list[Due]) -> Iterator[list[Due]]:
    """A run, in parts where the powers of its rows differ."""
    arena = run[0].row.arena
    if arena.uniform(run[0].row, run[-1].row):
        yield run
        return
    for _, part in groupby(run, key=lambda due: arena.power(due.row)):
        yield list(part)


def _fits(array: Any, gradient: Any) -> bool:
    """Whether a gradient can be read as it is, for a parameter with this array."""
    if gradient.__class__ is not Tensor:
        return False
    given = gradient._array
    return bool(given.__class__ is np.ndarray and given.dtype == array.dtype and given.shape == array.shape)


def _array(value: Any) -> Any:
    if value.__class__ is list:
        return [each._array for each in value]
    return None if value is None else value._array

"""ProgramModel: a model whose forward is a Program."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from engine.core.containers.identity import IdentitySet
from engine.core.containers.lru import LRU
from engine.core.errors import ArgumentError, UnreadyError
from engine.core.models.limits import current
from engine.core.values.spec import Spec
from engine.debugger.points import Failure, Site
from engine.debugger.subjects.stepped import points_of, sites_of
from engine.debugger.views import arrays_of, channels, extremes, histogram, numbers, view
from engine.eager.grad_mode import no_grad
from engine.eager.tensor import Tensor
from engine.explain.answers import Activation, Array, Value
from engine.explain.gradient_path import GradientPaths, with_gradients
from engine.explain.model import as_tensor, require_all
from engine.jit.input_gradients import input_gradients
from engine.jit.translated_layer import SavedFunction
from engine.program.graph.program import Program, Variable, reads, writes
from engine.program.run.stages.choose import module_for
from engine.program.run.stepping.plan import SteppingPlan

_BINS = 32
_CHANNELS = 36  # of an operator at once
# Values of the last activations that are retained; others are computed again when they are asked for.
RETAINED_BYTES = 256 << 20

_Plan = tuple[SteppingPlan, Mapping[int, Site], Set[str]]


class ProgramModel:
    """A model whose forward is ``function``.

    ``predict`` computes its outputs where that is done otherwise than by the Program without passes that take
    the weights as they are.
    """

    def __init__(self, function: SavedFunction, predict: Callable[..., Any] | None = None) -> None:
        self._function, self._predict = function, predict
        program = with_gradients(function.program, function.inputs)
        same = program is function.program
        self._differentiated = function if same else SavedFunction(function.name, program)
        self.inputs = [_value(v) for v in function.inputs]
        self.outputs = [_value(v) for v in function.outputs]
        self._plans: LRU[Any, _Plan] = LRU("plans")  # by the shapes of the inputs
        self._paths: dict[int, GradientPaths] = {}
        self._reasons: dict[tuple[int, int], str] = {}
        self._sizes: LRU[Any, int] = LRU("plans")
        self._sample: list[Array] | None = None
        self._values: dict[str, Any] = {}

    def why_no_activations(self) -> str:
        return ""

    def why_no_gradient(self, input: int, output: int) -> str:
        function = self._differentiated
        if (input, output) not in self._reasons:
            if input not in self._paths:
                self._paths[input] = GradientPaths(function.program, function.inputs[input])
            self._reasons[input, output] = self._paths[input].why_not(function.outputs[output])
        return self._reasons[input, output]

    def bytes_of(self, arrays: Sequence[Array]) -> int:
        key = tuple(array.shape for array in arrays)
        return self._sizes.get(key) or self._sizes.ensure(key, lambda: self._bytes_of(arrays))

    def _bytes_of(self, arrays: Sequence[Array]) -> int:
        program = self._function.program
        if any(-1 in v.spec.shape[1:] for v in self._function.inputs):
            program = self._function.unoptimized(self._tensors(arrays))[0]
        batch = max([array.shape[0] for array in arrays if array.ndim], default=1)
        computed = (v for block in program.blocks for v in block.vars.values() if not v.persistable)
        return sum(
            math.prod(batch if n == 0 and size < 0 else max(size, 1) for n, size in enumerate(v.spec.shape))
            * v.dtype.np.itemsize
            for v in computed
        )

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        with no_grad():
            if self._predict is not None:
                found = self._predict(*self._tensors(arrays))
                results = list(found) if isinstance(found, (list, tuple)) else [found]
            else:
                tensors = self._tensors(arrays)
                results = self._function.runner_for(tensors, None)(tensors)
        return [numbers(result._array) for result in results]

    def gradient(
        self, arrays: Sequence[Array], input: int, output: int, incoming: Array
    ) -> tuple[Array, Array]:
        tensors = self._tensors(arrays)

        def given(outputs: list[Tensor]) -> list[Tensor | None]:
            wanted = outputs[output]
            if tuple(wanted.shape) != incoming.shape:
                raise ArgumentError(
                    f"explain: the output has shape {list(wanted.shape)}, its gradient "
                    f"{list(incoming.shape)}; give a gradient of the same shape"
                )
            seed = as_tensor(incoming, wanted.dtype)
            return [seed if n == output else None for n in range(len(outputs))]

        runner = self._differentiated.runner_for(tensors, None)
        outputs, gradients = input_gradients(runner, tensors, (input,), given)
        if not gradients:
            raise ArgumentError("explain: the output does not depend on the input; choose another one")
        return numbers(outputs[output]._array), numbers(gradients[0]._array)

    def activations(self, arrays: Sequence[Array], wanted: Sequence[str], side: int) -> list[Activation]:
        chosen = set(wanted)
        found: dict[tuple[Any, str], Activation] = {}
        self._sample, self._values = list(arrays), {}
        retained, most = 0, RETAINED_BYTES
        if self._function.program.foreign:
            most = min(most, current().memory // 4)
        for site, variable, value in self._run_each(arrays):
            known = self._values.pop(variable, None)
            retained += _bytes(value) - (0 if known is None else _bytes(known))
            if retained <= most:
                self._values[variable] = value
            else:
                retained -= _bytes(value)
            # Of a loop that of its last iteration.
            found.pop((site.where, variable), None)
            found[site.where, variable] = _activation(site, variable, value, variable in chosen, side)
        return list(found.values())

    def view(self, variable: str, kind: str, options: dict[str, Any]) -> dict[str, Any]:
        return view(self._value(variable), kind, options)

    def values(self, variable: str) -> Array:
        found = list(arrays_of(self._value(variable)))
        if len(found) != 1:
            raise ArgumentError(
                f"explain: {variable!r} is a list of {len(found)} tensors; look at it by view"
            )
        return np.array(numbers(found[0]))

    def close(self) -> None:
        self._sample, self._values = None, {}

    def _tensors(self, arrays: Sequence[Array]) -> list[Tensor]:
        require_all(self.inputs, arrays)
        return [as_tensor(array, v.dtype) for array, v in zip(arrays, self._function.inputs, strict=True)]

    def _run_each(self, arrays: Sequence[Array]) -> Iterator[tuple[Site, str, Any]]:
        """The site, name and value of each result that depends on the sample, as operators compute them."""
        tensors = self._tensors(arrays)
        given = [t._array for t in tensors]
        key = tuple((a.__class__, a.shape, a.dtype) for a in given)
        plan, sites, shown = self._plans.get(key) or self._plans.ensure(key, lambda: self._plan(tensors))
        bound = [v.tensor._array for v in plan.inputs[len(given) :]]
        try:
            for point in points_of(plan.begin([*given, *bound]), sites):
                for variable, value in point.outputs:
                    if variable in shown and value is not None:
                        copied = point.changing and hasattr(value, "copy")
                        yield point.site, variable, value.copy() if copied else value
        except Failure as failed:
            raise failed.error from None

    def _plan(self, tensors: Sequence[Tensor]) -> _Plan:
        program, taken, outputs, given = self._function.unoptimized(tensors)
        arrays = [t._array for t in given]
        feeds = {v.name: Spec(a.shape, t.dtype) for v, a, t in zip(taken, arrays, given, strict=True)}
        variables = [*taken, *program.bound()]
        everything = [*arrays, *(v.tensor._array for v in program.bound())]
        plan = SteppingPlan(
            program, program.global_block().ops, variables, outputs, feeds, module_for(everything)
        )
        return plan, sites_of("forward", plan), _shown(program, taken, outputs)

    def _value(self, variable: str) -> Any:
        if variable in self._values:
            return self._values[variable]
        if self._sample is None:
            raise UnreadyError("explain: no sample was run yet; call activations first")
        found: Any = None
        for _, name, value in self._run_each(self._sample):
            if name == variable:
                found = value
        if found is None:
            raise ArgumentError(
                f"explain: no operator computes {variable!r}; choose a variable of activations"
            )
        return found


def _shown(program: Program, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> Set[str]:
    """The names of what depends on the inputs and is read: no reshaped bias, no statistics."""
    reached, read = IdentitySet(inputs), IdentitySet(outputs)
    for operator in program.global_block().ops:
        read.update(reads(operator))
        if any(v in reached for v in reads(operator)):
            reached.update(writes(operator))
    # What branches and loops compute is shown.
    inner = {name for block in program.blocks[1:] for name in block.vars}
    return {v.name for v in reached if v in read and not v.persistable} | inner


def _value(variable: Variable) -> Value:
    return Value(variable.name, tuple(variable.spec.shape), variable.dtype.name)


def _bytes(value: Any) -> int:
    return sum(int(array.nbytes) for array in arrays_of(value))


def _activation(site: Site, variable: str, value: Any, wanted: bool, side: int) -> Activation:
    known = extremes(value)
    shape = tuple(known.shape or ())
    images, total, counts = None, 0, []
    if wanted and hasattr(value, "dtype"):
        if len(shape) >= 3:
            images, described = channels(value, count=_CHANNELS, side=side)
            total = described["total"]
        else:
            counts = histogram(value, _BINS)["counts"]
    block, op = site.where[-1]
    return Activation(
        block,
        op,
        site.operator,
        variable,
        site.layer,
        shape,
        known.dtype,
        known.zero / known.count if known.count else 0.0,
        known.nan + known.positive_infinite + known.negative_infinite,
        None if math.isnan(known.minimum) else known.minimum,
        None if math.isnan(known.maximum) else known.maximum,
        images,
        total,
        tuple(counts),
    )

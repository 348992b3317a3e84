"""Updates of many parameters at once: one operator over arrays that hold them, and their state, end to end.

``adam_flat`` is ``adam`` over ``param`` [N], which is k parameters one after the other; its moments are [N]
in the same order and its powers [k], all equal. ``grads`` are the parameters' gradients in order, of any
shapes, N elements together: they need not be in one array. All other slots and the attributes are those of
the operator for one parameter, and so is every bit of the result. ``sgd_flat``, ``momentum_flat``,
``adamw_flat``, ``adagrad_flat``, ``rmsprop_flat``, ``adadelta_flat`` and ``adamax_flat`` are created alike.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from engine.core.errors import DTypeError, ShapeError
from engine.core.operators.opdef import Applier, OpDef, op
from engine.core.place import ArrayModule
from engine.core.values.spec import Spec
from engine.kernels.cpu.ranges import in_ranges
from engine.ops.training import parameter_updates

# Gradients of fewer elements are copied side by side, so that one call of the kernel serves many of them;
# larger ones are read where they are. Measured: 0.43 us a NumPy call against 0.4 ns an element copied.
TOGETHER = 16_384


def stretches(xp: ArrayModule, grads: Sequence[Any]) -> Iterator[tuple[int, int, Any]]:
    """Begin and end of stretches of all elements, with their gradients side by side in one array [n]."""
    begin, size = 0, 0
    waiting: list[Any] = []
    for gradient in grads:
        if gradient.size >= TOGETHER:
            if waiting:
                yield begin, begin + size, _joined(xp, waiting)
                begin, waiting, size = begin + size, [], 0
            yield begin, begin + gradient.size, gradient.reshape(-1)
            begin += gradient.size
            continue
        waiting.append(gradient.reshape(-1))
        size += gradient.size
        if size >= TOGETHER:
            yield begin, begin + size, _joined(xp, waiting)
            begin, waiting, size = begin + size, [], 0
    if waiting:
        yield begin, begin + size, _joined(xp, waiting)


def _joined(xp: Any, arrays: list[Any]) -> Any:
    return arrays[0] if len(arrays) == 1 else xp.concatenate(arrays)


def is_power(name: str) -> bool:
    """Whether a slot holds one number for each parameter: a power of a beta."""
    return name.endswith("_pow")


def _flat(one: Applier[Any, Any]) -> Applier[Any, Any]:
    """The operator over many parameters that are updated as ``one`` updates a single one."""
    opdef: OpDef = one.opdef
    names = opdef.input_names
    written = [output.writes for output in opdef.outputs]
    powers = [n for n, name in enumerate(names) if is_power(name)]
    at, param = names.index("grad"), names.index("param")
    whole = [n for n, name in enumerate(names) if name in written and n not in powers]

    def kernel(xp: Any, *inputs: Any, **attrs: Any) -> Any:
        found = list(stretches(xp, inputs[at]))
        after = [inputs[n][:1] for n in powers]  # all are in the same step

        def work(part: slice) -> None:
            for begin, end, gradient in found:
                low, high = max(begin, part.start), min(end, part.stop)
                if low >= high:
                    continue
                given = list(inputs)
                given[at] = gradient[low - begin : high - begin]
                for n in whole:
                    given[n] = inputs[n][low:high]
                for n in powers:
                    given[n] = inputs[n][:1].copy()
                opdef.kernel(xp, *given, **attrs)
                after[:] = [given[n] for n in powers]  # the same numbers, whichever part is last

        length = found[-1][1] if found else 0
        # SGD walks over one array besides the gradient, Adam over three, in six times the time.
        in_ranges(length, length * len(whole) * (len(whole) + 1) // 2 if xp is np else 0, work)
        for n, power in zip(powers, after, strict=True):
            inputs[n][...] = power
        results = tuple([inputs[names.index(name)] for name in written])
        return results[0] if opdef.single else results

    parameters = []
    for parameter in inspect.signature(opdef.kernel).parameters.values():
        if parameter.name == "grad":
            parameter = parameter.replace(name="grads", annotation=list)
        parameters.append(parameter)
    kernel.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    kernel.__name__ = kernel.__qualname__ = f"{opdef.name}_flat"
    kernel.__doc__ = f"``{opdef.name}`` of many parameters that lie end to end, see the head of this file."

    def infer(*inputs: Any, **_: Any) -> Any:
        _require_together(f"{opdef.name}_flat", inputs[param], inputs[at])
        for n in whole:
            if inputs[n].shape != inputs[param].shape or inputs[n].dtype is not inputs[param].dtype:
                raise ShapeError(
                    f"{opdef.name}_flat: {names[n]} is {inputs[n]}: param is {inputs[param]}; make them alike"
                )
        specs = tuple([inputs[names.index(name)] for name in written])
        return specs[0] if opdef.single else specs

    writes = {output.name: output.writes for output in opdef.outputs if output.writes is not None}
    made: Callable[..., Any] = op(
        f"{opdef.name}_flat", infer=infer, outputs=opdef.output_names, writes=writes, slots={"grads": "Grad"}
    )(kernel)
    return made  # type: ignore[return-value]


def _require_together(where: str, param: Spec, grads: Sequence[Spec]) -> None:
    """Raise where gradients are not as many numbers as the parameters, or of another dtype."""
    if param.ndim != 1:
        raise ShapeError(f"{where}: param is {param}: it must have one dimension; reshape it to [-1]")
    for gradient in grads:
        if gradient.dtype is not param.dtype:
            raise DTypeError(f"{where}: a gradient is {gradient}: param is {param}; cast the gradient")
    sizes = [_size(gradient) for gradient in grads]
    if -1 not in sizes and param.shape[0] not in (-1, sum(sizes)):
        raise ShapeError(
            f"{where}: the gradients have {sum(sizes)} elements together: param is {param}; pass one "
            "gradient for each parameter, in order"
        )


def _size(spec: Spec) -> int:
    total = 1
    for length in spec.shape:
        if length == -1:
            return -1
        total *= length
    return total


sgd_flat = _flat(parameter_updates.sgd)
momentum_flat = _flat(parameter_updates.momentum)
adam_flat = _flat(parameter_updates.adam)
adamw_flat = _flat(parameter_updates.adamw)
adagrad_flat = _flat(parameter_updates.adagrad)
rmsprop_flat = _flat(parameter_updates.rmsprop)
adadelta_flat = _flat(parameter_updates.adadelta)
adamax_flat = _flat(parameter_updates.adamax)

# By the name of the operator for one parameter.
FLAT: dict[str, Applier[Any, Any]] = {
    made.opdef.name.removesuffix("_flat"): made
    for made in (
        sgd_flat,
        momentum_flat,
        adam_flat,
        adamw_flat,
        adagrad_flat,
        rmsprop_flat,
        adadelta_flat,
        adamax_flat,
    )
}

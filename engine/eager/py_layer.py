"""PyLayer: an operator whose gradient is the user's own function, on the tape and in a Program."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from engine.core import mode as modes
from engine.core.dtype import DType
from engine.core.errors import ArgumentError, DTypeError, GradientError, ShapeError
from engine.core.frames import outside
from engine.core.operator import Leaf, Operator
from engine.core.place import array_module
from engine.eager.mode import connect, versions_of
from engine.eager.saved_hooks import packed
from engine.eager.tensor import Tensor, counter_of, wrap
from engine.ops.arrays import shape
from engine.ops.control.py_layer import py_layer
from engine.ops.elementwise import math


class PyLayerContext:
    """What ``forward`` hands to ``backward``: saved tensors, and whatever is set as an attribute."""

    def __init__(self) -> None:
        self.container: tuple[Any, ...] | None = None
        self.not_inplace_tensors: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materialize_grads = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep ``tensors`` (inputs, results or others) for ``backward``; a change in place is noticed."""
        self.container = tensors

    def saved_tensor(self) -> tuple[Any, ...] | None:
        """What ``save_for_backward`` kept, None if it was not called."""
        return self.container

    def mark_not_inplace(self, *args: Any) -> None:
        """An input among ``args`` that ``forward`` returns becomes a new tensor, itself unchanged."""
        self.not_inplace_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Results that get no gradient; ``backward`` sees zeros for them."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """With False ``backward`` gets None, not zeros, for results that nothing flowed back to."""
        self.materialize_grads = bool(value)


class PyLayer(PyLayerContext):
    """An operator written in Python: static methods ``forward(ctx, ...)`` and ``backward(ctx, *grads)``.

    ``forward`` runs without recording. ``backward`` gets one gradient for each Tensor that ``forward``
    returned and gives one for each Tensor it was given (None for those that need none). If ``backward`` is
    made of operators it can be differentiated again. Call it with ``apply``.
    """

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        """The computation; every PyLayer defines its own."""
        raise NotImplementedError("PyLayer: has no forward; define the static method forward(ctx, ...)")

    @staticmethod
    def backward(ctx: PyLayerContext, *args: Any) -> Any:
        """The gradients of the inputs from those of the results; every PyLayer defines its own."""
        raise NotImplementedError("PyLayer: has no backward; define the static method backward(ctx, *grads)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward`` on the arguments and record ``backward`` for its results.

        Tensors may stand among the arguments, or directly in lists and tuples among them. An input that
        ``forward`` returns counts as changed in place, unless it is marked otherwise. Raises ArgumentError if
        ``forward`` gives no Tensor, GradientError if it returns a leaf that backward needs.
        """
        context = PyLayerContext()
        mode = modes.current()
        with modes.use(mode.with_grad(False)):
            result = cls.forward(context, *args, **kwargs)
        inputs = list(_tensors((*args, *kwargs.values())))
        outputs = list(_tensors(result if isinstance(result, (list, tuple)) else (result,)))
        if not outputs:
            raise ArgumentError(
                f"{cls.__name__}: forward gave no Tensor: got {type(result).__name__}; return a Tensor, or a "
                "tuple with Tensors in it"
            )
        # Recording on what is given out, not on copies: results that were saved lead back to the record.
        kept = {id(t) for t in context.not_inplace_tensors}
        outputs = [shape.detach(o) if id(o) in kept else o for o in outputs]
        if mode.grad:
            record = _in_program if mode.static else _on_tape
            outputs = record(Rule(cls, context, inputs), inputs, outputs)
        context.container = None
        made = iter(outputs)
        if isinstance(result, (list, tuple)):
            return type(result)([_replaced(r, made) for r in result])
        return next(made)

    # Converted code converts these first: they are the user's.
    apply.__func__._calls_members = ("forward", "backward")  # type: ignore[attr-defined]


def _replaced(value: Any, made: Iterator[Any]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([next(made) if _is_tensor(v) else v for v in value])
    return next(made) if _is_tensor(value) else value


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or modes.is_symbolic(value)


def _tensors(values: Sequence[Any]) -> Iterator[Any]:
    """The Tensors among ``values``, and in lists and tuples directly in them."""
    for value in values:
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if _is_tensor(each):
                yield each


class Rule:
    """The gradient of one application of a PyLayer: runs the user's ``backward`` and checks what it gives."""

    def __init__(self, layer: type[PyLayer], context: PyLayerContext, inputs: list[Any]) -> None:
        self.layer = layer
        self.context = context
        self.dtypes: list[DType] = [t.dtype for t in inputs]
        self.needed = [not t.stop_gradient for t in inputs]
        # Of what was saved: where backward finds it ("saved", "out" and a position), or ("value", itself).
        self.places: list[tuple[str, Any]] | None = None
        self.zeros: list[tuple[Any, Any, Any]] = []  # of the results: shape, dtype and array module
        self.fields: list[tuple[str, int]] = []  # attributes of the context that are Variables

    def keep(self, outputs: list[Any]) -> list[Any]:
        """Remember where what was saved is found again; returns what is no result, to be kept as inputs."""
        if self.context.container is None:
            return []
        position = {id(o): n for n, o in enumerate(outputs)}
        saved: list[Any] = []
        self.places = []
        for value in self.context.container:
            if id(value) in position:
                self.places.append(("out", position[id(value)]))
            elif _is_tensor(value):
                self.places.append(("saved", len(saved)))
                saved.append(value)
            else:
                self.places.append(("value", value))
        return saved

    def __call__(
        self, grads: Sequence[Any], outs: Sequence[Any], specs: Sequence[Any], saved: Sequence[Any]
    ) -> list[Any]:
        context = self.context
        given = [self._given(n, g, outs) for n, g in enumerate(grads)]
        for field, n in self.fields:
            setattr(context, field, saved[n])
        if self.places is not None:
            found = {"saved": saved, "out": outs}
            context.container = tuple([found[k][p] if k in found else p for k, p in self.places])
        try:
            result = self.layer.backward(context, *given)
        finally:
            context.container = None
        return self._checked(list(result) if isinstance(result, (list, tuple)) else [result], specs)

    def _given(self, n: int, gradient: Any, outs: Sequence[Any]) -> Any:
        if gradient is not None or not self.context.materialize_grads:
            return gradient
        if not self.zeros:
            return shape.fill_like(outs[n], value=0.0)
        size, dtype, xp = self.zeros[n]
        return wrap(xp.zeros(size, dtype))

    def _checked(self, found: list[Any], specs: Sequence[Any]) -> list[Any]:
        where = f"{self.layer.__name__}.backward"
        count = len(self.needed)
        if len(found) > count or any(self.needed[len(found) :]):
            raise GradientError(
                f"{where}: gave {len(found)} gradient(s) for the {count} tensor(s) that forward was given; "
                "return one for each, in their order, None for those that need none"
            )
        found += [None] * (count - len(found))
        for n, gradient in enumerate(found):
            if not self.needed[n]:
                found[n] = None
            elif gradient is not None:
                found[n] = _fitting(f"{where}: gradient {n}", gradient, specs[n], self.dtypes[n])
        return found


def _fitting(where: str, gradient: Any, spec: Any, dtype: DType) -> Any:
    if not _is_tensor(gradient):
        raise DTypeError(f"{where}: must be a Tensor or None: got {type(gradient).__name__}")
    have, want = _dims(gradient), _dims(spec)
    if len(have) != len(want) or any(a != b and -1 not in (a, b) for a, b in zip(have, want, strict=True)):
        raise ShapeError(f"{where}: has shape {list(have)}: its tensor {list(want)}; they must be equal")
    return gradient if gradient.dtype is dtype else math.cast(gradient, out_dtype=dtype.name)


def _dims(value: Any) -> tuple[int, ...]:
    return tuple(value.spec.shape) if modes.is_symbolic(value) else tuple(value.shape)


def _on_tape(rule: Rule, inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """Records ``rule`` for the outputs and gives them edges; returns them."""
    if not any(rule.needed):
        return outputs
    given = {id(t) for t in inputs}
    made: list[Tensor] = []
    for output in outputs:
        if id(output) in given and output._edge.__class__ is Leaf:
            raise GradientError(
                f"{rule.layer.__name__}: forward returned the leaf {output.name!r}, which counts as changed "
                "in place, but backward needs its value; call ctx.mark_not_inplace() with it, or return a "
                "new tensor"
            )
        taken = any(output is m for m in made) or (output._edge is not None and id(output) not in given)
        made.append(shape.detach(output) if taken else output)
    apart = {id(t) for t in rule.context.non_differentiable}
    node = Operator(py_layer.opdef, None, {"rule": rule})
    node.edges = (None, [t._edge for t in inputs], None)
    saved = rule.keep(made)
    node.inputs = (None, None, saved)
    node.versions = versions_of(node.inputs)
    node.inputs = (None, None, [packed(t) for t in saved])
    node.shapes = tuple([o._array.shape for o in made])
    frame = outside(sys._getframe(1))
    node.code, node.instruction = frame.f_code, frame.f_lasti
    rule.zeros = [(o._array.shape, o._array.dtype, array_module(o._array)) for o in made]
    reread = {p for kind, p in rule.places or () if kind == "out"}
    counters = [counter_of(made[n]) for n in sorted(reread)]
    node.counters = tuple([(c, c.count) for c in counters])
    node.outputs = tuple([packed(o, o._array) if n in reread else None for n, o in enumerate(made)])
    for output in made:
        output._edge = None  # also where it is an input that was changed in place
    connect([None if id(o) in apart else o for o in made], node)
    return made


def _in_program(rule: Rule, inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """Appends an operator with ``rule`` that stands between the outputs and what reads them."""
    saved = rule.keep(outputs)
    for field, value in vars(rule.context).items():
        if modes.is_symbolic(value):
            rule.fields.append((field, len(saved)))
            saved.append(value)
    apart = [any(o is t for t in rule.context.non_differentiable) for o in outputs]
    made = list(py_layer(outputs, inputs, saved, rule=rule))
    for each, stop in zip(made, apart, strict=True):
        each.stop_gradient = each.stop_gradient or stop
    return made

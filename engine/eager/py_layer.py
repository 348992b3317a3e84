"""PyLayer: an operator with a gradient written by the user in Python, on the tape and in a Program."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, Literal, TypeAlias

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, GradientError, ShapeError
from engine.core.frames import outside
from engine.core.operators.operator import Leaf, Operator
from engine.core.place import array_module
from engine.core.values.dtype import DType
from engine.eager.mode import connect, versions_of
from engine.eager.saved_hooks import packed
from engine.eager.tensor import Tensor, counter_of, wrap
from engine.ops.arrays import creation, shape
from engine.ops.control.py_layer import py_layer
from engine.ops.elementwise import arithmetic

Value: TypeAlias = Any
"""A Tensor, or under a Builder a Variable (a class that this room may not import)."""


class PyLayerContext:
    """Carries values from ``forward`` to ``backward``: saved tensors, and any attribute that is set on it."""

    def __init__(self) -> None:
        self.container: tuple[Any, ...] | None = None
        self.not_inplace_tensors: tuple[Value, ...] = ()
        self.non_differentiable: tuple[Value, ...] = ()
        self.materialize_grads = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep ``tensors`` (inputs, results or others) for ``backward``.

        ``backward`` raises GradientError if one of them was changed in place since.
        """
        self.container = tensors

    def saved_tensor(self) -> tuple[Any, ...] | None:
        """The values given to ``save_for_backward``, None if it was not called."""
        return self.container

    def mark_not_inplace(self, *args: Value) -> None:
        """Declare that ``forward`` does not change ``args`` in place.

        Where ``forward`` returns such an input, the result is a new tensor and the input stays as it is.
        """
        self.not_inplace_tensors = args

    def mark_non_differentiable(self, *args: Value) -> None:
        """Declare that the results ``args`` get no gradient; ``backward`` receives zeros for them."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """With False ``backward`` receives None instead of zeros for a result without a gradient."""
        self.materialize_grads = bool(value)


class PyLayer(PyLayerContext):
    """An operator written in Python: static methods ``forward(ctx, ...)`` and ``backward(ctx, *grads)``.

    ``forward`` runs without recording. ``backward`` takes one gradient for each Tensor that ``forward``
    returned and returns one for each Tensor that ``forward`` took (None for those that need none). A
    ``backward`` that consists of operators can be differentiated again. Call the layer with ``apply``.
    """

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        """The computation; every subclass defines it."""
        raise NotImplementedError(
            "PyLayer: the subclass has no forward; define the static method forward(ctx, ...)"
        )

    @staticmethod
    def backward(ctx: PyLayerContext, *args: Any) -> Any:
        """The gradients of the inputs from those of the results; every subclass defines it."""
        raise NotImplementedError(
            "PyLayer: the subclass has no backward; define the static method backward(ctx, *grads)"
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run ``forward`` on the arguments and record ``backward`` for its results.

        Gradients flow to the Tensors among the arguments and to those directly in lists and tuples among
        them. An input that ``forward`` returns counts as changed in place, unless ``mark_not_inplace`` names
        it. Raises ArgumentError if ``forward`` returns no Tensor, GradientError if it returns a leaf whose
        value backward needs.
        """
        context = PyLayerContext()
        mode = modes.current()
        with modes.use(mode.with_grad(False)):
            result = cls.forward(context, *args, **kwargs)
        inputs = list(_tensors((*args, *kwargs.values())))
        outputs = list(_tensors(result if isinstance(result, (list, tuple)) else (result,)))
        if not outputs:
            raise ArgumentError(
                f"{cls.__name__}: forward returned no Tensor: got {type(result).__name__}; return a Tensor, "
                "or a tuple with Tensors in it"
            )
        # The returned tensors themselves are recorded, not copies: saved results then lead to the record.
        unchanged = {id(t) for t in context.not_inplace_tensors}
        outputs = [shape.detach(o) if id(o) in unchanged else o for o in outputs]
        if mode.grad:
            record = _in_program if mode.static else _on_tape
            outputs = record(Rule(cls, context, inputs), inputs, outputs)
        context.container = None
        made = iter(outputs)
        if isinstance(result, (list, tuple)):
            return type(result)([_replaced(r, made) for r in result])
        return next(made)

    # to_static converts these two functions before it runs ``apply``, because they are the user's code.
    apply.__func__._calls_members = ("forward", "backward")  # type: ignore[attr-defined]


def _replaced(value: Any, made: Iterator[Value]) -> Any:
    """``value`` with the Tensors in it replaced by the next ones of ``made``."""
    if isinstance(value, (list, tuple)):
        return type(value)([next(made) if _is_tensor(v) else v for v in value])
    return next(made) if _is_tensor(value) else value


def _is_tensor(value: object) -> bool:
    return isinstance(value, Tensor) or modes.is_symbolic(value)


def _tensors(values: Sequence[Any]) -> Iterator[Value]:
    """The Tensors among ``values`` and in lists and tuples directly among them."""
    for value in values:
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if _is_tensor(each):
                yield each


SavedPlace: TypeAlias = tuple[Literal["saved", "out"], int] | tuple[Literal["value"], object]
"""The location of a saved value: a position among the saved inputs or the results, or the value."""


class Rule:
    """The gradient rule of one PyLayer call: runs the user's ``backward`` and checks the gradients.

    Raises GradientError for the wrong number of gradients, DTypeError for one that is not a Tensor,
    ShapeError for one of another shape than its input.
    """

    def __init__(self, layer: type[PyLayer], context: PyLayerContext, inputs: list[Value]) -> None:
        self.layer = layer
        self.context = context
        self.dtypes: list[DType] = [t.dtype for t in inputs]
        self.needed = [not t.stop_gradient for t in inputs]
        # The location of each saved value.
        self.places: list[SavedPlace] | None = None
        # Shape, dtype and array module of each result.
        self.zeros: list[tuple[tuple[int, ...], np.dtype[Any], ModuleType]] = []
        # Attributes of the context that are Variables: name, and position among the saved values.
        self.fields: list[tuple[str, int]] = []

    def keep(self, outputs: list[Value]) -> list[Value]:
        """Note where each saved value can be found; returns those that are not results, to keep as inputs."""
        if self.context.container is None:
            return []
        position = {id(o): n for n, o in enumerate(outputs)}
        saved: list[Value] = []
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
        self, grads: Sequence[Value], outs: Sequence[Value], specs: Sequence[Any], saved: Sequence[Value]
    ) -> list[Value]:
        """The gradients of the inputs.

        ``grads`` are those of the results, None where nothing flowed back; ``specs`` have the inputs' shapes.
        """
        context = self.context
        given = [self._given(n, g, outs) for n, g in enumerate(grads)]
        for field, n in self.fields:
            setattr(context, field, saved[n])
        if self.places is not None:
            found = {"saved": saved, "out": outs}
            context.container = tuple(
                [place[1] if place[0] == "value" else found[place[0]][place[1]] for place in self.places]
            )
        try:
            result = self.layer.backward(context, *given)
        finally:
            context.container = None
        return self._checked(list(result) if isinstance(result, (list, tuple)) else [result], specs)

    def _given(self, n: int, gradient: Value | None, outs: Sequence[Value]) -> Value | None:
        if gradient is not None or not self.context.materialize_grads:
            return gradient
        if not self.zeros:
            return creation.fill_like(outs[n], value=0.0)
        size, dtype, xp = self.zeros[n]
        return wrap(xp.zeros(size, dtype))

    def _checked(self, found: list[Value | None], specs: Sequence[Any]) -> list[Value | None]:
        where = f"{self.layer.__name__}.backward"
        count = len(self.needed)
        if len(found) > count or any(self.needed[len(found) :]):
            raise GradientError(
                f"{where}: returned {len(found)} gradient(s) for the {count} tensor(s) that forward took; "
                "return one for each, in their order, None for those that need none"
            )
        found += [None] * (count - len(found))
        for n, gradient in enumerate(found):
            if not self.needed[n]:
                found[n] = None
            elif gradient is not None:
                found[n] = _fitting(f"{where}: gradient {n}", gradient, specs[n], self.dtypes[n])
        return found


def _fitting(where: str, gradient: Value, spec: Any, dtype: DType) -> Value:
    """``gradient`` in ``dtype``; raises DTypeError or ShapeError where it does not fit its input."""
    if not _is_tensor(gradient):
        raise DTypeError(
            f"{where}: must be a Tensor or None: got {type(gradient).__name__}; return a Tensor of the "
            "input's shape"
        )
    have, want = _dims(gradient), _dims(spec)
    if len(have) != len(want) or any(a != b and -1 not in (a, b) for a, b in zip(have, want, strict=True)):
        raise ShapeError(f"{where}: has shape {list(have)}, its input {list(want)}; make them equal")
    return gradient if gradient.dtype is dtype else arithmetic.cast(gradient, out_dtype=dtype.name)


def _dims(value: Any) -> tuple[int, ...]:
    return tuple(value.spec.shape) if modes.is_symbolic(value) else tuple(value.shape)


def _on_tape(rule: Rule, inputs: list[Tensor], outputs: list[Tensor]) -> list[Tensor]:
    """Record ``rule`` for the outputs and give them edges; returns the outputs."""
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
    reread = {place[1] for place in rule.places or () if place[0] == "out"}
    counters = [counter_of(made[n]) for n in sorted(reread)]
    node.counters = tuple([(c, c.count) for c in counters])
    node.outputs = tuple([packed(o, o._array) if n in reread else None for n, o in enumerate(made)])
    for output in made:
        output._edge = None  # also where it is an input that was changed in place
    connect([None if id(o) in apart else o for o in made], node)
    return made


def _in_program(rule: Rule, inputs: list[Value], outputs: list[Value]) -> list[Value]:
    """Append an operator with ``rule`` after the operators of ``forward``; returns its results."""
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

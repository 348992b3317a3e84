"""Derivatives of functions: products with the Jacobian from either side, Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.autograd.derivatives import Matrix, gradient
from engine.core.errors import ArgumentError, DTypeError, GradientError, ShapeError
from engine.eager.grad_mode import enable_grad
from engine.eager.tensor import Tensor
from engine.incubate.primitives import disable_prim, enable_prim, forward_grad, grad
from engine.incubate.primitives import prim2orig as prim2orig
from engine.incubate.primitives import prim_enabled as prim_enabled
from engine.ops.arrays import shape as shape_ops
from engine.program.backward.grad import grad as gradients_of
from engine.tensor import creation, manipulation
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.tensor_like import AnyTensor

__all__ = ["vjp", "jvp", "Jacobian", "Hessian", "enable_prim", "disable_prim", "forward_grad", "grad"]


def vjp(
    func: Callable[..., Any],
    xs: AnyTensor | Sequence[AnyTensor],
    v: AnyTensor | Sequence[AnyTensor] | None = None,
) -> tuple[Any, Any]:
    """``func(*xs)`` and the gradients of its inputs that come from the gradients ``v`` (ones by default)."""
    inputs, ys, outputs = _called("vjp", func, xs)
    found = _gradients(outputs, inputs, _vectors("vjp", v, outputs))
    return ys, _like(xs, _without_none(found, inputs))


def jvp(
    func: Callable[..., Any],
    xs: AnyTensor | Sequence[AnyTensor],
    v: AnyTensor | Sequence[AnyTensor] | None = None,
) -> tuple[Any, Any]:
    """``func(*xs)`` and the change of its results for a change ``v`` (ones by default) of its inputs."""
    inputs, ys, outputs = _called("jvp", func, xs)
    vectors = _vectors("jvp", v, inputs)
    # The gradient is linear in what it starts from: differentiating it by that gives the product.
    starts = [_separate(creation.zeros_like(y)) for y in outputs]
    found = _gradients(outputs, inputs, starts)
    used = [(g, v) for g, v in zip(found, vectors, strict=True) if g is not None and not g.stop_gradient]
    made: list[Any] = [None] * len(starts)
    if used:
        gradients, given = [g for g, _ in used], [v for _, v in used]
        made = _gradients(gradients, starts, given)
    return ys, _like(ys, _without_none(made, outputs))


class Jacobian(Matrix):
    """The Jacobian of ``func`` at ``xs``: [N, M] over all elements of its results and inputs, in order.

    With ``is_batched`` the first dimension of all is the batch: [B, N, M].
    """

    def __init__(
        self, func: Callable[..., Any], xs: AnyTensor | Sequence[AnyTensor], is_batched: bool = False
    ) -> None:
        inputs, _, outputs = _called("Jacobian", func, xs)
        self._set_up(inputs, _flat(outputs, is_batched), is_batched)

    def _set_up(self, inputs: list[Any], ys: Any, is_batched: bool) -> None:
        sizes = [x.size // x.shape[0] if is_batched else x.size for x in inputs]
        shape = [*ys.shape, sum(sizes)]
        batch = 1 if is_batched else 0
        super().__init__(shape, batch, batch, inputs[0].dtype)
        self.shape = tuple(shape)  # type: ignore[assignment]
        self._inputs = inputs
        self._ys = ys

    def _compute(self, n: int) -> Any:
        element = self._ys[(*[slice(None)] * self._batch, n)]
        row = _flat([gradient(element, x) for x in self._inputs], bool(self._batch))
        if isinstance(row, Tensor):
            row.stop_gradient = False  # also where it is constant, as in Paddle
        return row


class Hessian(Jacobian):
    """The Hessian of ``func``, which gives one number (one a sample), at ``xs``: [M, M] or [B, M, M]."""

    def __init__(
        self, func: Callable[..., Any], xs: AnyTensor | Sequence[AnyTensor], is_batched: bool = False
    ) -> None:
        inputs, _, outputs = _called("Hessian", func, xs)
        ys = _flat(outputs, is_batched)
        if ys.shape[-1] != 1:
            raise ShapeError(
                f"Hessian: func must give one number{' a sample' if is_batched else ''}: got shape "
                f"{outputs[0].shape}; sum it, or use Jacobian"
            )
        first = [gradient(ys.sum(), x) for x in inputs]
        self._set_up(inputs, _flat(first, is_batched), is_batched)


def _called(where: str, func: Callable[..., Any], xs: Any) -> tuple[list[Any], Any, list[Any]]:
    """Copies of ``xs``, what ``func`` gives for them, and that as a list."""
    if not callable(func):
        raise DTypeError(f"{where}: func is a function: got {type(func).__name__}")
    given = list(xs) if isinstance(xs, Sequence) else [xs]
    if not given or not all(map(is_tensor, given)):
        raise DTypeError(f"{where}: xs must be a Tensor or several: got {xs!r}")
    inputs = [_separate(x) for x in given]
    with enable_grad():
        ys = func(*inputs)
    outputs = list(ys) if isinstance(ys, Sequence) else [ys]
    if not outputs or not all(map(is_tensor, outputs)):
        raise ArgumentError(f"{where}: func must give Tensors: got {ys!r}")
    return inputs, ys, outputs


def _separate(x: Any) -> Any:
    """A copy that gradients lead to: on to ``x`` itself, unless that has ``stop_gradient``."""
    made = Tensor(x._array) if isinstance(x, Tensor) and x.stop_gradient else shape_ops.assign(x)
    made.stop_gradient = False
    return made


def _gradients(outputs: list[Any], inputs: list[Any], starts: list[Any]) -> list[Any]:
    """The gradients of ``inputs``, which can be differentiated; None where no output depends on one."""
    used = [(y, start) for y, start in zip(outputs, starts, strict=True) if not y.stop_gradient]
    if not used:
        return [None] * len(inputs)
    ys, given = [y for y, _ in used], [start for _, start in used]
    return list(gradients_of(ys, inputs, given, create_graph=True, allow_unused=True))


def _vectors(where: str, v: Any, like: list[Any]) -> list[Any]:
    if v is None:
        return [creation.ones_like(x) for x in like]
    given = list(v) if isinstance(v, Sequence) else [v]
    if not all(map(is_tensor, given)):
        raise DTypeError(f"{where}: v must be a Tensor or several: got {v!r}")
    if [list(g.shape) for g in given] != [list(x.shape) for x in like]:
        raise GradientError(
            f"{where}: v has shapes {[g.shape for g in given]}: they must be {[x.shape for x in like]}"
        )
    return given


def _without_none(found: Sequence[Any], like: list[Any]) -> list[Any]:
    """Zeros for None; eager results can be differentiated, also where they are constant, as in Paddle."""
    made = [creation.zeros_like(x) if g is None else g for g, x in zip(found, like, strict=True)]
    for each in made:
        if isinstance(each, Tensor) and each.stop_gradient:
            each.stop_gradient = False
    return made


def _like(model: Any, values: list[Any]) -> Any:
    """One value, or a tuple where ``model`` is a sequence."""
    return tuple(values) if isinstance(model, Sequence) else values[0]


def _flat(tensors: list[Any], is_batched: bool) -> Any:
    shape = [tensors[0].shape[0], -1] if is_batched else [-1]
    return manipulation.concat([t.reshape(shape) for t in tensors], axis=-1)

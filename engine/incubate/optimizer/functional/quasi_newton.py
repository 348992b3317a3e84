"""Minimization of a function of one tensor by BFGS and L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ModeError, UnsupportedError
from engine.eager.backward import grad
from engine.eager.grad_mode import enable_grad
from engine.eager.tensor import Tensor
from engine.incubate.optimizer.functional.line_search import strong_wolfe
from engine.tensor import creation

_NO_CURVATURE = 1000.0  # 1 / (y s) where that is not to be had, as in Paddle


class _Objective:
    """The function over arrays; where it is asked for."""

    def __init__(self, where: str, function: Callable[[Any], Any], start: Any, dtype: str, line: str) -> None:
        if modes.is_static():
            raise ModeError(f"{where}: minimizes in eager mode only; call paddle.disable_static() before")
        if dtype not in ("float32", "float64"):
            raise ArgumentError(f"{where}: The dtype must be 'float32' or 'float64', but is {dtype}")
        if not isinstance(start, Tensor):
            raise ArgumentError(f"{where}: The input: {start} must be tensor.")
        if line != "strong_wolfe":
            raise UnsupportedError(
                f"{where}: Currently only support line_search_fn = 'strong_wolfe': got {line!r}"
            )
        self.where = where
        self.function = function
        self.start = start.numpy().astype(dtype)
        self.dtype = dtype

    def __call__(self, x: Any) -> tuple[Any, Any]:
        """Value (as the function shapes it) and gradient."""
        given = creation.to_tensor(x)
        given.stop_gradient = False
        with enable_grad():
            value = self.function(given)
        (gradient,) = grad([value], [given], allow_unused=True)
        return value.numpy(), np.zeros_like(x) if gradient is None else gradient.numpy()

    def inverse_hessian(self, estimate: Any) -> Any:
        """The given symmetric, positive definite estimate, or the identity."""
        if estimate is None:
            return np.eye(self.start.shape[0], dtype=self.dtype)
        if not isinstance(estimate, Tensor):
            raise ArgumentError(f"{self.where}: The input: {estimate} must be tensor.")
        matrix = estimate.numpy().astype(self.dtype)
        definite = matrix.ndim == 2 and (matrix == matrix.T).all()
        if definite:
            try:
                np.linalg.cholesky(matrix)
            except np.linalg.LinAlgError:
                definite = False
        if not definite:
            raise ArgumentError(
                f"{self.where}: The initial_inverse_hessian_estimate should be symmetric and positive "
                "definite, but the specified is not."
            )
        return matrix


def _results(converged: bool, calls: int, *arrays: Any) -> tuple[Any, ...]:
    first = (creation.to_tensor([converged]), creation.to_tensor([calls], dtype="int64"))
    return (*first, *(creation.to_tensor(array) for array in arrays))


def _minimize(
    objective: _Objective,
    direction: Callable[[Any], Any],
    learn: Callable[[Any, Any, Any], None],
    max_iters: int,
    tolerance_grad: float,
    tolerance_change: float,
    max_line_search_iters: int,
    initial_step_length: float,
) -> tuple[bool, int, Any, Any, Any]:
    """Whether it converged, evaluations, and place, value and gradient at the end."""
    x = objective.start
    value, gradient = objective(x)
    calls, converged = 1, False
    with np.errstate(all="ignore"):  # a search that leaves the numbers ends
        for _ in range(max_iters):
            p = direction(gradient)
            point, more = strong_wolfe(objective, x, p, max_line_search_iters, initial_step_length)
            calls += more
            step, change = point.step * p, point.gradient - gradient
            x, value, gradient = x + step, point.value, point.gradient
            curvature = np.dot(change, step)
            learn(step, change, x.dtype.type(_NO_CURVATURE if curvature == 0 else 1 / curvature))
            converged = bool(abs(gradient).max() < tolerance_grad or abs(p).max() < tolerance_change)
            if converged or point.step == 0:
                break
    return converged, calls, x, value, gradient


def minimize_bfgs(
    objective_func: Callable[[Any], Any],
    initial_position: Tensor,
    max_iters: int = 50,
    tolerance_grad: float = 1e-7,
    tolerance_change: float = 1e-9,
    initial_inverse_hessian_estimate: Tensor | None = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Any, ...]:
    """The minimum of a function by BFGS: Nocedal and Wright, Numerical optimization (2006), algorithm 6.1.

    Differs from Paddle: it works in eager mode only.

    Args:
        objective_func: gives one number for a tensor [n].
        initial_position: where to begin, [n].
        max_iters: how many steps at most.
        tolerance_grad: it has converged where no element of the gradient is larger,
        tolerance_change: or none of the direction.
        initial_inverse_hessian_estimate: symmetric and positive definite [n, n]; the identity by default.
        line_search_fn: 'strong_wolfe'.
        max_line_search_iters: how many trials of a step at most.
        initial_step_length: the step that is tried first.
        dtype: 'float32' or 'float64'.
        name: has no effect.

    Returns:
        whether it converged, evaluations, place, value, gradient, and the estimate of the inverse Hessian.

    Raises:
        ArgumentError: another dtype or estimate, a position that is not a tensor.
        UnsupportedError: another line search.
        ModeError: in static mode.
    """
    objective = _Objective("minimize_bfgs", objective_func, initial_position, dtype, line_search_fn)
    hessian = [objective.inverse_hessian(initial_inverse_hessian_estimate)]
    identity = np.eye(objective.start.shape[0], dtype=dtype)

    def learn(step: Any, change: Any, rho: Any) -> None:
        left = identity - rho * np.outer(change, step)  # transposed in the book, but so in Paddle
        hessian[0] = left @ hessian[0] @ left.T + rho * np.outer(step, step)

    found = _minimize(
        objective,
        lambda gradient: -(hessian[0] @ gradient),
        learn,
        max_iters,
        tolerance_grad,
        tolerance_change,
        max_line_search_iters,
        initial_step_length,
    )
    return _results(*found, hessian[0])


def minimize_lbfgs(
    objective_func: Callable[[Any], Any],
    initial_position: Tensor,
    history_size: int = 100,
    max_iters: int = 50,
    tolerance_grad: float = 1e-8,
    tolerance_change: float = 1e-8,
    initial_inverse_hessian_estimate: Tensor | None = None,
    line_search_fn: str = "strong_wolfe",
    max_line_search_iters: int = 50,
    initial_step_length: float = 1.0,
    dtype: str = "float32",
    name: str | None = None,
) -> tuple[Any, ...]:
    """As ``minimize_bfgs``, with the last ``history_size`` steps in the place of the inverse Hessian.

    Nocedal and Wright, Numerical optimization (2006), algorithm 7.5.

    Differs from Paddle: it works in eager mode only; all of the last ``history_size`` - 1 steps count, there
    some are lost when the history is full.

    Returns:
        whether it converged, evaluations, place, value and gradient.
    """
    objective = _Objective("minimize_lbfgs", objective_func, initial_position, dtype, line_search_fn)
    first = objective.inverse_hessian(initial_inverse_hessian_estimate)
    history: list[tuple[Any, Any, Any]] = []

    def direction(gradient: Any) -> Any:
        q, shares = gradient, []
        for step, change, rho in reversed(history):
            shares.append(rho * np.dot(step, q))
            q = q - shares[-1] * change
        r = first @ q
        for (step, change, rho), share in zip(history, reversed(shares), strict=True):
            r = r + step * (share - rho * np.dot(change, r))
        return -r

    def learn(step: Any, change: Any, rho: Any) -> None:
        history.append((step, change, rho))
        del history[: len(history) - max(int(history_size) - 1, 0)]

    found = _minimize(
        objective,
        direction,
        learn,
        max_iters,
        tolerance_grad,
        tolerance_change,
        max_line_search_iters,
        initial_step_length,
    )
    return _results(*found)

"""L-BFGS: steps along a Newton direction estimated from the last gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, ModeError
from engine.core.operators.operator import Leaf
from engine.core.place import array_module
from engine.core.values.bfloat import is_bfloat16, narrow, numbers
from engine.eager.grad_mode import enable_grad
from engine.eager.tensor import Tensor, write
from engine.nn.clip import ClipGradBase
from engine.nn.regularizer import WeightDecayRegularizer
from engine.optimizer.line_search import Point, strong_wolfe
from engine.optimizer.lr import LRScheduler
from engine.optimizer.optimizer import Optimizer
from engine.tensor.tensor_like import AnyTensor

if TYPE_CHECKING:
    from engine.program.graph.program import Program

_LISTS = ("old_yk", "old_sk")  # past changes of the gradient, and of the parameters
_VECTORS = ("d", "prev_flat_grad")
_NUMBERS = ("func_evals", "n_iter", "alpha", "H_diag", "prev_loss")


class LBFGS(Optimizer):
    """Minimizes the loss that a closure computes; call ``step(closure)``.

    ``max_iter`` iterations a step, ``max_eval`` evaluations of the closure (5/4 of max_iter by default); it
    ends earlier where no gradient exceeds ``tolerance_grad``, or loss and parameters change by less than
    ``tolerance_change``. ``line_search_fn`` is None (steps of ``learning_rate``) or 'strong_wolfe'. Nocedal
    and Wright, Numerical optimization (2006), algorithm 7.5.

    Parameters in bfloat16 are computed with in float32, and so is their state.

    Differs from Paddle: weight_decay and grad_clip, which Paddle ignores, are refused (a line search needs a
    loss that fits its gradient: put the penalty into the closure), and the state can be loaded again.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-07,
        tolerance_change: float = 1e-09,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        if line_search_fn not in (None, "strong_wolfe"):
            raise ArgumentError(
                f"LBFGS: line_search_fn must be None or 'strong_wolfe': got {line_search_fn!r}"
            )
        if weight_decay is not None or grad_clip is not None:
            raise ArgumentError(
                "LBFGS: takes no weight_decay and no grad_clip, the loss would not fit the gradient; add the "
                "penalty to the loss in the closure"
            )
        super().__init__(learning_rate, parameters, None, None, name)
        self.max_iter = max_iter
        self.max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad = tolerance_grad
        self.tolerance_change = tolerance_change
        self.history_size = history_size
        self.line_search_fn = line_search_fn
        self.state: dict[str, Any] = {}

    # -- parameters as one vector --------------------------------------------------------------------------
    def _gradient(self) -> Any:
        flat = []
        for p in self._all():
            found = p._edge.grad if p._edge.__class__ is Leaf else None
            array = array_module(p._array).zeros_like(p._array) if found is None else found._array
            flat.append(numbers(array).reshape(-1))
        return array_module(flat[0]).concatenate(flat)

    def _move(self, start: list[Any], direction: Any, step: float) -> None:
        """Set the parameters to ``start`` plus a step along the direction."""
        place = 0
        for p, array in zip(self._all(), start, strict=True):
            part = direction[place : place + array.size].reshape(array.shape)
            moved = numbers(array) + step * part
            low = is_bfloat16(array)
            write(p, narrow(array_module(array), moved) if low else moved.astype(array.dtype, copy=False))
            place += array.size

    # -- steps ---------------------------------------------------------------------------------------------
    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor:  # type: ignore[override]
        """Minimize the loss that ``closure()`` gives; returns the loss before.

        The closure clears the gradients, computes the loss, calls its ``backward`` and returns it.
        """
        if modes.is_static():
            raise ModeError("LBFGS.step: decides by values how often it computes the loss; call it eagerly")
        if not callable(closure):
            raise ArgumentError(
                f"LBFGS: step takes a function that computes the loss and its gradients: got {closure!r}"
            )
        with modes.use(modes.current().with_grad(False)):
            return self._minimized(enable_grad()(closure))

    def _minimized(self, closure: Callable[[], Tensor]) -> Tensor:
        state = self.state
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        before = closure()
        state["func_evals"] += 1
        now = Point(0.0, float(before), 0.0, self._gradient())
        evaluations = 1
        for iteration in range(1, self.max_iter + 1):
            if self._largest(now.gradient) <= self.tolerance_grad:
                break
            state["n_iter"] += 1
            direction = self._direction(now.gradient)
            state["d"], state["prev_flat_grad"], state["prev_loss"] = direction, now.gradient, now.value
            rate = self.get_lr()
            if state["n_iter"] == 1:
                rate *= min(1.0, 1.0 / float(abs(now.gradient).sum()))
            state["alpha"] = rate
            slope = float(now.gradient.dot(direction))
            if slope > -self.tolerance_change:
                break
            last = iteration == self.max_iter
            now, count = self._stepped(closure, Point(0.0, now.value, slope, now.gradient), direction, last)
            evaluations += count
            state["func_evals"] += count
            state["alpha"] = now.step
            if (
                self._largest(direction) * abs(now.step) <= self.tolerance_change
                or abs(now.value - state["prev_loss"]) < self.tolerance_change
                or evaluations >= self.max_eval
            ):
                break
        return before

    def _stepped(
        self, closure: Callable[[], Tensor], start: Point, direction: Any, last: bool
    ) -> tuple[Point, int]:
        """The point after a step along the direction, and the number of evaluations."""
        begin = [p._array.copy() for p in self._all()]
        rate = self.state["alpha"]

        def evaluate(step: float) -> Point:
            self._move(begin, direction, step)
            value, gradient = float(closure()), self._gradient()
            return Point(step, value, float(gradient.dot(direction)), gradient)

        if self.line_search_fn is None:
            if not last:
                return evaluate(rate), 1
            self._move(begin, direction, rate)  # the loss at the new point is not needed
            return Point(rate, start.value, start.slope, start.gradient), 0
        found, count = strong_wolfe(evaluate, start, rate, self._largest(direction), 1e-9)
        self._move(begin, direction, found.step)
        return found, count

    def _direction(self, gradient: Any) -> Any:
        """The negative gradient times the inverse Hessian estimated from the past steps."""
        state = self.state
        if state["n_iter"] == 1:
            state.update(old_yk=[], old_sk=[], H_diag=1.0)
            return -gradient
        change, step = gradient - state["prev_flat_grad"], state["d"] * state["alpha"]
        product = float(change.dot(step))
        changes, steps = state["old_yk"], state["old_sk"]
        if product > 1e-10:
            if len(changes) == self.history_size:
                del changes[0], steps[0]
            changes.append(change)
            steps.append(step)
            state["H_diag"] = product / float(change.dot(change))
        result = -gradient
        shares = []
        for y, s in zip(reversed(changes), reversed(steps), strict=True):
            share = float(s.dot(result)) / float(y.dot(s))
            shares.append(share)
            result = result - share * y
        result = result * state["H_diag"]
        for y, s, share in zip(changes, steps, reversed(shares), strict=True):
            result = result + (share - float(y.dot(result)) / float(y.dot(s))) * s
        return result.astype(gradient.dtype, copy=False)

    @staticmethod
    def _largest(vector: Any) -> float:
        return float(abs(vector).max()) if vector.size else 0.0

    def minimize(
        self,
        loss: AnyTensor,
        startup_program: Program | None = None,
        parameters: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
    ) -> NoReturn:
        """Raises: one loss is not enough, ``step`` takes a function that computes it."""
        raise ModeError("LBFGS: minimize() takes one loss; call step(closure), which computes many")

    # -- state ---------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """``{"state": {...}}``: counts of iterations and evaluations, and the history as Tensors.

        With a scheduler it also has ``LR_Scheduler``'s state.
        """
        found: dict[str, Any] = {"state": {key: _shown(value) for key, value in self.state.items()}}
        if isinstance(self._learning_rate, LRScheduler):
            found["LR_Scheduler"] = self._learning_rate.state_dict()
        return found

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from ``state_dict``. Raises ArgumentError for that of another optimizer or model."""
        found = state_dict.get("state")
        known = {*_LISTS, *_VECTORS, *_NUMBERS}
        if not isinstance(found, Mapping) or not found.keys() <= known:
            raise ArgumentError(f"LBFGS: set_state_dict takes {{'state': ...}}: got {sorted(state_dict)}")
        model = self._gradient()
        made: dict[str, Any] = {}
        for key, value in found.items():
            if key in _LISTS:
                made[key] = [_vector(f"{key}[{n}]", v, model) for n, v in enumerate(value)]
            else:
                made[key] = _vector(key, value, model) if key in _VECTORS else value
        if isinstance(self._learning_rate, LRScheduler):
            if "LR_Scheduler" not in state_dict:
                raise ArgumentError(
                    "LBFGS: the state has no 'LR_Scheduler', but the learning rate follows "
                    f"{type(self._learning_rate).__name__}; load the state of an optimizer with a scheduler"
                )
            self._learning_rate.set_state_dict(state_dict["LR_Scheduler"])
        self.state = made

    set_dict = set_state_dict


def _shown(value: Any) -> Any:
    if isinstance(value, list):
        return [_shown(v) for v in value]
    return value if isinstance(value, (int, float)) else Tensor(value.copy())


def _vector(key: str, value: Any, model: Any) -> Any:
    array = value._array if isinstance(value, Tensor) else np.asarray(value)
    if array.shape != model.shape:
        raise ArgumentError(
            f"LBFGS: {key} has {array.size} elements: the parameters {model.size}; load the state of the "
            "same model"
        )
    if array.dtype.kind != "f":
        raise DTypeError(f"LBFGS: {key} is {array.dtype}: it must be floating")
    return array_module(model).array(array, dtype=model.dtype)

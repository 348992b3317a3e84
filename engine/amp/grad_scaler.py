"""GradScaler: a scaled loss keeps gradients in float16 from vanishing; steps with inf are skipped."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from engine.amp.casting import LastDtype, require_dynamic, warn_of_cpu
from engine.core import mode as modes
from engine.core.errors import ConditionError, DTypeError, ModeError
from engine.core.operators.operator import Leaf
from engine.core.precision import works_here
from engine.core.strictness import warn_at_user
from engine.eager.backward import leaf_gradient
from engine.eager.tensor import Tensor
from engine.ops.elementwise import arithmetic
from engine.ops.training import loss_scaling, parameter_updates
from engine.optimizer import Optimizer
from engine.tensor.creation import to_tensor


class OptimizerState(Enum):
    """What happened to the gradients of an optimizer since the last ``update()``."""

    INIT = 0
    UNSCALED = 1
    STEPPED = 2


class AmpScaler:
    """What ``GradScaler`` does, with the first values of older scripts.

    As in Paddle it acts on GPUs; on the CPU it gives a warning and passes losses and steps through, unless
    ``amp.on_cpu()`` was entered. Raises ConditionError for ratios on the wrong side of 1.
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**15,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 1000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        require_dynamic(type(self).__name__)
        if enable and not works_here():
            warn_of_cpu("AmpScaler can only be enabled on CUDAPlace, XPUPlace and CustomPlace")
            enable = False
        self._enable = enable
        self._use_dynamic_loss_scaling = enable and use_dynamic_loss_scaling
        if enable:
            self._check_ratios(incr_ratio, decr_ratio)
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_count = self._decr_count = 0
        self._found_inf = False
        self._scale: Tensor
        self._states: dict[int, OptimizerState] = {}
        self.set_init_loss_scaling(init_loss_scaling)

    @staticmethod
    def _check_ratios(increase: float = 2.0, decrease: float = 0.5) -> None:
        if not increase > 1.0:
            raise ConditionError(f"GradScaler: The incr_ratio must be > 1.0.: got {increase}")
        if not decrease < 1.0:
            raise ConditionError(f"GradScaler: The decr_ratio must be < 1.0.: got {decrease}")

    # -- a step ----------------------------------------------------------------------------------------------
    def scale(self, var: Tensor) -> Tensor:
        """``var`` times the scale; ``var`` itself where the scaler is off.

        Dynamic scaling is for float16: after an ``auto_cast`` in another dtype it goes off with a warning.
        """
        if not isinstance(var, Tensor):
            raise DTypeError(f"scale: takes a Tensor: got {type(var).__name__}")
        if self._enable and LastDtype.name != "float16" and self._use_dynamic_loss_scaling:
            self._enable = self._use_dynamic_loss_scaling = False
            warn_at_user(
                f"It is not recommended to use dynamic loss scaling for {LastDtype.name}, so GradScaler is "
                "disable by default.",
                UserWarning,
            )
        return var * self._scale if self._enable else var

    def minimize(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.minimize`` with unscaled gradients, skipped where they contain inf; then the update."""
        if not self._enable:
            return optimizer.minimize(*args, **kwargs)
        if self._state_of(optimizer) is OptimizerState.INIT:
            self._unscale(optimizer)
        result = (None, None) if self._found_inf else optimizer.minimize(*args, **kwargs)
        if self._use_dynamic_loss_scaling:
            self._count()
        self._states = {}
        return result

    def _step(self, optimizer: Optimizer) -> None:
        if not self._enable:
            optimizer.step()
            return
        if self._state_of(optimizer) is OptimizerState.STEPPED:
            raise ModeError("step: step() has already been called since the last update().")
        if self._state_of(optimizer) is OptimizerState.INIT:
            self._unscale(optimizer)
        if not self._found_inf:
            optimizer.step()
        self._states[id(optimizer)] = OptimizerState.STEPPED
        if not self._use_dynamic_loss_scaling:
            self._states = {}

    def _unscale(self, optimizer: Optimizer) -> None:
        """Divide the gradients by the scale in place; where any holds nan or inf, all become zeros."""
        if not self._enable:
            return
        state = self._state_of(optimizer)
        if state is OptimizerState.UNSCALED:
            raise ModeError(
                "unscale_: unscale_() has already been called on this optimizer since the last update()."
            )
        if state is OptimizerState.STEPPED:
            raise ModeError("unscale_: unscale_() is being called after step().")
        gradients = [
            gradient
            for p in optimizer._all()
            if p._edge.__class__ is Leaf and (gradient := leaf_gradient(p._edge)) is not None
        ]
        self._found_inf = False
        if gradients:
            with modes.use(modes.current().with_grad(False).with_precision(None)):
                *made, found = loss_scaling.check_finite_and_unscale(gradients, self._scale)
                for gradient, value in zip(gradients, made, strict=True):
                    parameter_updates.assign_into(gradient, value)
            self._found_inf = bool(found.numpy().any())
        self._states[id(optimizer)] = OptimizerState.UNSCALED

    def _state_of(self, optimizer: Optimizer) -> OptimizerState:
        return self._states.get(id(optimizer), OptimizerState.INIT)

    def _count(self) -> None:
        """Count a good or a bad step, and change the scale where there were enough of them."""
        if self._found_inf:
            self._incr_count = 0
            self._decr_count += 1
            if self._decr_count == self._decr_every_n_nan_or_inf:
                now = float(self._scale.numpy()[0])
                print(
                    f"Found inf or nan, current scale is: {now}, decrease to: {now}*{float(self._decr_ratio)}"
                )
                self._scale = arithmetic.scale(self._scale, scale=float(self._decr_ratio))
                self._decr_count = 0
        else:
            self._decr_count = 0
            self._incr_count += 1
            if self._incr_count == self._incr_every_n_steps:
                self._scale = arithmetic.scale(self._scale, scale=float(self._incr_ratio))
                self._incr_count = 0

    # -- settings --------------------------------------------------------------------------------------------
    def is_enable(self) -> bool:
        """Whether the scaler acts."""
        return self._enable

    def is_use_dynamic_loss_scaling(self) -> bool:
        """Whether the scale changes by itself."""
        return self._use_dynamic_loss_scaling

    def get_init_loss_scaling(self) -> float:
        """The first scale."""
        return self._init_loss_scaling

    def set_init_loss_scaling(self, new_init_loss_scaling: float) -> None:
        """Start over from another scale."""
        self._init_loss_scaling = new_init_loss_scaling
        self._scale = to_tensor(np.asarray([new_init_loss_scaling], np.float32))

    def get_incr_ratio(self) -> float:
        """The factor after enough good steps in a row."""
        return self._incr_ratio

    def set_incr_ratio(self, new_incr_ratio: float) -> None:
        """Set the factor after good steps. Raises ConditionError unless it is above 1."""
        self._check_ratios(increase=new_incr_ratio)
        self._incr_ratio = new_incr_ratio

    def get_decr_ratio(self) -> float:
        """The factor after enough bad steps in a row."""
        return self._decr_ratio

    def set_decr_ratio(self, new_decr_ratio: float) -> None:
        """Set the factor after bad steps. Raises ConditionError unless it is below 1."""
        self._check_ratios(decrease=new_decr_ratio)
        self._decr_ratio = new_decr_ratio

    def get_incr_every_n_steps(self) -> int:
        """After how many good steps in a row the scale grows."""
        return self._incr_every_n_steps

    def set_incr_every_n_steps(self, new_incr_every_n_steps: int) -> None:
        """Set after how many good steps in a row the scale grows."""
        self._incr_every_n_steps = new_incr_every_n_steps

    def get_decr_every_n_nan_or_inf(self) -> int:
        """After how many bad steps in a row the scale shrinks."""
        return self._decr_every_n_nan_or_inf

    def set_decr_every_n_nan_or_inf(self, new_decr_every_n_nan_or_inf: int) -> None:
        """Set after how many bad steps in a row the scale shrinks."""
        self._decr_every_n_nan_or_inf = new_decr_every_n_nan_or_inf

    # -- state -----------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """Scale, settings and counts to resume from; empty where the scaler is off."""
        if not self._enable:
            return {}
        return {
            "scale": self._scale.numpy(),
            "incr_ratio": self._incr_ratio,
            "decr_ratio": self._decr_ratio,
            "incr_every_n_steps": self._incr_every_n_steps,
            "decr_every_n_nan_or_inf": self._decr_every_n_nan_or_inf,
            "incr_count": self._incr_count,
            "decr_count": self._decr_count,
            "use_dynamic_loss_scaling": self._use_dynamic_loss_scaling,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Resume from ``state_dict``; a scaler that is off ignores it.

        Raises ModeError for an empty one, which a scaler that was off gave.
        """
        if not self._enable:
            return
        if not state_dict:
            raise ModeError(
                "load_state_dict: The input state dict is empty, possibly because it was saved from a "
                "disabled instance of GradScaler."
            )
        self.set_init_loss_scaling(np.asarray(state_dict["scale"]).reshape(-1)[0])
        self._incr_ratio, self._decr_ratio = state_dict["incr_ratio"], state_dict["decr_ratio"]
        self._incr_every_n_steps = state_dict["incr_every_n_steps"]
        self._decr_every_n_nan_or_inf = state_dict["decr_every_n_nan_or_inf"]
        self._incr_count, self._decr_count = state_dict["incr_count"], state_dict["decr_count"]
        self._use_dynamic_loss_scaling = state_dict["use_dynamic_loss_scaling"]


class GradScaler(AmpScaler):
    """Scales losses and takes the scale out of the gradients again.

    ``scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()``, or
    ``scaler.minimize(optimizer, scaled)`` for both. A step whose gradients contain nan or inf is skipped, and
    after ``decr_every_n_nan_or_inf`` in a row the scale is multiplied by ``decr_ratio``; after
    ``incr_every_n_steps`` good ones in a row by ``incr_ratio``.
    """

    def __init__(
        self,
        enable: bool = True,
        init_loss_scaling: float = 2.0**16,
        incr_ratio: float = 2.0,
        decr_ratio: float = 0.5,
        incr_every_n_steps: int = 2000,
        decr_every_n_nan_or_inf: int = 1,
        use_dynamic_loss_scaling: bool = True,
    ) -> None:
        super().__init__(
            enable,
            init_loss_scaling,
            incr_ratio,
            decr_ratio,
            incr_every_n_steps,
            decr_every_n_nan_or_inf,
            use_dynamic_loss_scaling,
        )

    def step(self, optimizer: Optimizer) -> None:
        """``optimizer.step()`` with gradients divided by the scale; skipped where they contain nan or inf.

        Raises ModeError for a second step before ``update()``.
        """
        self._step(optimizer)

    def update(self) -> None:
        """Change the scale after a step, where it is dynamic."""
        if self._enable and self._use_dynamic_loss_scaling:
            self._count()
            self._states = {}

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients by the scale now, so that they can be looked at or clipped before ``step``.

        Raises ModeError for a second call before ``update()``.
        """
        self._unscale(optimizer)

"""Running averages of parameters, to be used in their place when testing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from engine.core.errors import DTypeError, ProgramError
from engine.core.values.spec import Spec
from engine.nn.initializer import Constant
from engine.nn.initializer.startup import initialize
from engine.ops.arrays import creation, shape
from engine.ops.elementwise import arithmetic, extremes
from engine.ops.training import parameter_updates as update_ops
from engine.program.build.annotate import marked, name_scope
from engine.program.graph.program import OPTIMIZE
from engine.program.graph.variable import Parameter
from engine.program.run.executor import Executor
from engine.program.run.scope import global_scope, value_of
from engine.static.nn.helper import require_static
from engine.tensor.tensor_like import AnyTensor


class ExponentialMovingAverage:
    """``average = decay * average + (1 - decay) * parameter``, for every parameter with do_model_average.

    These are also statistics of batch normalization, which are parameters here.

    Call ``update()`` once while the Program is built, after ``minimize``: every run then updates the
    averages. Within ``apply(executor)`` the parameters have the values of their averages, divided by ``1 -
    decay ** runs`` because the averages start at 0. With ``thres_steps``, a Variable that counts steps, the
    decay is at most ``(1 + thres_steps) / (10 + thres_steps)``. ``static.save`` keeps the averages with the
    rest.

    Raises ModeError in eager mode, DTypeError for a decay that is not a number.
    """

    def __init__(
        self, decay: float = 0.999, thres_steps: AnyTensor | None = None, name: str | None = None
    ) -> None:
        if isinstance(decay, bool) or not isinstance(decay, (int, float)):
            raise DTypeError(f"ExponentialMovingAverage: decay is a number: got {type(decay).__name__}")
        require_static("ExponentialMovingAverage")
        self._decay = float(decay)
        self._thres_steps = thres_steps
        self._name = name or ""
        self._averages: list[tuple[Any, Any]] = []
        self._powers: Any = None
        self._saved: dict[str, Any] = {}

    def update(self) -> None:
        """Append operators that update the averages to the Program that is being built."""
        builder = require_static("ExponentialMovingAverage.update")
        with marked(op_role=OPTIMIZE), name_scope("moving_average"):
            decay = creation.fill(shape=[1], value=self._decay, dtype="float32")
            if self._thres_steps is not None:
                steps = arithmetic.cast(self._thres_steps, out_dtype="float32")
                limit = arithmetic.divide(
                    arithmetic.scale(steps, bias=1.0), arithmetic.scale(steps, bias=10.0)
                )
                decay = extremes.minimum(decay, shape.reshape(limit, shape=[1]))
            self._powers = self._state(builder, "decay_power", Spec((1,), "float32"), 1.0)
            update_ops.assign_into(self._powers, arithmetic.multiply(self._powers, decay))
            for parameter in builder.program.all_parameters():
                assert isinstance(parameter, Parameter)
                if parameter.do_model_average and parameter.dtype.is_floating_point:
                    self._append(builder, parameter, decay)

    def _append(self, builder: Any, parameter: Any, decay: Any) -> None:
        average = self._state(builder, f"{parameter.name}_ema", parameter.spec, 0.0)
        self._averages.append((parameter, average))
        if decay.dtype is not parameter.dtype:
            decay = arithmetic.cast(decay, out_dtype=parameter.dtype.name)
        moved = arithmetic.add(
            arithmetic.multiply(average, decay),
            arithmetic.multiply(parameter, arithmetic.scale(decay, scale=-1.0, bias=1.0)),
        )
        update_ops.assign_into(average, moved)

    def _state(self, builder: Any, name: str, spec: Spec, value: float) -> Any:
        block = builder.program.global_block()
        full = builder.program.unique_name(f"{self._name}{name}")
        made = block.create_var(full, spec, persistable=True)
        initialize(made, Constant(value), builder.startup)
        return made

    @contextmanager
    def apply(self, executor: Executor | None, need_restore: bool = True) -> Iterator[None]:
        """Replace parameters by their averages within the block; ``need_restore`` restores them at its end.

        Raises ProgramError where ``update`` was not called, or the averages are in place already.
        """
        if not self._averages:
            raise ProgramError("ExponentialMovingAverage.apply: there are no averages; call update() first")
        if self._saved:
            raise ProgramError(
                "ExponentialMovingAverage.apply: they are applied already; call restore() first"
            )
        rest = (1.0 - float(value_of(self._powers).numpy().item())) or 1.0
        averages = [value_of(average).numpy() for _, average in self._averages]
        self._saved = {parameter.name: value_of(parameter).numpy() for parameter, _ in self._averages}
        for name, average in zip(self._saved, averages, strict=True):
            global_scope().var(name).store(average / np.asarray(rest, average.dtype))
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Executor | None) -> None:
        """Give the parameters the values that they had before ``apply``."""
        for name, value in self._saved.items():
            global_scope().var(name).store(value)
        self._saved = {}

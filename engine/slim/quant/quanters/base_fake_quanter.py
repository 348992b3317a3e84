"""BaseFakeQuanterLayer: base of quanters whose step between levels is learned."""

from __future__ import annotations

import math
from typing import Any, cast

from engine.core import names
from engine.core.errors import ArgumentError
from engine.distributed.collectives import ReduceOp, all_reduce
from engine.eager.grad_mode import no_grad
from engine.eager.tensor import Tensor
from engine.nn.initializer import Constant
from engine.nn.param_attr import ParamAttr
from engine.quantization.base_quanter import BaseQuanter
from engine.quantization.calibration import levels

FIRST = 1.0  # the step before it has seen values


class BaseFakeQuanterLayer(BaseQuanter):
    """Learned step sizes (LSQ+; Esser et al. 2019, Bhalgat et al. 2020): ``_scale`` holds the step.

    The first call sets the step by the values that it sees, and the next ``batch_init - 1`` calls in training
    move it a tenth of the way to what theirs would be; from then on it is learned only. ``scales()`` is the
    absolute value that the largest integer stands for, as of all quanters. Raises ArgumentError for integers
    without a sign, which quantize_linear does not have.
    """

    def __init__(self, quant_bits: int, sign: bool, batch_init: int, reduce_type: str | None) -> None:
        super().__init__()
        if not sign:
            raise ArgumentError(f"{type(self).__name__}: sign=False: integers have a sign; leave it True")
        self.qmax = levels(quant_bits)
        self.qmin = -self.qmax - 1
        self._quant_bits = quant_bits
        self._batch_init = batch_init
        self._reduce_type = reduce_type
        self._init_state = 0
        self.g = 1.0

    def _learned(self, what: str, name: str | None, first: float, size: int, dtype: str) -> Any:
        attr = ParamAttr(names.generate(f"{name or 'quant_dequant'}.{what}"), initializer=Constant(first))
        return self.create_parameter([size], attr=attr, dtype=dtype)

    def _settle(self, x: Any) -> None:
        """Set, move or leave the step for a call with ``x``."""
        if self._init_state == 0:
            self.g = 1.0 / math.sqrt(x.size * self.qmax)
            if self._is_loaded():
                self._init_state = self._batch_init
            else:
                self._move(x, 1.0)
        elif self.training and self._init_state < self._batch_init:
            self._move(x, 0.1)
        if self._reduce_type == "max":
            for parameter in self._parameters.values():
                all_reduce(cast(Tensor, parameter), op=ReduceOp.MAX)

    def _is_loaded(self) -> bool:
        """Whether the step comes from a state that was loaded: it has other values than it began with."""
        return bool((self._scale.numpy() != FIRST).any())

    def _move(self, x: Any, share: float) -> None:
        with no_grad():
            for parameter, wanted in self._first_values(x.detach()):
                parameter.set_value(parameter * (1.0 - share) + wanted.reshape(parameter.shape) * share)
        self._init_state += 1

    def _first_values(self, x: Any) -> list[tuple[Any, Any]]:
        """Each learned parameter with the value that ``x`` alone would give it."""
        raise NotImplementedError

    def bit_length(self) -> int:
        return self._quant_bits

    def scales(self) -> Any:
        return self._scale.detach() * float(self.qmax)

    def zero_points(self) -> None:
        return None

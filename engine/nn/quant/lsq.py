"""Quantizers whose step is learned: LSQ+ for weights and for activations.

As in "LSQ+: Improving low-bit quantization through learnable offsets and better initialization" (Bhalgat and
others, 2020). The step s is what one level is worth, not the threshold.
"""

from __future__ import annotations

import math
from typing import Any

from engine import distributed
from engine.core import names
from engine.eager.py_layer import PyLayer
from engine.nn.initializer import Constant
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import ParamAttr
from engine.tensor.creation import to_tensor
from engine.tensor.tensor_like import AnyTensor, DTypeLike


def _along(values: Any, like: Any, axis: int) -> Any:
    """Steps [channels] in a shape that broadcasts with ``like``."""
    return values.reshape([-1 if n == axis else 1 for n in range(len(like.shape))])


def _within(levels: Any, lowest: int, highest: int) -> tuple[Any, Any, Any]:
    """Where levels are below, within and above their range, as numbers."""
    below = (levels < lowest).astype(levels.dtype)
    above = (levels > highest).astype(levels.dtype)
    return below, 1.0 - below - above, above


def _slope(levels: Any, lowest: int, highest: int) -> tuple[Any, Any]:
    """What a step's gradient is made of, and where the values' gradient passes."""
    below, middle, above = _within(levels, lowest, highest)
    return below * lowest + above * highest + middle * (levels.round() - levels), middle


class LsqFunc(PyLayer):
    """x rounded to multiples of the step ``alpha``; both have gradients, that of the step times ``g``.

    ``alpha`` is one number, or with ``per_channel`` [channels] along ``quant_axis``.
    """

    @staticmethod
    def forward(
        ctx: Any,
        weight: AnyTensor,
        alpha: AnyTensor,
        g: AnyTensor,
        Qn: int,
        Qp: int,
        per_channel: bool = False,
        quant_axis: int = 0,
    ) -> Any:
        step = _along(alpha, weight, quant_axis) if per_channel else alpha
        ctx.save_for_backward(weight, alpha)
        ctx.other = g, Qn, Qp, per_channel, quant_axis
        return (weight / step).round().clip(Qn, Qp) * step

    @staticmethod
    def backward(ctx: Any, grad_weight: AnyTensor) -> tuple[Any, Any]:
        weight, alpha = ctx.saved_tensor()
        g, Qn, Qp, per_channel, quant_axis = ctx.other
        step = _along(alpha, weight, quant_axis) if per_channel else alpha
        slope, middle = _slope(weight / step, Qn, Qp)
        to_step = slope * grad_weight * g
        if per_channel:
            to_step = to_step.sum(axis=[n for n in range(len(weight.shape)) if n != quant_axis])
        else:
            to_step = to_step.sum().reshape(alpha.shape)
        return middle * grad_weight, to_step


class LsqPlusActFunc(PyLayer):
    """x rounded to multiples of the step ``alpha`` above the offset ``beta``; all three have gradients."""

    @staticmethod
    def forward(
        ctx: Any, x: AnyTensor, alpha: AnyTensor, beta: AnyTensor, g: AnyTensor, Qn: int, Qp: int
    ) -> Any:
        ctx.save_for_backward(x, alpha, beta)
        ctx.other = g, Qn, Qp
        return ((x - beta) / alpha).round().clip(Qn, Qp) * alpha + beta

    @staticmethod
    def backward(ctx: Any, grad_x: AnyTensor) -> tuple[Any, Any, Any]:
        x, alpha, beta = ctx.saved_tensor()
        g, Qn, Qp = ctx.other
        slope, middle = _slope((x - beta) / alpha, Qn, Qp)
        to_step = (slope * grad_x * g).sum().reshape(alpha.shape)
        to_offset = ((1.0 - middle) * grad_x * g).sum().reshape(beta.shape)
        return middle * grad_x, to_step, to_offset


class _LSQPlus(Layer):
    """What both quantizers share: their levels, their step, and how long it follows the values.

    Levels lie between ``Qn`` and ``Qp``: from 0 where all values are positive. The first ``batch_init`` calls
    set the step from the values, later ones only learn it.
    """

    def __init__(
        self, quant_bits: int, all_postive: bool, batch_init: int, name: str | None, reduce_type: str | None
    ) -> None:
        super().__init__()
        self.bits = quant_bits
        self.all_positive = all_postive
        self.batch_init = batch_init
        self.name = name
        self.reduce_type = reduce_type
        self.Qn = 0 if all_postive else -(2 ** (quant_bits - 1))
        self.Qp = 2**quant_bits - 1 if all_postive else 2 ** (quant_bits - 1) - 1
        self.init_state = 0

    def _learned(self, kind: str, shape: list[int], first: float, dtype: Any) -> Any:
        full = names.generate(f"{self.name or 'quant_dequant'}.{kind}")
        attr = ParamAttr(name=full, initializer=Constant(first), trainable=True)
        return self.create_parameter(shape, attr=attr, dtype=dtype)

    def _agree(self, *values: Any) -> None:
        if self.reduce_type == "max":
            for value in values:
                distributed.all_reduce(value, op=distributed.ReduceOp.MAX)

    def _follow(self, parameter: Any, found: Any) -> None:
        """Set ``parameter`` to what was found: to all of it at first, later to a tenth."""
        found = found.reshape(parameter.shape)
        parameter.set_value(found if self.init_state == 0 else parameter.detach() * 0.9 + found * 0.1)


class FakeQuantActLSQPlus(_LSQPlus):
    """Rounds activations to levels of a learned step ``s`` [].

    Unless ``symmetric`` they lie above a learned offset ``beta`` [], too.

    ``quant_bits``, ``all_postive`` and ``batch_init``: see the class above. ``reduce_type`` "max" takes the
    largest step of all processes.
    """

    def __init__(
        self,
        quant_bits: int,
        all_postive: bool = False,
        symmetric: bool = False,
        batch_init: int = 20,
        dtype: DTypeLike = "float32",
        name: str | None = None,
        reduce_type: str | None = None,
    ) -> None:
        super().__init__(quant_bits, all_postive, batch_init, name, reduce_type)
        self.symmetric = symmetric
        self.s = self._learned("scale", [], 1.0, "float32")
        if not symmetric:
            self.beta = self._learned("beta", [], 0.0, "float32")

    def forward(self, activation: AnyTensor) -> Any:
        self._agree(*([self.s] if self.symmetric else [self.s, self.beta]))
        if self.init_state == 0:
            self.g = to_tensor(1.0 / math.sqrt(activation.size * self.Qp))
        if self.init_state < self.batch_init:
            seen = activation.detach()
            lowest, highest = seen.min(), seen.max()
            self._follow(self.s, (highest - lowest) / (self.Qp - self.Qn))
            if not self.symmetric:
                self._follow(self.beta, lowest - self.s.detach() * self.Qn)
        self.init_state += 1
        if self.symmetric:
            return LsqFunc.apply(activation, self.s, self.g, self.Qn, self.Qp, per_channel=False)
        return LsqPlusActFunc.apply(activation, self.s, self.beta, self.g, self.Qn, self.Qp)


class FakeQuantWeightLSQPlus(_LSQPlus):
    """Rounds a weight to levels of a learned step ``s``: [1], or with ``per_channel`` [``channel_num``].

    Channels lie along axis 0, with ``quant_linear`` along axis 1. The first steps come from mean and standard
    deviation: max(|mean - 3 std|, |mean + 3 std|) / (2 ** bits - 1).
    """

    def __init__(
        self,
        quant_bits: int,
        all_postive: bool = False,
        per_channel: bool = False,
        batch_init: int = 20,
        channel_num: int | None = None,
        quant_linear: bool = False,
        dtype: DTypeLike = "float32",
        name: str | None = None,
        reduce_type: str | None = None,
    ) -> None:
        super().__init__(quant_bits, all_postive, batch_init, name, reduce_type)
        self.per_channel = per_channel
        self.quant_linear = quant_linear
        self.quant_axis = 1 if quant_linear else 0
        self.collect_axis = 0 if quant_linear else 1
        self.s = self._learned("scale", [1 if channel_num is None else channel_num], 1.0, dtype)

    def forward(self, weight: AnyTensor) -> Any:
        self._agree(self.s)
        if self.init_state == 0:
            self.g = to_tensor(1.0 / math.sqrt(weight.size * self.Qp))
        if self.init_state < self.batch_init:
            self.div = 2**self.bits - 1
            seen = weight.detach()
            if self.per_channel:
                seen = seen.reshape([seen.shape[0], -1])
                mean, std = seen.mean(axis=self.collect_axis), seen.std(axis=self.collect_axis)
            else:
                mean, std = seen.mean(), seen.std()
            self._follow(self.s, ((mean - 3 * std).abs().maximum((mean + 3 * std).abs())) / self.div)
        self.init_state = min(self.init_state, self.batch_init) + 1
        return LsqFunc.apply(weight, self.s, self.g, self.Qn, self.Qp, self.per_channel, self.quant_axis)

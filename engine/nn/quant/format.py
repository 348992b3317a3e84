"""How a converted network quantizes: layers of quantize_linear and dequantize_linear with fixed scales."""

from __future__ import annotations

import abc
from typing import Any, Self

import numpy as np

from engine.core import names
from engine.core.errors import ConditionError, NotFiniteError
from engine.eager.grad_mode import no_grad
from engine.nn.initializer import Constant
from engine.nn.layer.layers import Layer
from engine.nn.param_attr import ParamAttr
from engine.ops.quantization import linear as ops
from engine.tensor.creation import to_tensor, zeros
from engine.tensor.elements.arranging import repeat_interleave
from engine.tensor.math import clip
from engine.tensor.math import round as round_
from engine.tensor.tensor_like import AnyTensor, TensorLike


class LinearQuanterDequanter(Layer):
    """Quantizes and dequantizes again: a value becomes the nearest one that an integer stands for.

    Either half may be None: a weight that is stored as integers is dequantized only.
    """

    def __init__(self, quanter: Layer | None, dequanter: Layer | None) -> None:
        super().__init__()
        self._quanter: Any = quanter
        self._dequanter: Any = dequanter

    def forward(self, input: AnyTensor) -> Any:
        out = input if self._quanter is None else self._quanter(input)
        return out if self._dequanter is None else self._dequanter(out)

    @staticmethod
    def from_quanter(quanter: Layer | None) -> LinearQuanterDequanter:
        """Both halves with the scales that ``quanter`` has now, which they share."""
        if quanter is None:
            raise ConditionError("from_quanter: there is no quanter: got None; pass one that has scales")
        pair = LinearQuanterDequanter(
            LinearQuanter.from_quanter(quanter), LinearDequanter.from_quanter(quanter)
        )
        pair._dequanter._scales = pair._quanter._scales  # one parameter, in files too
        return pair


def _cast(x: Any, dtype: Any) -> Any:
    return x if x.dtype == dtype else x.astype(dtype)


def _show(quanter: Any, weight: Any) -> None:
    """Let a weight's quanter see the weight as it is now, after the last step of a training."""
    if isinstance(quanter, Layer):
        training = quanter.training
        quanter.eval()
        with no_grad():
            quanter(weight)
        if training:
            quanter.train()


class _Linear(Layer):
    """What both halves keep: the scales, as a parameter that is not trained, and how values are cut up.

    ``scales`` are absolute values: [] or [1] for a whole tensor, [channels] along ``quant_axis``, or
    [rows / group_size, columns] for groups of ``group_size`` rows. With ``bit_length`` bits a value of the
    size of its scale is ``2 ** (bit_length - 1) - 1``. ``round_type`` 0 rounds halves to even, and the
    smallest integer is one less than minus the largest; 1 rounds them away from 0, down to minus the largest.
    """

    def __init__(
        self,
        scales: TensorLike,
        zero_point: TensorLike | None = None,
        quant_axis: int | None = None,
        bit_length: int = 8,
        group_size: int = 128,
        round_type: int = 0,
    ) -> None:
        super().__init__()
        given = to_tensor(scales, dtype="float32")
        attr = ParamAttr(names.generate("quant_dequant.scale"), initializer=Constant(1.0), trainable=False)
        self._scales: Any = self.create_parameter(given.shape, attr=attr, dtype="float32")
        assert self._scales is not None  # its attribute is not False
        self._scales.set_value(given)
        self._zero_point = zeros([1], dtype="float32") if zero_point is None else to_tensor(zero_point)
        self._quant_axis = -1 if quant_axis is None else quant_axis
        self._bit_length = bit_length
        self._group_size = group_size
        self._round_type = round_type

    def _of_rows(self) -> Any:
        """The scale of each element where groups of rows have one, else None."""
        if len(self._scales.shape) < 2:
            return None
        return repeat_interleave(self._scales, self._group_size, 0)

    @property
    def _largest(self) -> int:
        return (1 << (self._bit_length - 1)) - 1

    @classmethod
    def from_quanter(cls, quanter: Layer) -> Self:
        """With the scales that ``quanter`` has now. Raises ConditionError where it has none,
        NotFiniteError where one is nan or infinity.
        """
        scales = quanter.scales()
        if scales is None:
            raise ConditionError(
                f"convert: a {type(quanter).__name__} has seen no values yet; show the network samples"
            )
        scales = to_tensor(scales, dtype="float32")
        if not np.isfinite(scales.numpy()).all():
            raise NotFiniteError(
                "convert: a scale is nan or infinite: its quanter saw such values; quantize again, "
                "without such samples"
            )
        return cls(
            scales,
            zero_point=quanter.zero_points(),
            quant_axis=quanter.quant_axis(),
            bit_length=quanter.bit_length(),
            group_size=getattr(quanter, "group_size", 128),
            round_type=getattr(quanter, "round_type", 0),
        )


class LinearQuanter(_Linear):
    """Integers, in the dtype of the input: the input over its scale, rounded, cut off at the largest."""

    def forward(self, input: AnyTensor) -> Any:
        wide, rows = _cast(input, "float32"), self._of_rows()
        if rows is None:
            out = ops.quantize_linear(
                wide,
                self._scales,
                self._zero_point,
                quant_axis=self._quant_axis,
                bit_length=self._bit_length,
                round_type=self._round_type,
            )[0]
        else:
            out = clip(round_(wide / rows * self._largest), -self._largest - 1, self._largest)
        return _cast(out, input.dtype)


class LinearDequanter(_Linear):
    """The values that integers stand for: integer times scale over the largest integer."""

    def forward(self, input: AnyTensor) -> Any:
        wide, rows = _cast(input, "float32"), self._of_rows()
        if rows is None:
            out = ops.dequantize_linear(
                wide, self._scales, self._zero_point, quant_axis=self._quant_axis, bit_length=self._bit_length
            )
        else:
            out = wide / self._largest * rows
        return _cast(out, input.dtype)


class ConvertibleQuantedLayer(Layer, metaclass=abc.ABCMeta):
    """A layer with quanters that QAT and PTQ can convert for inference.

    ``converted`` says that it has been. Of an own layer, ``weights_to_quanters`` pairs the attribute of each
    weight with that of its quanter, and ``activation_quanters`` lists the quanters of inputs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.converted = False

    @abc.abstractmethod
    def weights_to_quanters(self) -> list[tuple[str, str]]:
        """Pairs of attributes: a weight and its quanter."""

    @abc.abstractmethod
    def activation_quanters(self) -> list[str]:
        """The attributes that are quanters of inputs."""

    def _convert_quanter_to_qdq(self, quanter_name: str) -> LinearQuanterDequanter | None:
        if not hasattr(self, quanter_name):
            raise ConditionError(
                f"{type(self).__name__}: {quanter_name} is not attribute of current layer.; name a quanter "
                "that its __init__ sets"
            )
        quanter = getattr(self, quanter_name)
        if quanter is None:
            return None
        pair = LinearQuanterDequanter.from_quanter(quanter)
        setattr(self, quanter_name, pair)
        return pair

    def _convert(self, remain_weight: bool = False) -> None:
        """Fixed scales instead of quanters; weights become integers unless ``remain_weight``."""
        if self.converted:
            raise ConditionError(
                f"{type(self).__name__}: The model should be converted only once.; convert its quantized form"
            )
        for weight_name, quanter_name in self.weights_to_quanters():
            _show(getattr(self, quanter_name, None), getattr(self, weight_name))
            pair = self._convert_quanter_to_qdq(quanter_name)
            if pair is not None and not remain_weight:
                weight = getattr(self, weight_name)
                weight.set_value(pair._quanter(weight))
                pair._quanter = None
        for quanter_name in self.activation_quanters():
            self._convert_quanter_to_qdq(quanter_name)
        self.converted = True

"""Small quantized networks as converted Layers are: pairs around values, weights as integers in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

import engine as paddle
from engine import nn
from engine.ops.quantization.linear import dequantize_linear, quantize_linear


class Pair(nn.Layer):
    """What values become that go through the integers of ``bits`` bits, for the threshold ``scale``."""

    def __init__(self, scale: Any, bits: int = 8, axis: int = -1, to_integers: bool = True) -> None:
        super().__init__()
        scale = np.asarray(scale, np.float32).reshape(-1)
        self.scale = self.create_parameter([len(scale)])
        self.scale.set_value(scale)
        self.scale.stop_gradient = True
        self.attrs = {"quant_axis": axis, "bit_length": bits}
        self.to_integers = to_integers

    def forward(self, x: Any) -> Any:
        if self.to_integers:
            x = quantize_linear(x, self.scale, **self.attrs)[0]
        return dequantize_linear(x, self.scale, **self.attrs)


class Quantized(nn.Layer):
    """A convolution or linear layer between a pair and a pair of its weight, which is integers already."""

    def __init__(
        self, layer: Any, scale: float, bits: tuple[int, int] = (8, 8), per_channel: bool = True
    ) -> None:
        super().__init__()
        self.layer = layer
        weight = layer.weight.numpy()
        axis = 1 if isinstance(layer, nn.Linear | nn.Conv2DTranspose) else 0
        others = tuple(n for n in range(weight.ndim) if n != axis) if per_channel else None
        top = np.abs(weight).max(axis=others)
        shape = [-1 if n == axis else 1 for n in range(weight.ndim)] if per_channel else [1]
        most = 2 ** (bits[1] - 1) - 1
        layer.weight.set_value(np.rint(weight / top.reshape(shape) * most).astype(np.float32))
        self.value = Pair(scale, bits[0])
        self.weight = Pair(top, bits[1], axis if per_channel else -1, to_integers=False)

    def forward(self, x: Any) -> Any:
        x, layer = self.value(x), self.layer
        weight, bias = self.weight(layer.weight), layer.bias
        if isinstance(layer, nn.Linear):
            return nn.functional.linear(x, weight, bias)
        call = (
            nn.functional.conv2d_transpose if isinstance(layer, nn.Conv2DTranspose) else nn.functional.conv2d
        )
        return call(x, weight, bias, stride=layer._stride, padding=layer._padding, groups=layer._groups)


def small_net(seed: int = 5, bits: tuple[int, int] = (8, 8)) -> Any:
    """[N, 1, 12, 12] -> [N, 10]: two convolutions, the second depthwise, and two linear layers."""
    paddle.seed(seed)
    net = nn.Sequential(
        Quantized(nn.Conv2D(1, 4, 3, padding=1), 1.0, bits),
        nn.ReLU(),
        nn.MaxPool2D(2, 2),
        Quantized(nn.Conv2D(4, 4, 3, groups=4), 2.0, bits, per_channel=False),
        nn.ReLU(),
        nn.Flatten(),
        Quantized(nn.Linear(64, 16), 1.5, bits),
        nn.ReLU(),
        Quantized(nn.Linear(16, 10), 1.0, bits),
    )
    net.eval()
    return net


def random_images(count: int = 3, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random((count, 1, 12, 12), np.float32)

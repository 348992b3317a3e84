"""Spectral normalization: a weight divided by its largest singular value before each forward."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.eager.grad_mode import no_grad
from engine.nn.layer.common import Linear
from engine.nn.layer.conv import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from engine.nn.layer.layers import Layer
from engine.nn.utils.weights import taken
from engine.ops.training import parameter_updates
from engine.tensor import random
from engine.tensor.tensor_like import AnyTensor

# Layers whose weight has the outputs in its second dimension.
_OUTPUTS_SECOND = (Linear, Conv1DTranspose, Conv2DTranspose, Conv3DTranspose)


class SpectralNorm:
    """The hook: ``name`` = ``name_orig`` / its largest singular value, followed by power iteration.

    The iteration continues in training mode only; its vectors are the buffers ``name_u`` and ``name_v``.
    """

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def matrix(self, weight: AnyTensor) -> Any:
        """The weight as [size of dim, all others]."""
        if self.dim != 0:
            order = [self.dim, *[n for n in range(weight.ndim) if n != self.dim]]
            weight = weight.transpose(order)
        return weight.reshape([weight.shape[0], -1])

    def unit(self, vector: AnyTensor) -> Any:
        length = (vector * vector).sum().sqrt()
        return vector / length.clip(min=self.eps)

    def weight(self, layer: Layer) -> Any:
        """What the weight is now; in training mode after further iterations."""
        original = getattr(layer, f"{self.name}_orig")
        u, v = getattr(layer, f"{self.name}_u"), getattr(layer, f"{self.name}_v")
        matrix = self.matrix(original)
        if layer.training:
            with no_grad():
                before = u, v
                for _ in range(self.n_power_iterations):
                    v = self.unit(matrix.matmul(u, transpose_x=True))
                    u = self.unit(matrix.matmul(v))
                for buffer, value in zip(before, (u, v), strict=True):
                    parameter_updates.assign_into(buffer, value)
        return original / (u * matrix.matmul(v)).sum()

    def __call__(self, layer: Layer, inputs: tuple[Any, ...]) -> None:
        setattr(layer, self.name, self.weight(layer))


def _drawn(hook: SpectralNorm, layer: Layer, size: int) -> Any:
    """A random vector of length 1, drawn as in Paddle: as a parameter of the layer first."""
    first = layer.create_parameter([size])
    assert first is not None
    return hook.unit(random.normal(shape=[size]).astype(first.dtype))


def spectral_norm(
    layer: Layer,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Layer:
    """Divide a parameter by its largest singular value before each forward; returns the layer.

    ``dim`` is the dimension of the outputs: by default 1 for Linear and transposed convolutions, else 0.
    Miyato et al., Spectral normalization for generative adversarial networks (2018). Raises ArgumentError
    where there is no such parameter, or it is normalized already.
    """
    if n_power_iterations <= 0:
        raise ArgumentError(f"spectral_norm: n_power_iterations must be above 0: got {n_power_iterations}")
    parameter = taken(layer, name, "spectral_norm", SpectralNorm)
    if dim is None:
        dim = 1 if isinstance(layer, _OUTPUTS_SECOND) else 0
    hook = SpectralNorm(name, n_power_iterations, dim, eps)
    with no_grad():
        rows, columns = hook.matrix(parameter).shape
        vectors = [_drawn(hook, layer, size) for size in (rows, columns)]
    del layer._parameters[name]
    layer.add_parameter(f"{name}_orig", parameter)
    setattr(layer, name, parameter * 1.0)
    for suffix, vector in zip("uv", vectors, strict=True):
        layer.register_buffer(f"{name}_{suffix}", vector)
    layer.register_forward_pre_hook(hook)
    return layer

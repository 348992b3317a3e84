"""Frozen plans: inference with weights and shapes that stay, so that all checks and layouts are done once.

Imported when the first plan is frozen. ``KERNELS`` has the functions that bind operators; one without an
entry runs its usual kernel between the bound ones.
"""

from engine.program.run.frozen import convolution, elementwise, pooling, products
from engine.program.run.frozen.site import Maker

KERNELS: dict[str, Maker] = {
    "conv2d": convolution.plain,
    "conv2d_fusion": convolution.fused,
    "matmul_v2": products.matmul,
    "mul": products.mul,
    "pool2d": pooling.pool,
    "relu": elementwise.relu,
}

__all__ = ["KERNELS"]

"""The CPU backend: NumPy, and the kernels that are faster than the default ones there."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping

import numpy as np

from engine.core.operators.opdef import OpDef

xp = np

# Called without the kernel's Python function around them: 0.15 of the 0.9 us that a tiny operator takes.
UFUNCS = {
    "abs": np.absolute,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "bitwise_and": np.bitwise_and,
    "bitwise_not": np.invert,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "elementwise_add": np.add,
    "elementwise_div": np.divide,
    "elementwise_floordiv": np.floor_divide,
    "elementwise_fmax": np.fmax,
    "elementwise_fmin": np.fmin,
    "elementwise_max": np.maximum,
    "elementwise_min": np.minimum,
    "elementwise_mod": np.remainder,
    "elementwise_mul": np.multiply,
    "elementwise_pow": np.power,
    "elementwise_sub": np.subtract,
    "equal": np.equal,
    "exp": np.exp,
    "expm1": np.expm1,
    "floor": np.floor,
    "gcd": np.gcd,
    "greater_equal": np.greater_equal,
    "greater_than": np.greater,
    "hypot": np.hypot,
    "isfinite_v2": np.isfinite,
    "isinf_v2": np.isinf,
    "isnan_v2": np.isnan,
    "lcm": np.lcm,
    "less_equal": np.less_equal,
    "less_than": np.less,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "logaddexp": np.logaddexp,
    "logical_and": np.logical_and,
    "logical_not": np.logical_not,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "nextafter": np.nextafter,
    "not_equal": np.not_equal,
    "sign": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "square": np.square,
    "tan": np.tan,
    "trunc": np.trunc,
}

# Operators of which eager calls take compiled kernels too, and the elements of the first input from which on
# these gain more than a look at a table costs (engine/program/run/eager_kernels.py).
COMPILED = {
    **dict.fromkeys(
        (
            "batch_norm",
            "batch_norm_grad",
            "conv2d",
            "conv2d_grad",
            "conv2d_transpose",
            "conv2d_transpose_grad",
            "depthwise_conv2d",
            "depthwise_conv2d_grad",
            "depthwise_conv2d_transpose",
            "depthwise_conv2d_transpose_grad",
            "layer_norm",
            "layer_norm_grad",
            "log_softmax",
            "mean_cross_entropy",
            "max_pool2d_with_index",
            "max_pool2d_with_index_grad",
            "max_pool3d_with_index",
            "max_pool3d_with_index_grad",
            "mean_cross_entropy_grad",
            "pool2d",
            "pool2d_grad",
            "pool3d",
            "pool3d_grad",
            "rnn",
            "rnn_grad",
            "softmax",
            "softmax_grad",
            "softmax_with_cross_entropy",
            "softmax_with_cross_entropy_grad",
            "unpool",
            "unpool3d",
        ),
        1 << 8,
    ),
    # Many walks of NumPy over the array are one loop: with 4,096 elements 0.2 to 0.5 of the time.
    **dict.fromkeys(
        (
            "celu",
            "elu",
            "gelu",
            "gelu_grad",
            "mish",
            "mish_grad",
            "selu",
            "sigmoid",
            "silu",
            "softplus",
            "softplus_grad",
            "swish",
            "swish_grad",
        ),
        1 << 12,
    ),
    # Where the product is not BLAS's (decision 0133) 0.5 of the time, else smaller shards are handed over.
    **dict.fromkeys(("matmul_v2", "product_of_rows"), 1 << 14),
    "relu_grad": 1 << 16,  # three walks: 0.7 of the time, with 2 M elements 0.5, with 4,096 1.5
}

# mallopt's names for these numbers, from <malloc.h>.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_MIB = 1 << 20


def keep_freed_memory() -> bool:
    """Let the C library reuse the memory of freed arrays instead of giving it back to the system each time.

    By default it returns a freed block at the end of the heap to the system, so a step of eager training asks
    the system for the same pages again and again: the first convolution of LeNet takes 0.2 ms instead of 1.1.
    All threads share what was freed, by the pool's threads too. False where the C library is not glibc, or
    the user has set its MALLOC_ variables.
    """
    if not sys.platform.startswith("linux") or any(name.startswith("MALLOC_") for name in os.environ):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    # Old releases take no more than 32 MiB for the first.
    larger = any(mallopt(_MMAP_THRESHOLD, size * _MIB) for size in (256, 32))
    return bool(larger and mallopt(_TRIM_THRESHOLD, 512 * _MIB) and mallopt(_ARENA_MAX, 1))


def register(ops: Mapping[str, OpDef]) -> None:
    """Put the kernels of this backend into the definitions of ``ops``."""
    keep_freed_memory()
    for name, ufunc in UFUNCS.items():
        ops[name].override("cpu", ufunc, direct=True)
    for name, large in COMPILED.items():
        ops[name].take_compiled(large)

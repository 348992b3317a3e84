"""Every operator the engine knows, one family a file. Importing this package fills ``OPS``."""

from engine.core.opdef import OPS
from engine.kernels import cpu
from engine.ops import (
    activation,
    compare,
    control,
    conv,
    index,
    labels,
    linalg,
    loss,
    math,
    norm,
    padding,
    pool,
    random,
    reduce,
    shape,
    update,
)

__all__ = [
    "OPS",
    "activation",
    "compare",
    "control",
    "conv",
    "index",
    "labels",
    "linalg",
    "loss",
    "math",
    "norm",
    "padding",
    "pool",
    "random",
    "reduce",
    "shape",
    "update",
]

cpu.register(OPS)

"""Every operator the engine knows, one family a file. Importing this package fills ``OPS``."""

from engine.core.opdef import OPS
from engine.ops import (
    activation,
    compare,
    control,
    conv,
    index,
    linalg,
    loss,
    math,
    pool,
    random,
    reduce,
    shape,
)

__all__ = [
    "OPS", "activation", "compare", "control", "conv", "index", "linalg", "loss", "math", "pool", "random",
    "reduce", "shape",
]  # fmt: skip

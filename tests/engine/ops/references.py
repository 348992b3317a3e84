"""References that tables of several families share."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tests.engine.ops.case import unary_shapes

U = list(unary_shapes())


def places(shape: Any) -> Any:
    return itertools.product(*[range(d) for d in shape])


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))

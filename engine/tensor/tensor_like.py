"""The types of public signatures: what is a tensor, and what else becomes one.

Results stay open: a function gives a Tensor, or a Variable while a Program is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from engine.core.values.dtype import DType
from engine.eager.tensor import Tensor
from engine.program.graph.variable import Variable

# What the current mode takes as a tensor.
AnyTensor: TypeAlias = Tensor | Variable
# What else becomes a tensor: numbers, arrays, and nested lists of them.
TensorLike: TypeAlias = AnyTensor | np.ndarray[Any, Any] | np.generic | complex | Sequence[Any]
# What names a data type: NumPy's and Python's types too.
DTypeLike: TypeAlias = DType | str | np.dtype[Any] | type
# The length of each dimension: integers, tensors of one, or one tensor of all.
ShapeLike: TypeAlias = Sequence[Any] | AnyTensor

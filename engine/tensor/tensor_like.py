"""The types of public signatures: what is a tensor, and what else becomes one.

Results stay open: a function gives a Tensor, or a Variable while a Program is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from engine.core.values.dtype import DTypeLike as DTypeLike
from engine.eager.tensor import Tensor
from engine.program.graph.variable import Variable

# What the current mode takes as a tensor.
AnyTensor: TypeAlias = Tensor | Variable
# What else becomes a tensor: numbers, arrays, and nested lists of them.
TensorLike: TypeAlias = AnyTensor | np.ndarray[Any, Any] | np.generic | complex | Sequence[Any]
# One real number: a tensor of one too.
NumberLike: TypeAlias = float | np.integer[Any] | np.floating[Any] | AnyTensor
# One integer: a tensor of one, or a dimension that only the running Program knows.
IntegerLike: TypeAlias = SupportsIndex
# One or several integers, such as the numbers of dimensions.
IntegersLike: TypeAlias = IntegerLike | list[Any] | tuple[Any, ...] | np.ndarray[Any, Any]
# The length of each dimension: integers, tensors of one, or one tensor of all.
ShapeLike: TypeAlias = Sequence[Any] | AnyTensor

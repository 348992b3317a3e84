"""The types of plain values: what a JSON document and a native file hold."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""A value of a JSON document."""

Array: TypeAlias = NDArray[Any]
"""An array of one of the dtypes that ``engine.files.native.tree`` stores."""

Plain: TypeAlias = (
    "bool | int | float | complex | str | bytes | np.generic | Array"
    " | list[Plain] | tuple[Plain, ...] | dict[Any, Plain] | None"
)
"""A value that a native file can hold; keys of a dict are texts, numbers or None."""

StrPath: TypeAlias = str | os.PathLike[str]
"""A path as the functions of this room take it."""

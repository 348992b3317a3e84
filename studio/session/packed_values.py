"""Values of a tensor that a child process packed for the pipe."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np


def with_arrays(kind: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A view of :mod:`engine.debugger.views` with its pixels as an array.

    Raises LookupError, TypeError or ValueError for values that are not one.
    """
    if kind != "image":
        return dict(values)
    shape = values["channels"], values["rows"], values["columns"]
    pixels = np.frombuffer(base64.b64decode(values["values"]), "<f4").reshape(shape)
    return {**values, "values": pixels}

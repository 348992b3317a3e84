"""CuPy's API, as ``record.py`` recorded it; everything else is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any


@cache
def names() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("names.json").read_text())
    return found


def require(
    where: str, allowed: Sequence[str] | None, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Raise TypeError for arguments that CuPy's function does not have."""
    if allowed is None:
        return
    plain = [name for name in allowed if not name.startswith("*")]
    takes_any = any(name.startswith("*") and not name.startswith("**") for name in allowed)
    if len(args) > len(plain) and not takes_any:
        raise TypeError(f"cupy.{where}() takes {len(plain)} positional arguments but {len(args)} were given")
    if any(name.startswith("**") for name in allowed):
        return
    for name in kwargs:
        if name not in plain:
            raise TypeError(f"cupy.{where}() got an unexpected keyword argument {name!r}")

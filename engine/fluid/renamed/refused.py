"""Classes of 1.x that scripts import and that have no form here: creating one raises the reason."""

from __future__ import annotations

from typing import Any

from engine.core.errors import UnsupportedError


def refused(name: str, module: str, why: str) -> type:
    """A class that can be imported; creating one raises UnsupportedError with ``why``: what to use."""

    def __init__(self: object, *args: Any, **kwargs: Any) -> None:
        raise UnsupportedError(f"{module}.{name}: {why}")

    return type(name, (), {"__init__": __init__, "__doc__": f"Refused: {why}.", "__module__": module})

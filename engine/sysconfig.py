"""Paddle's ``sysconfig``: where headers and libraries for compiled extensions would be."""

from __future__ import annotations

from pathlib import Path

__all__ = ["get_include", "get_lib"]

_ROOT = Path(__file__).resolve().parent


def get_include() -> str:
    """The folder of the headers.

    Differs from Paddle: there are none, so the folder is absent; the engine takes no compiled extensions.
    """
    return str(_ROOT / "include")


def get_lib() -> str:
    """The folder of the libraries.

    Differs from Paddle: there are none, so the folder is absent; the engine takes no compiled extensions.
    """
    return str(_ROOT / "libs")

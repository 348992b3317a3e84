"""The high-level interface: ``Model``, which trains, evaluates and predicts, and its callbacks."""

from typing import TYPE_CHECKING

from engine.core.lazy import lazy

if TYPE_CHECKING:
    from engine.hapi import callbacks
    from engine.hapi.model import Model

__getattr__ = lazy(__name__, modules=("callbacks", "model"), members={"engine.hapi.model": ("Model",)})

__all__ = ["Model", "callbacks"]

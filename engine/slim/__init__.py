"""Facade: PaddleSlim's public paths, ``paddleslim`` in scripts: what makes networks smaller."""

from typing import TYPE_CHECKING

from engine.core.alias.absent import refusing
from engine.core.lazy import lazy

if TYPE_CHECKING:
    from engine.slim import models, quant

__all__ = ["models", "quant"]

__version__ = "2.6.0"

__getattr__ = lazy(__name__, modules=("models", "quant"), missing=refusing(__name__))

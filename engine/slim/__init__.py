"""Facade: PaddleSlim's public paths, ``paddleslim`` in scripts: what makes networks smaller."""

from typing import TYPE_CHECKING

from engine.core.alias.absent import refusing
from engine.core.lazy import lazy

if TYPE_CHECKING:
    from engine.slim import dygraph, models, quant
    from engine.slim.dygraph import (
        PTQ,
        QAT,
        AbsmaxQuantizer,
        HistQuantizer,
        KLQuantizer,
        PerChannelAbsmaxQuantizer,
    )

__all__ = [
    "PTQ",
    "QAT",
    "AbsmaxQuantizer",
    "HistQuantizer",
    "KLQuantizer",
    "PerChannelAbsmaxQuantizer",
    "dygraph",
    "models",
    "quant",
]

__version__ = "2.6.0"

_MODULES = ("dygraph", "models", "quant")

__getattr__ = lazy(
    __name__,
    modules=_MODULES,
    members={"engine.slim.dygraph": [name for name in __all__ if name not in _MODULES]},
    missing=refusing(__name__),
)

"""PaddleSlim's ``quant``: quantization of static graphs and files."""

from engine.core.alias.absent import refusing
from engine.core.lazy import lazy

__all__: list[str] = []

__getattr__ = lazy(__name__, modules=("observers",), missing=refusing(__name__))

"""PaddleSlim's ``quant``: quantization of static graphs and files, observers and quanters."""

from typing import TYPE_CHECKING

from engine.core.alias.absent import refusing
from engine.core.lazy import lazy

if TYPE_CHECKING:
    from engine.slim.quant import observers, quanters
    from engine.slim.quant.embedding import quant_embedding
    from engine.slim.quant.quanter import (
        convert,
        quant_aware,
        quant_post,
        quant_post_dynamic,
        quant_post_only_weight,
        quant_post_static,
    )

_FUNCTIONS = (
    "convert",
    "quant_aware",
    "quant_post",
    "quant_post_dynamic",
    "quant_post_only_weight",
    "quant_post_static",
)

__all__ = ["observers", "quant_embedding", "quanters", *_FUNCTIONS]

__getattr__ = lazy(
    __name__,
    modules=("observers", "quanters"),
    members={"engine.slim.quant.embedding": ("quant_embedding",), "engine.slim.quant.quanter": _FUNCTIONS},
    missing=refusing(__name__),
)

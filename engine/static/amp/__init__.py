"""``paddle.static.amp``: mixed precision in static Programs."""

from engine.static.amp import bf16, debugging, decorator, fp16_lists, fp16_utils
from engine.static.amp.decorator import decorate
from engine.static.amp.fp16_lists import AutoMixedPrecisionLists, CustomOpLists
from engine.static.amp.fp16_utils import cast_model_to_fp16, cast_parameters_to_fp16, fp16_guard

__all__ = [
    "AutoMixedPrecisionLists",
    "CustomOpLists",
    "bf16",
    "cast_model_to_fp16",
    "cast_parameters_to_fp16",
    "debugging",
    "decorate",
    "decorator",
    "fp16_guard",
    "fp16_lists",
    "fp16_utils",
]

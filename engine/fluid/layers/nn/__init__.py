"""``fluid.layers.nn``: what networks are made of, by family."""

from typing import Any

from engine.core.alias.absent import refusing
from engine.fluid.layers.adapting import layer_function, public
from engine.fluid.layers.nn import (
    building,
    distributions,
    dropping,
    elementwise,
    images,
    pooling,
    python,
    regions,
    shapes,
    tagging,
)

for _module in (
    building,
    distributions,
    dropping,
    elementwise,
    images,
    pooling,
    python,
    regions,
    shapes,
    tagging,
):
    globals().update(public(_module))
del _module


def __getattr__(name: str) -> Any:
    found = layer_function(name)
    return refusing("engine.fluid.layers")(name) if found is None else found

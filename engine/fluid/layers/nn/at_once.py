"""Functions that make parameters, called in a guard: the Layer of the same name, or they themselves, compute.

As in Paddle each call creates its own parameters, which the guard keeps.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, TypeVar

from engine.eager.tensor import Tensor
from engine.fluid.dygraph import tracer as tracers
from engine.program.build.builder import current_builder
from engine.static.nn.helper import parameters_at_once

F = TypeVar("F", bound=Callable[..., Any])

LAYERS = {
    "batch_norm": "BatchNorm",
    "bilinear_tensor_product": "BilinearTensorProduct",
    "conv2d": "Conv2D",
    "conv2d_transpose": "Conv2DTranspose",
    "conv3d": "Conv3D",
    "conv3d_transpose": "Conv3DTranspose",
    "embedding": "Embedding",
    "fc": "FC",
    "group_norm": "GroupNorm",
    "gru_unit": "GRUUnit",
    "instance_norm": "InstanceNorm",
    "layer_norm": "LayerNorm",
    "nce": "NCE",
    "prelu": "PRelu",
    "row_conv": "RowConv",
    "spectral_norm": "SpectralNorm",
}


def also_at_once(function: F, late: bool = False) -> F:
    """``function``, which makes parameters in a Program; eager values in a guard go through its Layer, in the
    form of 1.5 or, if ``late``, of 1.7."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        tracer = tracers.current()
        if tracer is None or current_builder() is not None:
            return function(*args, **kwargs)
        given = inspect.signature(function).bind(*args, **kwargs).arguments
        first = next(iter(given))
        value = given.pop(first)
        if not all(isinstance(each, Tensor) for each in (value if isinstance(value, list) else [value])):
            return function(*args, **kwargs)
        layer = _made(function.__name__, value, given, late)
        tracer.keep(layer)
        others = list(inspect.signature(layer.forward).parameters)[1:]
        return layer(value, **{name: given[name] for name in others if name in given})

    return typing.cast(F, call)


def also_in_a_guard(function: F) -> F:
    """``function``, which has no Layer and makes parameters in a Program: eager values in a guard get eager
    parameters of its own call, which the guard keeps."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        tracer = tracers.current()
        if tracer is None or current_builder() is not None:
            return function(*args, **kwargs)

        def keep(parameter: Any) -> None:
            tracer.keep(parameter)
            tracer.add_parameter(parameter)

        with parameters_at_once.guard(keep):
            return function(*args, **kwargs)

    return typing.cast(F, call)


def _made(name: str, value: Any, given: dict[str, Any], late: bool) -> Any:
    from engine.fluid.dygraph import nn

    kind = getattr(nn, LAYERS[name])
    known = {key: each for key, each in given.items() if key in kind.EARLY.parameters}
    if name == "batch_norm":
        last = given.get("data_layout", "NCHW") == "NHWC"
        known["num_channels"] = int(value.shape[-1 if last else 1])
        if given.get("fuse_with_relu") and given.get("act") is None:
            known["act"] = "relu"
    return kind(**known) if late else kind(given.get("name") or name, **known)

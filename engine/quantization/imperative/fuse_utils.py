"""Batch norm folded into the layer before it, in a network of layers."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from engine.core.errors import ArgumentError, ConditionError
from engine.eager.grad_mode import no_grad
from engine.nn.layer.base.parameters import create_parameter
from engine.nn.layer.common import Identity, Linear
from engine.nn.layer.conv import Conv2D
from engine.nn.layer.layers import Layer
from engine.nn.layer.norm import BatchNorm1D, BatchNorm2D
from engine.quantization.imperative.utils import find_parent_layer_and_sub_name, put
from engine.tensor.elementwise.exponential import rsqrt

# For each pair of layers: the shape in which factors of channels broadcast with the first one's weight.
_PAIRS: dict[tuple[type, type], list[int]] = {
    (Conv2D, BatchNorm2D): [-1, 1, 1, 1],
    (Linear, BatchNorm1D): [1, -1],
}


def conv_bn_names(model: Layer) -> list[list[str]]:
    """The names of each Conv2D and the BatchNorm2D that was defined right after it."""
    named = list(model.named_sublayers())
    return [
        [first, second]
        for (first, conv), (second, norm) in pairwise(named)
        if isinstance(conv, Conv2D) and isinstance(norm, BatchNorm2D)
    ]


def fuse_conv_bn(model: Layer) -> None:
    """Fold every batch norm that was defined right after a convolution into that, in place.

    Differs from Paddle: there it folds in a copy that is thrown away.
    """
    fuse_layers(model, conv_bn_names(model), inplace=True)


def fuse_layers(model: Layer, layers_to_fuse: Sequence[Sequence[str]], inplace: bool = False) -> Layer:
    """``model`` (a copy, unless ``inplace``) with the pairs of names, a layer and its batch norm, made one.

    The statistics are the running ones, whatever the mode; an Identity takes the batch norm's place. Raises
    ArgumentError for other pairs.
    """
    model = model if inplace else copy.deepcopy(model)
    for names in layers_to_fuse:
        _fuse(model, list(names))
    return model


def _fuse(model: Layer, names: list[str]) -> None:
    try:
        layers: list[Any] = []
        for name in names:
            parent, last = find_parent_layer_and_sub_name(model, name)
            layers.append(getattr(parent, last))
    except AttributeError as error:
        raise ArgumentError(
            f"fuse_layers: {names} are not layers of {type(model).__name__}: {error}; give names as of "
            "named_sublayers"
        ) from None
    kinds = tuple(type(layer) for layer in layers)
    if kinds not in _PAIRS:
        said = " and ".join(kind.__name__ for kind in kinds)
        raise ArgumentError(
            f"fuse_layers: {names} are {said}: a Conv2D and a BatchNorm2D, or a Linear and a "
            "BatchNorm1D, are made one; leave others out"
        )
    layer, norm = layers
    channels = layer.weight.shape[_PAIRS[kinds].index(-1)]
    if norm._num_features != channels:
        raise ConditionError(
            f"fuse_layers: {names[1]} has {norm._num_features} channels, and {names[0]} gives {channels}; "
            "pair each batch norm with the layer that feeds it"
        )
    with no_grad():
        factor = rsqrt(norm._variance + norm._epsilon)
        if norm.weight is not None:
            factor = factor * norm.weight
        bias = -norm._mean if layer.bias is None else layer.bias - norm._mean
        bias = bias * factor if norm.bias is None else bias * factor + norm.bias
        layer.weight.set_value(layer.weight * factor.reshape(_PAIRS[kinds]))
        if layer.bias is None:
            layer.bias = create_parameter(bias.shape, bias.dtype, is_bias=True)
        layer.bias.set_value(bias)
    for hook in norm._forward_post_hooks.values():
        layer.register_forward_post_hook(hook)
    instead = Identity()
    instead.training = norm.training
    put(model, names[1], instead)

"""Moving the parameters and buffers of a tree of layers to another dtype or device, in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

from engine.core.delegate import delegate
from engine.core.errors import DTypeError
from engine.core.operators.operator import Leaf
from engine.core.place import Place, PlaceLike, array_module, as_place, backend, moved
from engine.core.precision import works_here
from engine.core.strictness import warn_at_user
from engine.core.values.bfloat import adopt, converted
from engine.core.values.dtype import DType, as_dtype
from engine.eager.tensor import Tensor
from engine.nn.layer.base.state import LayerTree
from engine.tensor.tensor_like import DTypeLike

AnyLayer = TypeVar("AnyLayer", bound=LayerTree)
# A class of layers, or several.
Classes: TypeAlias = type[Any] | Sequence[type[Any]]


def move(tensor: Tensor, dtype: DType | None = None, place: Place | None = None) -> None:
    """Give ``tensor`` (and the gradient it holds) the same values as another dtype or at another place."""
    tensor._array = _moved(tensor._array, dtype, place)
    edge = tensor._edge
    if edge.__class__ is Leaf and edge.grad is not None:
        edge.grad._array = _moved(edge.grad._array, dtype, place)


def _moved(array: Any, dtype: DType | None, place: Place | None) -> Any:
    if place is not None:
        array = adopt(moved(backend(place).xp, array))
    return array if dtype is None else converted(array_module(array), array, dtype, copy=False)


def transform(
    layer: AnyLayer,
    dtype: DTypeLike | None = None,
    device: PlaceLike | None = None,
    *,
    sublayers: bool = True,
    floating_only: bool = False,
) -> AnyLayer:
    """Move ``layer``, and those below it with ``sublayers``; returns it.

    Layers print a dtype as it was given, as in Paddle: 'float64' or paddle.float64.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    place = None if device is None else as_place(device)
    for each in layer.sublayers(include_self=True) if sublayers else [layer]:
        for tensor in (*each._parameters.values(), *each._buffers.values()):
            if tensor is not None:
                keep = floating_only and not tensor.dtype.is_floating_point
                move(tensor, None if keep else wanted, place)
        if wanted is not None:
            each._dtype = dtype if isinstance(dtype, str) else wanted
    return layer


def to_floating(layer: AnyLayer, dtype: str, excluded: Classes) -> AnyLayer:
    """Cast the floating parameters and buffers of all layers that are not of an ``excluded`` class."""
    if isinstance(excluded, type):
        excluded = [excluded]
    if not isinstance(excluded, (list, tuple)):
        raise DTypeError(
            f"{dtype}: excluded_layers must be a Layer class or a list of them: got {type(excluded).__name__}"
        )

    def cast(each: LayerTree) -> None:
        if type(each) not in excluded:
            transform(each, as_dtype(dtype), sublayers=False, floating_only=True)

    layer.apply(cast)
    return layer


@delegate("engine.nn.layer.norm")
def kept_in_half() -> list[type]:
    """The classes of layers that keep their dtype where a network becomes one of half precision."""
    raise NotImplementedError


def to_half(layer: AnyLayer, dtype: str, excluded: Classes | None) -> AnyLayer:
    """As ``to_floating``, on GPUs; batch norms keep their dtype where nothing else is said."""
    if not works_here():
        warn_at_user(
            f"Paddle compiled by the user does not support {dtype}, so keep original data type.", UserWarning
        )
        return layer

    return to_floating(layer, dtype, kept_in_half() if excluded is None else excluded)

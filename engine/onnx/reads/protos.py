"""The values that ONNX's messages hold: those of tensors and of attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.onnx.extra import onnx_package
from engine.onnx.reads.values import Unreadable

if TYPE_CHECKING:
    from onnx import AttributeProto, TensorProto


STRINGS = 8


def array_of(tensor: TensorProto) -> np.ndarray:
    """The array of a TensorProto. Raises Unreadable for external data and for damaged ones."""
    onnx = onnx_package()
    if tensor.data_location == onnx.TensorProto.EXTERNAL or len(tensor.external_data):
        raise Unreadable(
            f"tensor {tensor.name!r:.200} is in another file; save the model with its weights in one file"
        )
    if tensor.data_type == STRINGS:
        raise Unreadable(f"tensor {tensor.name!r:.200} holds texts; only numbers can be read")
    if any(d < 0 for d in tensor.dims) or tensor.HasField("segment"):
        raise Unreadable(f"tensor {tensor.name!r:.200} has the shape {list(tensor.dims)[:8]}")
    try:
        array = onnx.numpy_helper.to_array(tensor)
    except Exception as error:  # of any class, for lengths and kinds that do not fit
        raise Unreadable(f"tensor {tensor.name!r:.200} can't be read: {error!s:.200}") from None
    if array.dtype.byteorder == ">" or not array.flags.writeable:
        array = np.array(array, array.dtype.newbyteorder("="))
    return array  # type: ignore[no-any-return]


def attribute(given: AttributeProto) -> Any:
    """The value of an AttributeProto. Floats are the shortest decimals that give the same float32."""
    kinds = onnx_package().AttributeProto
    match given.type:
        case kinds.INT:
            return int(given.i)
        case kinds.FLOAT:
            return _shortest(given.f)
        case kinds.STRING:
            return given.s.decode("utf-8", "replace")
        case kinds.INTS:
            return [int(v) for v in given.ints]
        case kinds.FLOATS:
            return [_shortest(v) for v in given.floats]
        case kinds.STRINGS:
            return [v.decode("utf-8", "replace") for v in given.strings]
        case kinds.TENSOR:
            return array_of(given.t)
        case kinds.GRAPH:
            return given.g
        case kinds.TYPE_PROTO:
            return given.tp
    raise Unreadable(f"attribute {given.name!r:.100} is of a kind that is not supported")


def _shortest(value: float) -> float:
    return float(str(np.float32(value)))

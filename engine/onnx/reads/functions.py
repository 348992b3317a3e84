"""Operators without a row: the bodies of functions, those of the model and those that define operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from engine.onnx.extra import onnx_package
from engine.onnx.reads.protos import attribute
from engine.onnx.reads.values import Items, Levels, Numbers
from engine.tensor.arrays.tensor_array import TensorArray

if TYPE_CHECKING:
    from onnx import FunctionProto, NodeProto


DEFAULT = ("", "ai.onnx")


def body_of(
    node: NodeProto, functions: dict[tuple[str, str], FunctionProto], opset: int, values: list[Any]
) -> FunctionProto | None:
    """The FunctionProto of a node, whose inputs have these values; None where there is none."""
    found = functions.get((node.domain, node.op_type))
    if found is not None or node.domain not in DEFAULT:
        return found
    onnx = onnx_package()
    try:
        schema = onnx.defs.get_schema(node.op_type, opset, "")
    except onnx.defs.SchemaError:
        return None
    if schema.has_function:
        defined: FunctionProto = schema.function_body
        return defined
    if not schema.has_context_dependent_function:
        return None
    types = [_type_of(value).SerializeToString() for value in values]
    versions = [v for v in schema.context_dependent_function_opset_versions if v <= opset]
    if not versions:
        return None
    content = schema.get_context_dependent_function_with_opset_version(
        max(versions), node.SerializeToString(), types
    )
    body: FunctionProto = onnx.FunctionProto()
    body.ParseFromString(content)
    return body


def attributes_of(body: FunctionProto, node: NodeProto, given: dict[str, Any], opset: int) -> dict[str, Any]:
    """What the body's references to attributes mean: those of the node, else their defaults."""
    known = {each.name: attribute(each) for each in body.attribute_proto}
    if node.domain in DEFAULT:
        try:
            schema = onnx_package().defs.get_schema(node.op_type, opset, "")
        except onnx_package().defs.SchemaError:
            return known | given
        for name, declared in schema.attributes.items():
            if declared.default_value.type:
                known.setdefault(name, attribute(declared.default_value))
    return known | given


def _type_of(value: Any) -> Any:
    """The TypeProto of a value; an empty one for an input that is missing."""
    onnx = onnx_package()
    made = onnx.TypeProto()
    if isinstance(value, Items | TensorArray):
        items = value.items if isinstance(value, Items) else value.leaves()
        made.sequence_type.elem_type.CopyFrom(_type_of(items[0] if items else np.zeros(0, np.float32)))
        made.sequence_type.elem_type.tensor_type.ClearField("shape")
        return made
    if value is None:
        return made
    if isinstance(value, Levels):
        name, shape = "int8", [int(d) for d in value.tensor.shape]
    elif isinstance(value, Numbers):
        name, shape = "int64", [len(value.items)]
    else:
        name = str(value.dtype) if isinstance(value, np.ndarray) else value.dtype.name
        shape = [int(d) for d in value.shape]
    kind = made.tensor_type
    kind.elem_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(name))
    kind.shape.SetInParent()
    for d in shape:
        dim = kind.shape.dim.add()
        if d >= 0:
            dim.dim_value = d
    return made

"""Paddle's ``base.data_feeder``: checks of arguments that functions written for Paddle begin with."""

from __future__ import annotations

from collections.abc import Collection
from types import UnionType
from typing import Any

from engine.core.errors import DTypeError
from engine.core.values.dtype import DTypeLike, as_dtype


def convert_dtype(dtype: DTypeLike) -> str:
    """The name of a dtype: ``float32``; that of bfloat16 is ``uint16``, as in Paddle."""
    name = as_dtype(dtype).name
    return "uint16" if name == "bfloat16" else name


def check_type(
    input: object,
    input_name: str,
    expected_type: type | UnionType | tuple[Any, ...],
    op_name: str,
    extra_message: str = "",
) -> None:
    """Raise DTypeError where ``input`` is not of one of the types."""
    if not isinstance(input, expected_type):
        raise DTypeError(
            f"The type of '{input_name}' in {op_name} must be {expected_type}, but received {type(input)}. "
            f"{extra_message}"
        )


def check_dtype(
    input_dtype: DTypeLike,
    input_name: str,
    expected_dtype: Collection[Any],
    op_name: str,
    extra_message: str = "",
) -> None:
    """Raise DTypeError where ``input_dtype`` is not one of ``expected_dtype``."""
    name = convert_dtype(input_dtype)
    if name not in expected_dtype:
        raise DTypeError(
            f"The data type of '{input_name}' in {op_name} must be {expected_dtype}, but received {name}. "
            f"{extra_message}"
        )


def check_variable_and_dtype(
    input: object, input_name: str, expected_dtype: Collection[Any], op_name: str, extra_message: str = ""
) -> None:
    """Raise DTypeError where ``input`` is not a Tensor or Variable of one of the dtypes."""
    if not hasattr(input, "dtype") or not hasattr(input, "stop_gradient"):
        raise DTypeError(
            f"The type of '{input_name}' in {op_name} must be a Tensor or Variable, but received "
            f"{type(input)}. {extra_message}"
        )
    check_dtype(input.dtype, input_name, expected_dtype, op_name, extra_message)

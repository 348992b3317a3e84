"""The lists of operators that mixed precision in static Programs goes by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from engine.amp.amp_lists import EXTRA_BLACK_LIST, FP16_BLACK_LIST, FP16_WHITE_LIST
from engine.core.errors import ArgumentError
from engine.core.operators.opdef import OPS
from engine.core.precision import works_here
from engine.core.strictness import warn_at_user

white_list = FP16_WHITE_LIST
black_list = FP16_BLACK_LIST
_ONLY_FLOAT16 = {"fused_bn_add_activation", "resnet_unit"}
# What computes in the dtype of what comes before it.
gray_list = {
    "batch_norm",
    "c_allreduce_sum",
    "c_concat",
    "c_identity",
    "cast",
    "concat",
    "dropout",
    "elementwise_add",
    "elementwise_div",
    "elementwise_floordiv",
    "elementwise_max",
    "elementwise_min",
    "elementwise_mod",
    "elementwise_mul",
    "elementwise_pow",
    "elementwise_sub",
    "fill_constant",
    "flatten2",
    "fused_attention",
    "fused_bn_add_activation",
    "fused_feedforward",
    "fused_multi_transformer",
    "gather",
    "gaussian_random",
    "get_tensor_from_selected_rows",
    "layer_norm",
    "leaky_relu",
    "pool2d",
    "pool3d",
    "rank",
    "relu",
    "relu6",
    "reshape2",
    "scale",
    "sigmoid",
    "sign",
    "slice",
    "soft_relu",
    "split",
    "stack",
    "tanh",
    "top_k",
    "transpose2",
    "uniform_random",
    "uniform_random_batch_size_like",
    "unstack",
}
# Operators that no dtype stops.
_ANY_DTYPE = {
    "cast",
    "conditional_block",
    "conditional_block_infer",
    "lod_array_length",
    "select_input",
    "tensor_array_to_tensor",
    "while",
    "write_to_array",
}


def check_amp_dtype(dtype: str) -> str:
    """``dtype`` in small letters. Raises ArgumentError unless it is float16 or bfloat16."""
    found = dtype.lower() if isinstance(dtype, str) else dtype
    if found not in ("float16", "bfloat16"):
        raise ArgumentError(
            f"static.amp: If enable AMP, dtype should be 'float16' or 'bfloat16'.: got {dtype!r}"
        )
    return found


class OperatorLists(Protocol):
    """What casting goes by: operators by name, and the Variables whose operators stay in float32."""

    white_list: set[str]
    black_list: set[str]
    gray_list: set[str]
    unsupported_list: set[str]
    black_varnames: set[str] | None


class AutoMixedPrecisionLists:
    """Operators by name: white ones compute in ``dtype``, black ones in float32, gray ones as what is before.

    Custom names move between the lists; ``custom_black_varnames`` keeps the operators of these Variables in
    float32. ``unsupported_list`` holds what has no kernel in ``dtype``: on the CPU everything, as in Paddle
    (with a warning), so that Programs keep float32. Raises ArgumentError for a name in both custom lists.
    """

    def __init__(
        self,
        custom_white_list: Iterable[str] | None = None,
        custom_black_list: Iterable[str] | None = None,
        custom_black_varnames: Iterable[str] | None = None,
        dtype: str = "float16",
    ) -> None:
        self.amp_dtype = check_amp_dtype(dtype)
        more, less = set(custom_white_list or ()), set(custom_black_list or ())
        if both := sorted(more & less):
            raise ArgumentError(
                "AutoMixedPrecisionLists: The given custom_white_list overlaps custom_black_list with "
                f"< {both[0]} >!"
            )
        known = FP16_WHITE_LIST | (_ONLY_FLOAT16 if self.amp_dtype == "float16" else set())
        self.white_list = (known | more) - less
        self.black_list = ((FP16_BLACK_LIST | EXTRA_BLACK_LIST) - more) | less
        self.gray_list = gray_list - more - less
        self.black_varnames = None if custom_black_varnames is None else set(custom_black_varnames)
        self.all_list = set(OPS) | FP16_WHITE_LIST | FP16_BLACK_LIST | EXTRA_BLACK_LIST | gray_list
        missing = set() if works_here() else self.all_list - _ANY_DTYPE
        self.unsupported_list = missing | less
        if lost := sorted(missing & self.white_list):
            warn_at_user(
                f"On current GPU, {self.amp_dtype} is not supported for operators < {lost} > in white_list!",
                UserWarning,
            )


CustomOpLists = AutoMixedPrecisionLists

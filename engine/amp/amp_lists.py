"""Which operators mixed precision computes in the low dtype, and which in float32, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from engine.core.errors import ArgumentError

ByDtype: TypeAlias = dict[str, dict[str, set[str]]]
"""Names of operators by low dtype and level."""

# What gains most and loses no precision that matters.
WHITE_LIST = {
    "conv2d",
    "einsum",
    "fused_gemm_epilogue",
    "matmul",
    "matmul_v2",
    "max_pool2d_with_index",
    "mul",
}
ONLY_FP16_WHITE_LIST = {
    "fake_quantize_dequantize_abs_max",
    "fake_quantize_dequantize_moving_average_abs_max",
    "fused_attention",
    "fused_feedforward",
}
FP16_WHITE_LIST = WHITE_LIST | ONLY_FP16_WHITE_LIST

# What overflows or cancels in a low dtype: exponentials, powers, sums, norms and losses.
FP16_BLACK_LIST = {
    "acos",
    "asin",
    "atanh",
    "c_softmax_with_cross_entropy",
    "cosh",
    "cross_entropy",
    "cross_entropy2",
    "cumprod",
    "cumsum",
    "dist",
    "erfinv",
    "exp",
    "expm1",
    "frobenius_norm",
    "group_norm",
    "hsigmoid_loss",
    "huber_loss",
    "layer_norm",
    "log",
    "log10",
    "log2",
    "log_loss",
    "log_softmax",
    "margin_cross_entropy",
    "mean",
    "nll_loss",
    "pnorm",
    "pow",
    "reciprocal",
    "reduce_mean",
    "reduce_prod",
    "reduce_sum",
    "renorm",
    "rsqrt",
    "sigmoid_cross_entropy_with_logits",
    "sinh",
    "softmax",
    "softmax_with_cross_entropy",
    "softmin",
    "softplus",
    "square",
    "tan",
    "tanh_shrink",
    "triplet_margin_loss",
}
# What is slower in a low dtype, in its backward at least.
EXTRA_BLACK_LIST = {
    "bicubic_interp_v2",
    "bilinear_interp_v2",
    "linear_interp_v2",
    "lookup_table",
    "lookup_table_v2",
    "nearest_interp_v2",
    "scatter",
    "trilinear_interp_v2",
}
BF16_WHITE_LIST = WHITE_LIST
BF16_BLACK_LIST = FP16_BLACK_LIST


def white_list() -> ByDtype:
    """The operators that compute in the low dtype, by dtype and level."""
    return {
        dtype: {level: set(names) for level in ("OD", "O1", "O2")}
        for dtype, names in (("float16", FP16_WHITE_LIST), ("bfloat16", BF16_WHITE_LIST))
    }


def black_list() -> ByDtype:
    """The operators that compute in float32, by dtype and level."""
    return {
        dtype: {"OD": set(), "O1": names | EXTRA_BLACK_LIST, "O2": set(EXTRA_BLACK_LIST)}
        for dtype, names in (("float16", FP16_BLACK_LIST), ("bfloat16", BF16_BLACK_LIST))
    }


def lists_for(
    level: str, dtype: str, white: Iterable[str] | None, black: Iterable[str] | None
) -> tuple[set[str], set[str]]:
    """The white and the black list with the user's own names moved to where the user wants them.

    Raises ArgumentError for a name that the user puts into both.
    """
    if level == "O0":
        return set(), set()
    more, less = set(white or ()), set(black or ())
    if both := sorted(more & less):
        raise ArgumentError(
            f"auto_cast: Custom white list overlap custom black list: got {both} in both; leave each in one"
        )
    found = white_list()[dtype][level], black_list()[dtype][level]
    return (found[0] | more) - less, (found[1] - more) | less

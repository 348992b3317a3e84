"""What Paddle 2.6.2 calls the results of its functions, where that is not the operator's own name."""

from __future__ import annotations

from typing import Any

from engine import nn
from engine.nn import functional
from engine.nn.functional import attention, conv, conv_transpose
from engine.program.graph.program import Variable
from engine.program.text.naming import HELPER, name_function, name_operator
from engine.static import arithmetic
from engine.tensor import arranging, creation, linalg, manipulation, promote, search

_BARE = "{helper}"
_ARITHMETIC = (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul neg eq "
    "ne lt le gt ge"
)


def _operators() -> None:
    """Results of Python's operators are called ``tmp_0``, and so are the numbers among the operands."""
    for name in _ARITHMETIC.split():
        method: Any = getattr(Variable, f"__{name}__", None)
        if hasattr(method, "__code__"):
            name_function(method, form="tmp", only=_ELEMENTWISE)
    name_function(promote._from_python, form="tmp", outer=True)
    for name, method in (
        ("astype", arithmetic.astype), ("__pow__", arithmetic.power), ("__truediv__", arithmetic.over),
        ("__rtruediv__", arithmetic.divided_by),
    ):  # fmt: skip
        setattr(Variable, name, method)
        name_function(method, form="tmp", outer=True)


_ELEMENTWISE = (
    "scale cast elementwise_add elementwise_sub elementwise_mul elementwise_div elementwise_pow "
    "elementwise_mod elementwise_floordiv matmul_v2 equal not_equal less_than less_equal greater_than "
    "greater_equal square"
)


def register() -> None:
    for name in ("add", "sub", "mul", "div", "mod", "floordiv", "max", "min"):
        name_operator(f"elementwise_{name}", f"elementwise_{name}", _BARE)
    for operator, key in (
        ("transpose2", "transpose"), ("squeeze2", "squeeze"), ("flatten_contiguous_range", "flatten"),
        ("reduce_sum", "sum"), ("reduce_mean", "mean"), ("kept_mean", "mean"),
        ("reduce_max", "max"), ("reduce_min", "min"),
        ("reduce_all", "all"), ("reduce_any", "any"), ("arg_max", "argmax"), ("arg_min", "argmin"),
        ("fill_any_like", "full_like"), ("sum", "add_n"), ("lookup_table_v2", "embedding"),
        ("expand_v2", "expand"), ("print_tensor", "print"), ("uniform_random", "uniform"),
        ("gaussian_random", "gaussian"),
    ):  # fmt: skip
        name_operator(operator, key)
    name_operator("slice_view", form="{x}_slice")
    for function in (creation.zeros, creation.ones, creation.full):
        name_function(function, "fill_constant", HELPER, skip=1)
    name_function(creation._static_constant, "assign", device="cpu")
    name_operator("hard_swish", "hardswish")
    name_operator("hard_sigmoid", "hardsigmoid")
    name_operator("kldiv_loss", "kl_div")
    name_operator("bce_loss", "binary_cross_entropy")
    name_operator("share_data", form="detach_{x}")
    name_function(creation.clone, form="{x}_clone")
    name_function(manipulation.t, "t")
    name_function(linalg.mm, "mm", outer=True)
    name_function(arranging.slice_, "slice", outer=True)
    name_function(attention.attend, form="tmp", only="scale")
    name_function(creation.linspace, "linspace", outer=True)
    name_function(creation.eye, "eye", outer=True)
    name_function(arranging.tril, "tril", _BARE)
    name_function(arranging.triu, "triu", _BARE)
    name_function(manipulation.unbind, "unbind")
    name_function(manipulation.unstack, "unstack", outer=True)
    name_function(manipulation.expand_as, "expand_as")
    name_function(search.sort, "sort")
    name_function(vars(Variable)["T"].fget, form="{x}.tmp")
    name_function(functional.linear, "linear")
    for convolution, kinds in (
        (conv.convolve, "conv2d depthwise_conv2d conv3d"),
        (conv_transpose._conv_transpose, "conv2d_transpose depthwise_conv2d_transpose conv3d_transpose"),
    ):
        name_function(convolution, "{operator}", only=f"{kinds} elementwise_add", early="elementwise_add")
    name_function(creation.assign, "assign", outer=True)
    name_function(functional.square_error_cost, "square_error_cost")
    name_function(functional.mse_loss, form="", outer=True)
    name_function(nn.GroupNorm.forward, owner=True)
    name_function(nn.BatchNorm.forward, owner=True, order="SavedMean SavedVariance ReserveSpace Y")
    _operators()


register()

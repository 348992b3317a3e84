"""Which operators have kernels of the engine's own on a GPU, and where they are.

An override has the arguments of the operator's default kernel (``xp``, arrays, attributes, ``out``, ``key``)
and its results; one that does not serve some dtypes, layouts or attributes hands over to the default
kernel. Eager execution and plans call the same ones. They are imported at their first call.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from functools import cache
from typing import Any

import cupy

from engine.core.operators.opdef import OPS
from engine.kernels import choice
from engine.kernels.cupy.defaults import default
from engine.kernels.steps.cost import is_one_call, probed_cost

_log = logging.getLogger(__name__)

# Updates of parameters: one launch for one, and for all that are updated alike (:class:`Together`).
UPDATES = ("adadelta", "adagrad", "adam", "adamax", "adamw", "momentum", "rmsprop", "sgd")
# The module of this package and the function in it, by operator.
OVERRIDES: dict[str, str] = {
    **{
        name: f"linalg.products:{name}"
        for name in (
            "addmm",
            "bmm",
            "dot",
            "matmul_v2",
            "mul",
            "mv",
            "product_of_rows",
            "squared_l2_norm",
        )
    },
    "fused_attention": "sequences.attention:forward",
    "fused_attention_grad": "sequences.attention:backward",
    "fused_scores": "sequences.attention:scores",
    "rnn": "sequences.recurrent:forward",
    "rnn_grad": "sequences.recurrent:backward",
    **{
        name: f"images.convolution_operators:{name}"
        for name in (
            "conv2d",
            "conv2d_grad",
            "conv2d_fusion",
            "depthwise_conv2d",
            "depthwise_conv2d_grad",
            "depthwise_conv2d_fusion",
            "conv2d_transpose",
            "conv2d_transpose_grad",
            "depthwise_conv2d_transpose",
            "depthwise_conv2d_transpose_grad",
            "conv3d",
            "conv3d_grad",
            "conv3d_fusion",
            "conv3d_transpose",
            "conv3d_transpose_grad",
        )
    },
    **{name: f"reductions.softmax:{name}" for name in ("softmax", "softmax_grad", "log_softmax")},
    **{
        name: f"reductions.cross_entropy:{name}"
        for name in (
            "softmax_with_cross_entropy",
            "softmax_with_cross_entropy_grad",
            "pick_class",
            "pick_class_grad",
        )
    },
    **{
        name: f"images.pooling:{name}"
        for name in (
            "pool2d",
            "pool2d_grad",
            "max_pool2d_pick",
            "max_pool2d_with_index",
            "pool3d",
            "pool3d_grad",
            "max_pool3d_pick",
            "max_pool3d_with_index",
        )
    },
    "fused_elementwise": "elementwise:fused",
    **{name: f"training.updates:{name}" for name in UPDATES},
    "check_finite_and_unscale": "training.scaling:check_finite_and_unscale",
    **{name: f"reductions.kept_mean:{name}" for name in ("kept_mean", "kept_mean_grad")},
    "dropout": "random:dropout",
    "gaussian_inplace": "random:gaussian_like",
    "gaussian_random": "random:gaussian",
    "uniform_random": "random:uniform",
    "uniform_random_inplace": "random:uniform_like",
    **{
        name: f"images.unpooling:{name}"
        for name in (
            "unpool",
            "unpool3d",
            "max_pool2d_with_index_grad",
            "max_pool3d_with_index_grad",
        )
    },
    **{
        name: f"normalization.norm_rows:{name}"
        for name in (
            "layer_norm",
            "layer_norm_grad",
            "group_norm",
            "group_norm_grad",
            "instance_norm",
            "instance_norm_grad",
        )
    },
    **{name: f"normalization.batch_norm:{name}" for name in ("batch_norm", "batch_norm_grad")},
    **{
        name: f"arrays.taking:{name}"
        for name in (
            "gather",
            "gather_nd",
            "index_sample",
            "index_select",
            "lookup_table_v2",
            "one_hot_v2",
            "take_along_axis",
        )
    },
    **{
        name: f"reductions.reductions:{name}"
        for name in (
            "logsumexp",
            "p_norm",
            "reduce_amax",
            "reduce_amin",
            "reduce_max",
            "reduce_mean",
            "reduce_min",
            "reduce_sum",
            "sum_to_like",
        )
    },
    **{name: f"arrays.indexing:{name}" for name in ("getitem", "getitem_grad")},
    **{
        name: f"arrays.adding:{name}"
        for name in (
            "gather_grad",
            "index_add",
            "lookup_table_v2_grad",
            "put_along_axis",
            "put_along_axis_zeros",
            "scatter",
            "scatter_nd_add",
        )
    },
}
# Those whose kernels take bfloat16 as its bits, and round once; the others get float32 and are rounded after.
BFLOAT16 = frozenset(
    {
        "bmm",
        "dropout",
        "matmul_v2",
        "mul",
        "mv",
        "product_of_rows",
        *(
            name
            for name, place in OVERRIDES.items()
            if place.split(":")[0].rpartition(".")[2]
            in {
                "convolution_operators",
                "pooling",
                "unpooling",
                "softmax",
                "cross_entropy",
                "norm_rows",
                "batch_norm",
                "reductions",
                "taking",
                "adding",
                "elementwise",
                "scaling",
            }
        ),
    }
)


@cache
def elementwise_names() -> frozenset[str]:
    """Elementwise operators that take CuPy more than one launch, or bits in place of bfloat16."""
    found = ((name, probed_cost(opdef)) for name, opdef in OPS.items() if not is_one_call(opdef))
    return frozenset(
        name
        for name, cost in found
        if cost is not None and name not in OVERRIDES and (cost.operations > 1 or cost.selects)
    )


def places() -> dict[str, str]:
    """The table, with the elementwise operators."""
    return {**OVERRIDES, **{name: f"elementwise:{name}" for name in elementwise_names()}}


class Override:
    """A kernel that is imported when it is called first.

    With the choice ``numpy`` (``MODEL_STUDIO_KERNELS``) the default kernel runs on CuPy. Where the kernel
    can't be compiled one line reports it, and the default kernel is used from then on. Without NVRTC CuPy
    computes nothing: :func:`engine.kernels.cupy.check` refuses the GPU then.
    """

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self._module, self._function = place.split(":")
        self._found: Callable[..., Any] | None = None
        self._failed = False

    def takes_bfloat16(self) -> bool:
        """Whether arrays of bfloat16 may come as their bits, of dtype uint16."""
        known = self.name in BFLOAT16 or self.name in elementwise_names()
        return known and not self._failed and choice.kernels.get() != "numpy"

    def __call__(self, xp: Any, *values: Any, **named: Any) -> Any:
        if choice.kernels.get() == "numpy":
            return default(self.name)(xp, *values, **named)
        if self._found is None:
            module = importlib.import_module(f"engine.kernels.cupy.{self._module}")
            self._found = getattr(module, self._function)
        try:
            return self._found(xp, *values, **named)
        except cupy.cuda.compiler.CompileException as error:
            _log_failure(self.name, error)
            self._found, self._failed = default(self.name), True
            return self._found(xp, *values, **named)


class Together:
    """Updates many parameters by one operator in few launches; returns whether it did.

    See :func:`engine.kernels.cupy.training.updates.together`; where that can't be compiled, each is updated
    alone.
    """

    def __init__(self, name: str) -> None:
        self.name, self._failed = name, False

    def __call__(self, *given: Any) -> bool:
        if self._failed or choice.kernels.get() == "numpy":
            return False
        from engine.kernels.cupy.training.updates import together  # when the first parameters are updated

        try:
            return together(self.name, *given)
        except cupy.cuda.compiler.CompileException as error:
            _log_failure(self.name, error)
            self._failed = True
            return False


def _log_failure(name: str, error: Exception) -> None:
    _log.warning(
        "kernels: %s was not compiled for the GPU, CuPy's functions compute instead: %s",
        name,
        str(error).strip()[:400],
    )


def register() -> None:
    """Give the operators of the table, and elementwise ones, their kernels."""
    for name in UPDATES:
        OPS[name].override(choice.TOGETHER, Together(name))
    for name, place in places().items():
        if name in OPS and "cupy" not in OPS[name].overrides:
            OPS[name].override("cupy", Override(name, place))


def unregister() -> None:
    """Take them away again: for tests, in which the array module is another one."""
    for name in UPDATES:
        OPS[name].overrides.pop(choice.TOGETHER, None)
    for name in places():
        if name in OPS and isinstance(OPS[name].overrides.get("cupy", (None,))[0], Override):
            del OPS[name].overrides["cupy"]

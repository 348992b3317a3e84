"""Kernels of the CPU that are compiled while the program runs, where llvmlite can be loaded.

Each file writes those of one subject as LLVM code. An operator's ``fast`` makes one for given shapes::

    maker(inputs, attrs) -> Fast | None

``inputs`` are Specs of known shape (None and lists as the operator has them); None means that NumPy is as
good for these. Makers are called in the compiler's thread, so nothing here is imported before a plan has
requested it, and it does not delay the plan's first run.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from engine.core.operators.opdef import OPS, OpDef
from engine.kernels.fast.compiler import Handle, load

# The module and the maker in it, by operator; modules of this package by their name in it.
MAKERS: dict[str, str] = {
    "adadelta_flat": "updates:adadelta",
    "adagrad_flat": "updates:adagrad",
    "adam_flat": "updates:adam",
    "adamax_flat": "updates:adamax",
    "adamw_flat": "updates:adamw",
    "batch_norm": "normalization.batch_norm:batch_norm",
    "batch_norm_grad": "normalization.batch_norm:batch_norm_grad",
    "fused_attention": "sequences.attention:forward",
    "fused_attention_grad": "sequences.attention:backward",
    "fused_batch_norm_relu": "normalization.batch_norm:batch_norm_relu",
    "fused_batch_norm_relu_grad": "normalization.batch_norm:batch_norm_relu_grad",
    "fused_elementwise": "elementwise:fused",
    "fused_scores": "sequences.attention:scores",
    "layer_norm": "normalization.norms:layer_norm",
    "layer_norm_grad": "normalization.norms:layer_norm_grad",
    "log_softmax": "reductions.softmax:log_softmax",
    "matmul_v2": "linalg.matmul:matmul",
    "mean_cross_entropy": "reductions.small:mean_cross_entropy",
    "mean_cross_entropy_grad": "reductions.small:mean_cross_entropy_grad",
    "momentum_flat": "updates:momentum",
    "product_of_rows": "linalg.matmul:of_rows",
    "reduce_sum": "reductions.reductions:reduce_sum",
    "relu_grad": "elementwise:relu_grad",
    "rmsprop_flat": "updates:rmsprop",
    "rnn": "engine.ops.sequences.rnn_makers:forward",
    "rnn_grad": "engine.ops.sequences.rnn_makers:backward",
    "sgd_flat": "updates:sgd",
    "softmax": "reductions.softmax:softmax",
    "softmax_grad": "reductions.softmax:softmax_grad",
    "softmax_with_cross_entropy": "reductions.softmax:cross_entropy",
    "softmax_with_cross_entropy_grad": "reductions.softmax:cross_entropy_grad",
    **dict.fromkeys(
        ("conv2d", "conv2d_fusion", "depthwise_conv2d", "depthwise_conv2d_fusion"),
        "engine.ops.images.conv_makers:forward",
    ),
    **dict.fromkeys(("conv2d_grad", "depthwise_conv2d_grad"), "engine.ops.images.conv_makers:gradients"),
    **dict.fromkeys(
        ("conv2d_transpose", "depthwise_conv2d_transpose"), "engine.ops.images.conv_makers:transposed"
    ),
    **dict.fromkeys(
        ("conv2d_transpose_grad", "depthwise_conv2d_transpose_grad"),
        "engine.ops.images.conv_makers:transposed_gradients",
    ),
    **dict.fromkeys(("pool2d", "pool3d"), "engine.ops.images.pooling_makers:forward"),
    **dict.fromkeys(("pool2d_grad", "pool3d_grad"), "engine.ops.images.pooling_makers:gradient"),
    **dict.fromkeys(
        ("max_pool2d_with_index", "max_pool3d_with_index"), "engine.ops.images.pooling_makers:with_index"
    ),
    **dict.fromkeys(
        ("max_pool2d_with_index_grad", "max_pool3d_with_index_grad"),
        "engine.ops.images.pooling_makers:with_index_gradient",
    ),
    **dict.fromkeys(("unpool", "unpool3d"), "engine.ops.images.pooling_makers:unpooled"),
}

# The same for parts of chains (``chain.py``); these makers take the Specs of inputs and of outputs. Operators
# that are elementwise have one without a row.
PARTS: dict[str, str] = {
    "fused_elementwise": "elementwise:fused_part",
    "kept_mean": "reductions.small:kept_mean",
    "kept_mean_grad": "reductions.small:kept_mean_grad",
    "matmul_v2": "linalg.matmul:part",
    "reduce_sum": "reductions.small:reduce_sum",
    "softmax_with_cross_entropy": "reductions.softmax:cross_entropy_part",
    "softmax_with_cross_entropy_grad": "reductions.softmax:cross_entropy_grad_part",
}


class Fast:
    """A compiled kernel of one operator for one kind of inputs.

    ``kernel`` takes the inputs in their order (arrays of any strides, of the Specs' shapes and dtypes), and
    ``out=`` where the operator has it; attributes are bound in. It may be called once ``ready``.
    ``choose``, which is called once then, chooses between ways to compute and says whether any of them is
    faster than NumPy. ``fixed`` makes a kernel for one place whose weights are the same arrays with the same
    numbers in every call. ``together`` makes of several kernels that have it one call for all of them.
    """

    __slots__ = ("choose", "fixed", "handles", "kernel", "together")

    def __init__(
        self,
        kernel: Callable[..., Any],
        handles: Sequence[Handle],
        choose: Callable[[], bool] | None = None,
        fixed: Callable[[], Callable[..., Any]] | None = None,
        together: Callable[[Sequence[Any]], Callable[..., Sequence[Any]]] | None = None,
    ) -> None:
        self.kernel = kernel
        self.handles = tuple(handles)
        self.choose = choose
        self.fixed = fixed
        self.together = together

    @property
    def ready(self) -> bool:
        """Whether all its code is compiled."""
        return all(h.address is not None for h in self.handles)

    def pays(self) -> bool:
        """Whether it is faster than NumPy, once it is ready; may measure."""
        return self.choose is None or self.choose()


@cache
def register() -> None:
    """Give the operators of the table their makers."""
    for name, place in MAKERS.items():
        if name in OPS and OPS[name].fast is None:
            OPS[name].fast = _Maker(place)


_looked_at: set[str] = set()  # operators without a row that were asked for


def maker_of(opdef: OpDef) -> Callable[..., Fast | None] | None:
    """What makes compiled kernels of an operator, None where nothing does; :func:`register` comes first."""
    if opdef.fast is None and opdef.name not in _looked_at:
        _looked_at.add(opdef.name)
        if _is_faster_alone(opdef):
            opdef.fast = _Maker(f"elementwise:{opdef.name}")
    return opdef.fast


def _is_faster_alone(opdef: OpDef) -> bool:
    """Whether an elementwise operator has so many steps for each function, each of which is a walk over the
    arrays in NumPy, that one loop is faster; others gain only where they are fused.

    NumPy's own functions are as fast as compiled ones or faster: with 65,536 numbers x - tanh(x) (two steps)
    takes 1.2 times NumPy's time in one loop, a * tanh(b * x) 1.07, logit (five steps, two functions) 1.24, a
    sigmoid (four steps) 0.63.
    """
    from engine.kernels.steps.cost import probed_cost

    cost = probed_cost(opdef)
    return cost is not None and not cost.library and cost.operations > 3 * cost.functions > 0


@cache
def compile_random_words() -> None:
    """Have the generator's words come from compiled code: they are the same words."""
    from engine.kernels.fast.compiler import compiler

    compiler().submit(_install_random_words)


def _install_random_words() -> None:
    """In the compiler's thread."""
    if load():
        return
    importlib.import_module(f"{__name__}.random_words").install()


def part_maker(opdef: OpDef) -> Callable[..., Any]:
    """What makes parts of chains of an operator that has a row, or is elementwise; in the compiler's
    thread."""
    module, _, name = PARTS.get(opdef.name, "elementwise").partition(":")
    found = importlib.import_module(f"{__name__}.{module}")
    maker: Callable[..., Any] = getattr(found, name) if name else found.single_part(opdef.name)
    return maker


class _Maker:
    """A maker that is imported when it is called."""

    def __init__(self, place: str) -> None:
        self.module, self.name = place.split(":")

    def __call__(self, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
        name = self.module if self.module.startswith("engine.") else f"{__name__}.{self.module}"
        module = importlib.import_module(name)
        maker = getattr(module, self.name, None) or module.single(self.name)
        made: Fast | None = maker(inputs, attrs)
        return made

"""WeightNormParamAttr: a weight as a direction and a length, each with its own parameter."""

from __future__ import annotations

from copy import copy
from typing import Any

from engine.core.values.dtype import as_dtype
from engine.nn.initializer import Initializer
from engine.nn.initializer.startup import begin_as
from engine.nn.layer.base.parameters import make_parameter
from engine.nn.param_attr import ParamAttr
from engine.nn.regularizer import WeightDecayRegularizer
from engine.ops.elementwise import arithmetic, power
from engine.ops.reductions import reduce
from engine.program.build.builder import Builder
from engine.tensor.tensor_like import DTypeLike, ShapeLike


class WeightNormParamAttr(ParamAttr):
    """``weight = g * v / norm(v)``: v has the weight's shape, g one number for each index of ``dim``.

    Without ``dim`` g is one number, for the norm of all of v. g is initialized to the norm of v, so the
    initial weight is that of ``initializer``. For the functions of static.nn. Salimans and Kingma, Weight
    normalization (2016).
    """

    def __init__(
        self,
        dim: int | None = None,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        regularizer: WeightDecayRegularizer | None = None,
        trainable: bool = True,
        do_model_average: bool = False,
        need_clip: bool = True,
    ) -> None:
        super().__init__(
            name, initializer, learning_rate, regularizer, trainable, do_model_average, need_clip
        )
        self.dim = dim


def normalized_weight(
    builder: Builder,
    owner: str,
    dims: ShapeLike,
    attr: WeightNormParamAttr,
    dtype: DTypeLike,
    default: Initializer | None,
) -> Any:
    """The weight that ``attr`` describes, as a Variable computed from its two parameters."""
    dims = [int(d) for d in dims]
    axis = None if attr.dim is None else attr.dim % len(dims)
    base = attr.name or builder.program.unique_name(f"{owner}.w")

    def part(suffix: str, own: list[int], initializer: Any) -> Any:
        described = copy(attr)
        described.name, described.initializer = f"{base}_{suffix}", initializer
        return make_parameter(owner, own, described, as_dtype(dtype), False, default)

    known = builder.startup is not None and f"{base}_g" in builder.startup.global_block().vars
    g = part("g", [d if n == axis else 1 for n, d in enumerate(dims)], None)
    v = part("v", dims, attr.initializer)
    if not known:
        _begin_as_norm(builder, g, v, axis)
    return arithmetic.multiply(v, arithmetic.divide(g, _norm(v, axis)))


def _norm(v: Any, axis: int | None) -> Any:
    """The norm of v over all dimensions but ``axis``, which stay with size 1."""
    axes = [n for n in range(v.ndim) if n != axis]
    return power.sqrt(reduce.sum(power.square(v), axis=axes, keepdim=True, reduce_all=axis is None))


def _begin_as_norm(builder: Builder, g: Any, v: Any, axis: int | None) -> None:
    startup = builder.startup
    assert startup is not None, "static mode has a startup Program"
    begin_as(startup, g, lambda: _norm(startup.global_block().var(v.name), axis))

"""A small network of one chain of operators as one compiled call.

A prediction of one sample takes longer for its calls than for its numbers: each operator is a few
microseconds of Python and NumPy. Where all of a frozen plan is a chain of convolutions, poolings, relus and
products, it is compiled as a whole (``kernels/fast/images/chain.py``); its memory is small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.core.operators.operator import Operator
from engine.core.operators.windows import pads_of
from engine.core.values.dtype import float32
from engine.core.values.spec import Spec
from engine.ops.images.pooling_plan import PoolPlan
from engine.program.graph.variable import Variable

Array = Any

# Multiplications of a call up to which one thread and no blocks for the cache are good enough.
_MOST = 1 << 22


def chain_of(
    ops: Sequence[Operator],
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    specs: Mapping[int, Spec],
    weights: Mapping[int, Array],
) -> Any:
    """The kernel that replaces all ``ops``, or None; its code is compiled in the background.

    ``weights`` are the arrays of Variables that never change, by id, ``specs`` those without unknown
    dimensions.
    """
    if len(inputs) != 1 or len(outputs) != 1 or not ops:
        return None
    return _Chain(specs, weights).read(ops, inputs[0], outputs[0])


class _Chain:
    """A chain while its operators are read."""

    def __init__(self, specs: Mapping[int, Spec], weights: Mapping[int, Array]) -> None:
        from engine.kernels.fast.images import chain_code
        from engine.kernels.fast.target import lanes

        self.code, self.lanes = chain_code, lanes()
        self._specs, self._known = specs, weights
        self.stages: list[Any] = []
        self.weights: list[tuple[Array, Array | None]] = []
        self.shape: tuple[int, ...] = ()  # of one sample, as the operators see it
        self.grid: Any = None  # where the last stage's images are
        self.copied: Any = None
        self.work = 0

    def read(self, ops: Sequence[Operator], given: Variable, wanted: Variable) -> Any:
        """The kernel, or None where an operator is not one of those that can be in a chain."""
        spec = self._spec(given)
        if spec.dtype is not float32 or not spec.known or spec.ndim not in (2, 4) or 0 in spec.shape:
            return None
        samples, *size = spec.shape
        self.shape = tuple(size)
        value = given
        for operator in ops:
            rule = getattr(self, f"_{operator.opdef.name}", None)
            if rule is None or not operator.inputs or operator.inputs[0] is not value:
                return None
            result = self._spec(operator.outputs[0])
            if result.dtype is not float32 or not rule(operator, result):
                return None
            value = operator.outputs[0]
            if self._spec(value).shape != (samples, *self.shape):
                return None
        last = self.stages[-1] if self.stages else None
        if value is not wanted or not isinstance(last, self.code.Product) or samples * self.work > _MOST:
            return None
        from engine.kernels.fast.images.chain import ChainKernel

        plan = self.code.Chain(self.copied, math.prod(size), tuple(self.stages), self.lanes)
        return ChainKernel(plan, samples, self.weights)

    def _spec(self, variable: Variable) -> Spec:
        return self._specs.get(id(variable), variable.spec)

    def _value(self, variable: Any) -> Array | None:
        """The array of a weight; None for an argument of the call."""
        found = None if variable is None else self._known.get(id(variable))
        return found if found is None or found.dtype == np.float32 else None

    # -- operators: whether they could be taken ------------------------------------------------------------
    def _conv2d(self, operator: Operator, result: Spec) -> bool:
        weight, attrs = self._value(operator.inputs[1]), operator.attrs
        if weight is None or attrs["groups"] != 1 or attrs["data_format"] not in ("NCHW", "AnyLayout"):
            return False
        if len(self.shape) != 3:
            return False
        channels, height, width = self.shape
        dilations = (1, 1) if attrs["padding_algorithm"] == "SAME" else tuple(attrs["dilations"])
        pads = pads_of(
            "conv2d",
            (height, width),
            weight.shape[2:],
            attrs["strides"],
            attrs["paddings"],
            attrs["padding_algorithm"],
        )
        source = self._padded(channels, height, width, pads)
        bias = None
        if len(operator.inputs) > 2:
            bias = self._value(operator.inputs[2])
            if bias is None:
                return False
        filters, rows, columns = result.shape[1:]
        self.grid = self._plain(filters, rows, columns)
        self.stages.append(
            self.code.Convolution(
                source,
                self.grid,
                tuple(weight.shape[2:]),
                tuple(attrs["strides"]),
                dilations,
                attrs.get("activation", "") == "relu",
            )
        )
        self.weights.append((weight, bias))
        self.work += rows * columns * weight.size
        self.shape = (filters, rows, columns)
        return True

    _conv2d_fusion = _conv2d

    def _plain(self, channels: int, rows: int, columns: int) -> Any:
        across = -(-channels // self.lanes) * self.lanes
        return self.code.Grid(channels, rows, columns, 0, 0, rows, columns, across)

    def _padded(self, channels: int, height: int, width: int, pads: Any) -> Any:
        """The grid that a convolution reads: the stage before writes into the middle of it."""
        (top, bottom), (left, right) = pads
        around = {
            "top": top,
            "left": left,
            "full_rows": height + top + bottom,
            "full_columns": width + left + right,
        }
        if self.grid is None:  # the images that are given, copied where there are zeros around them
            planar = replace(self._plain(channels, height, width), planar=True, **around)
            self.copied = planar if any(map(any, pads)) else None
            return planar
        self.grid = replace(self.grid, **around)
        self.stages[-1] = replace(self.stages[-1], target=self.grid)
        return self.grid

    def _pool2d(self, operator: Operator, result: Spec) -> bool:
        attrs = operator.attrs
        if self.grid is None or len(self.shape) != 3 or attrs["data_format"][-1] == "C":
            return False
        plan = PoolPlan(
            self.shape[1:],
            attrs["ksize"],
            attrs["strides"],
            attrs["paddings"],
            attrs["global_pooling"],
            attrs["ceil_mode"],
            attrs["exclusive"],
            attrs["adaptive"],
            attrs["padding_algorithm"],
        )
        if plan.ragged is not None or plan.full() != plan.size:
            return False
        source, channels = self.grid, self.shape[0]
        self.grid = self._plain(channels, *plan.out)
        self.stages.append(
            self.code.Pool(
                source,
                self.grid,
                _pair(plan.kernel),
                _pair(plan.strides),
                attrs["pooling_type"] == "max",
                False,
            )
        )
        self.shape = (channels, *plan.out)
        return True

    def _relu(self, operator: Operator, result: Spec) -> bool:
        if not self.stages:
            return False
        self.stages[-1] = replace(self.stages[-1], rectified=True)
        return True

    def _flatten_contiguous_range(self, operator: Operator, result: Spec) -> bool:
        self.shape = tuple(result.shape[1:])
        return len(self.shape) == 1

    _reshape2 = _flatten_contiguous_range

    def _matmul_v2(self, operator: Operator, result: Spec) -> bool:
        weight, attrs = self._value(operator.inputs[1]), operator.attrs
        if weight is None or weight.ndim != 2 or attrs["trans_x"] or len(self.shape) != 1:
            return False
        weight = weight.T if attrs["trans_y"] else weight
        source = self.shape[0] if self.grid is None else self.grid
        self.stages.append(self.code.Product(source, weight.shape[1], False))
        self.weights.append((weight, None))
        self.grid, self.shape = None, (weight.shape[1],)
        self.work += weight.size
        return True

    def _elementwise_add(self, operator: Operator, result: Spec) -> bool:
        """The bias of a product."""
        bias = self._value(operator.inputs[1])
        last = self.stages[-1] if self.stages else None
        if bias is None or bias.shape != self.shape or not isinstance(last, self.code.Product):
            return False
        weight, before = self.weights[-1]
        if before is not None or last.rectified:
            return False
        self.weights[-1] = (weight, bias)
        return True


def _pair(values: Sequence[int]) -> tuple[int, int]:
    """Rows and columns."""
    rows, columns = values
    return rows, columns

"""Operators of a frozen plan that become networks of compiled stages: predictions of few images.

Compiled kernels of training hold samples in their vectors, so one sample would leave them empty. These hold
channels (``kernels/fast/images/channel_blocks``). Weights are laid out when the plan is made; images stay in
blocks of channels from stage to stage; elementwise operators are part of the stage before them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.core.operators.operator import Operator
from engine.core.operators.windows import pads_of
from engine.core.values.dtype import float32
from engine.core.values.spec import Spec
from engine.kernels.fast.images.channel_blocks.sizes import row_lanes, rows_pay, transforms_pay
from engine.kernels.fast.target import lanes
from engine.kernels.steps.cost import cost_of, is_candidate
from engine.ops.images.pooling_plan import PoolPlan
from engine.ops.normalization.batch_norm import uses_given
from engine.program.graph.liveness import Liveness
from engine.program.graph.variable import Variable
from engine.program.run.frozen import blocks_stages
from engine.program.run.frozen.blocks_draft import Array, Image, NetworkDraft, Planned, Read

_FIRST = ("NCHW", "AnyLayout")


class Reader:
    """Takes operators, one after the other, into one network."""

    def __init__(
        self, live: Liveness, specs: Mapping[int, Spec], known: Mapping[int, Array], kept: set[int]
    ) -> None:
        """``known`` are arrays that never change, ``kept`` the Variables that are read outside, both by
        id."""
        self._live, self._specs, self._known, self._kept = live, specs, known, kept
        self.images: dict[int, Image] = {}  # by id of the Variable
        self.flat: dict[int, Image] = {}  # those that are images, flattened
        self.draft: NetworkDraft | None = None

    def take(self, position: int, operator: Operator) -> bool:
        """Whether an operator has become a part of the network."""
        rule = _RULES.get(operator.opdef.name)
        if rule is None:
            rule = Reader._elementwise if is_candidate(operator.opdef) else None
        if rule is None or not operator.outputs or operator.outputs[0] is None or not operator.inputs:
            return False
        result = self._spec(operator.outputs[0])
        if result.dtype is not float32 or not result.known or result.ndim not in (2, 4) or 0 in result.shape:
            return False
        if self.draft is not None and self.draft.samples != result.shape[0]:
            return False
        if rule(self, position, operator, result):
            return True
        if self.draft is not None and not self.draft.planned:
            self.draft = None
        return False

    # -- values ----------------------------------------------------------------------------------------------
    def _spec(self, variable: Variable) -> Spec:
        return self._specs.get(id(variable), variable.spec)

    def _weight(self, variable: Any) -> Array | None:
        """The array of a weight; None for a value of the call, or one of another dtype."""
        found = None if not isinstance(variable, Variable) else self._known.get(id(variable))
        return found if found is None or found.dtype == np.float32 else None

    def _image(self, variable: Any, planar: bool = False) -> Image | None:
        """The image of a Variable, an argument of the network if it is not made in it."""
        if not isinstance(variable, Variable) or id(variable) in self._known or id(variable) in self.flat:
            return None
        found = self.images.get(id(variable))
        if found is not None:
            return found
        spec = self._spec(variable)
        if spec.dtype is not float32 or not spec.known or spec.ndim not in (2, 4) or 0 in spec.shape:
            return None
        if self.draft is None:
            self.draft = NetworkDraft(spec.shape[0])
        if self.draft.samples != spec.shape[0]:
            return None
        channels, rows, columns = spec.shape[1:] if spec.ndim == 4 else (spec.shape[1], 1, 1)
        return self.draft.enter(variable, (channels, rows, columns), planar)

    def _add(self, operator: Operator, source: Image, size: Sequence[int], made: Any, **what: Any) -> Planned:
        assert self.draft is not None
        channels, rows, columns = size
        planned = self.draft.add(source, (channels, rows, columns), made, **what)
        self._named(operator.outputs[0], planned.target)
        return planned

    def _named(self, variable: Variable, image: Image) -> None:
        self.images[id(variable)] = image
        image.names.append(variable)

    def _only(self, image: Image, position: int) -> bool:
        """Whether an operator is the only one that reads an image."""
        return not any(
            id(v) in self._kept
            or any(p != position and p not in image.renaming for p in self._live.readers.get(id(v), ()))
            for v in image.names
        )

    # -- convolutions and products ---------------------------------------------------------------------------
    def _convolution(self, position: int, operator: Operator, result: Spec) -> bool:
        weight, attrs = self._weight(operator.inputs[1]), operator.attrs
        x = self._spec(operator.inputs[0])
        if weight is None or weight.ndim != 4 or attrs["data_format"] not in _FIRST or x.ndim != 4:
            return False
        bias = self._weight(operator.inputs[2]) if len(operator.inputs) > 2 else None
        groups, (filters, rows, columns), width = attrs["groups"], result.shape[1:], lanes()
        channels = x.shape[1]
        if (len(operator.inputs) > 2 and bias is None) or 0 in weight.shape:
            return False
        depthwise = groups == channels == filters and channels > 1
        if not depthwise and groups > 1 and (channels // groups % width or filters // groups % width):
            return False
        kernel, strides = tuple(weight.shape[2:]), tuple(attrs["strides"])
        dilations = (1, 1) if attrs["padding_algorithm"] == "SAME" else tuple(attrs["dilations"])
        algorithm = attrs["padding_algorithm"]
        pads = pads_of("conv2d", x.shape[2:], kernel, strides, attrs["paddings"], algorithm)
        image = self._image(operator.inputs[0], planar=channels < width and not depthwise)
        if image is None or min(map(min, pads)) < 0:
            return False
        image.pad(pads)
        shape = {
            "kernel": kernel,
            "strides": strides,
            "dilations": dilations,
            "before": (pads[0][0], pads[1][0]),
        }
        kind = blocks_stages.depthwise if depthwise else blocks_stages.convolved
        made = partial(kind, weight, bias, result.shape[0], shape, groups)
        whole = kernel == strides == (1, 1) and not depthwise and not any(map(any, pads))
        planned = self._add(operator, image, (filters, rows, columns), made, in_runs=whole and columns < 24)
        if groups == 1 and not depthwise:
            self._other_ways(planned, weight, bias, shape)
        self._count(rows * columns * weight.size)
        if attrs.get("activation") == "relu":
            planned.steps.append(("relu", (planned.last(),), ()))
        return True

    def _other_ways(
        self, planned: Planned, weight: Array, bias: Array | None, shape: Mapping[str, Any]
    ) -> None:
        """Let a convolution be computed with transforms, by rows, or from planes."""
        assert self.draft is not None
        image, samples, width = planned.source, self.draft.samples, lanes()
        filters, rows, columns = planned.target.sizes
        steady = shape["strides"] == shape["dilations"] == (1, 1) and not image.planar
        if steady and transforms_pay(image.channels, filters, rows, columns, samples, shape["kernel"], width):
            above, before = shape["before"]  # tiles may go beyond the image
            below, behind = -(-rows // 4) * 4 + 2 - image.rows, -(-columns // 4) * 4 + 2 - image.columns
            image.pad(((above, below - above), (before, behind - before)))
            planned.transformed = partial(blocks_stages.winograd, weight, bias, samples, shape["before"])
            return
        planned.reads_planes = True
        if shape["strides"][1] == 1 and rows_pay(filters, columns, width):
            planned.by_rows = partial(blocks_stages.convolved_in_rows, weight, bias, samples, shape)

    def _count(self, products: int) -> None:
        assert self.draft is not None
        self.draft.products += products

    def _product(self, position: int, operator: Operator, result: Spec) -> bool:
        weight, attrs = self._weight(operator.inputs[1]), operator.attrs
        x = operator.inputs[0]
        if weight is None or weight.ndim != 2 or result.ndim != 2 or not isinstance(x, Variable):
            return False
        if operator.opdef.name == "mul":
            fits = attrs["x_num_col_dims"] == attrs["y_num_col_dims"] == 1
        else:
            fits = not attrs["trans_x"] and self._spec(x).ndim == 2
            weight = weight.T if attrs["trans_y"] else weight
        image = self.flat.get(id(x)) or self._image(x)
        if not fits or image is None or math.prod(image.sizes) != weight.shape[0]:
            return False
        channels, rows, columns = image.sizes
        filters = weight.T.reshape(-1, channels, rows, columns)
        one = (1, 1)
        shape = {"kernel": (rows, columns), "strides": one, "dilations": one, "before": (0, 0)}
        made = partial(blocks_stages.convolved, filters, None, result.shape[0], shape, 1)
        self._add(operator, image, (len(filters), 1, 1), made)
        self._count(weight.size)
        return True

    # -- poolings and names ----------------------------------------------------------------------------------
    def _pool(self, position: int, operator: Operator, result: Spec) -> bool:
        attrs = operator.attrs
        spec = self._spec(operator.inputs[0])
        if attrs["data_format"][-1] == "C" or spec.ndim != 4 or attrs["pooling_type"] not in ("max", "avg"):
            return False
        image = self._image(operator.inputs[0])
        if image is None:
            return False
        plan = PoolPlan(
            spec.shape[2:],
            attrs["ksize"],
            attrs["strides"],
            attrs["paddings"],
            attrs["global_pooling"],
            attrs["ceil_mode"],
            attrs["exclusive"],
            attrs["adaptive"],
            attrs["padding_algorithm"],
        )
        windows = np.array([each for axis in plan.windows() for each in axis], np.int64)
        largest, samples = attrs["pooling_type"] == "max", result.shape[0]
        made = partial(blocks_stages.pooled, windows, largest, samples)
        planned = self._add(operator, image, result.shape[1:], made)
        (high, across), (step, along) = plan.kernel, plan.strides
        same = plan.ragged is None and plan.full() == plan.size and not any(map(any, plan.pads))
        if same and across == along == 2 and row_lanes(result.shape[3], lanes()) >= 4:
            planned.by_rows = partial(blocks_stages.pooled_in_rows, high, step, largest, samples)
        return True

    def _rename(self, position: int, operator: Operator, result: Spec) -> bool:
        """The same numbers under another name: flattened images."""
        x = operator.inputs[0]
        image = self.images.get(id(x))
        if image is None or result.shape[1:] != (math.prod(image.sizes),):
            return False
        made = operator.outputs[0]
        if image.rows * image.columns == 1:
            self._named(made, image)
            image.renaming.add(position)
            return True
        # A product may read it as a convolution with filters as large as the image; nothing else can.
        readers = self._live.readers.get(id(made), ())
        every = [self._live.ops[n] for n in readers]
        if id(made) in self._kept or not all(
            o.opdef.name in ("matmul_v2", "mul") and self._weight(o.inputs[1]) is not None for o in every
        ):
            return False
        self.flat[id(made)] = image
        return True

    def _dropout(self, position: int, operator: Operator, result: Spec) -> bool:
        attrs = operator.attrs
        image = self.images.get(id(operator.inputs[0]))
        mask = operator.outputs[1] if len(operator.outputs) > 1 else None
        read = mask is not None and (id(mask) in self._kept or self._live.readers.get(id(mask)))
        same = attrs["is_test"] and attrs["dropout_implementation"] == "upscale_in_train"
        if image is None or read or not same:
            return False
        self._named(operator.outputs[0], image)
        image.renaming.add(position)
        return True

    def _normalized(self, position: int, operator: Operator, result: Spec) -> bool:
        """A batch norm that is not part of a convolution, with given statistics."""
        attrs = operator.attrs
        scale, bias, mean, variance = (self._weight(v) for v in operator.inputs[1:])
        image = self.images.get(id(operator.inputs[0]))
        given = uses_given(attrs["is_test"], attrs["use_global_stats"], attrs["trainable_statistics"])
        if image is None or scale is None or bias is None or mean is None or variance is None or not given:
            return False
        if (result.ndim == 4 and attrs["data_layout"][-1] == "C") or any(
            id(v) in self._kept or self._live.readers.get(id(v))
            for v in operator.outputs[1:]
            if v is not None
        ):
            return False
        planned = self._stage_for(position, operator, [image], image.sizes)
        assert planned is not None  # the image itself has the size
        factor = scale / np.sqrt(variance + np.float32(attrs["epsilon"]))
        own = planned.last() if image is planned.target else planned.value(image)
        planned.steps.append(("elementwise_mul", (own, planned.value(factor)), ()))
        planned.steps.append(("elementwise_add", (planned.last(), planned.value(bias - mean * factor)), ()))
        return True

    # -- elementwise operators -------------------------------------------------------------------------------
    def _elementwise(self, position: int, operator: Operator, result: Spec) -> bool:
        name, attrs = operator.opdef.name, operator.attrs
        cost = cost_of(operator.opdef, ["float32"] * len(operator.inputs), attrs)
        if cost is None or cost.library or not any(id(v) in self.images for v in operator.inputs):
            return False
        size = (*result.shape[1:], 1, 1)[:3]
        read: list[Read] = []
        for variable in operator.inputs:
            found = self._operand(variable, size, result.ndim)
            if found is None:
                return False
            read.append(found)
        planned = self._stage_for(position, operator, [r for r in read if isinstance(r, Image)], size)
        if planned is None:
            return False
        own = planned.last()  # of the stage's own value, after the steps so far
        numbers = [own if r is planned.target else planned.value(r) for r in read]
        planned.steps.append((name, tuple(numbers), tuple(attrs.items())))
        return True

    def _operand(self, variable: Any, size: tuple[int, ...], rank: int) -> Read | None:
        array = self._known.get(id(variable))
        if array is None:
            image = self._image(variable)
            fits = image is not None and (image.sizes == size or image.sizes == (size[0], 1, 1))
            same = isinstance(variable, Variable) and self._spec(variable).ndim == rank
            return image if fits and same else None
        if array.dtype != np.float32:
            return None
        if array.size == 1:
            return float(array.reshape(()))
        wanted = (size[0], 1, 1) if rank == 4 else (size[0],)
        return array if array.shape in (wanted, (1, *wanted)) else None

    def _stage_for(
        self, position: int, operator: Operator, read: Sequence[Image], size: tuple[int, ...]
    ) -> Planned | None:
        """The stage whose value the operator is a step of: the last one that it reads, if nothing else reads
        that, or a new one."""
        own = [image for image in read if image.maker is not None and image.sizes == size]
        if own:
            last = max(own, key=lambda image: image.maker.number if image.maker else -1)
            maker = last.maker
            assert maker is not None
            later = [
                i for i in read if i is not last and i.maker is not None and i.maker.number > maker.number
            ]
            if self._only(last, position) and not later:
                last.names.clear()  # what they stood for is nowhere
                self._named(operator.outputs[0], last)
                return maker
        source = next((image for image in read if image.sizes == size), None)
        if source is None:
            return None
        assert self.draft is not None
        made = partial(blocks_stages.pointwise, self.draft.samples)
        return self._add(operator, source, size, made, is_pointwise=True, in_runs=True)


Rule = Callable[[Reader, int, Operator, Spec], bool]
_RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("conv2d", "conv2d_fusion", "depthwise_conv2d", "depthwise_conv2d_fusion"), Reader._convolution
    ),
    **dict.fromkeys(("matmul_v2", "mul"), Reader._product),
    "pool2d": Reader._pool,
    **dict.fromkeys(("flatten_contiguous_range", "reshape2", "squeeze2"), Reader._rename),
    "batch_norm": Reader._normalized,
    "dropout": Reader._dropout,
}

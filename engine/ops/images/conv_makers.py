"""Convolutions that are compiled: the makers of their operators, which choose by size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from engine.core.operators.windows import channel_first, channel_last, pads_of
from engine.core.values.dtype import float32
from engine.ops.elementwise.mask import rectified
from engine.ops.images.conv_choice import plan_of
from engine.ops.images.conv_plan import Plan
from engine.ops.images.conv_transpose import image_plan

_FEW_PIXELS = 16  # a result with fewer leaves the gradient of the filters to BLAS
_WIDE = 1 << 17  # elements of filters that are too many to be read again for each few columns
# Channels and filters, each and as a product, from which on transforms cost less than the products they save.
_DEEP, _WORTH = 16, 512
# Attributes of a transposed convolution that its numbers depend on.
_NUMBERS = (
    "output_padding",
    "output_size",
    "strides",
    "paddings",
    "padding_algorithm",
    "dilations",
    "groups",
)


def _plan(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Plan | None:
    """The numbers of the convolution, where it is one of float32 that is worth compiling."""
    x, weight = inputs[0], inputs[1]
    if not _fills_vectors(x, weight, attrs):
        return None
    shape = _first(x.shape, attrs)
    pads = pads_of(
        "fast", shape[2:], weight.shape[2:], attrs["strides"], attrs["paddings"], attrs["padding_algorithm"]
    )
    dilations = (1, 1) if attrs["padding_algorithm"] == "SAME" else tuple(attrs["dilations"])
    return _worth(plan_of(np, shape, weight.shape, tuple(attrs["strides"]), pads, dilations, attrs["groups"]))


def _transposed_plan(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Plan | None:
    """The numbers of the convolution that computes x of the result of a transposed one."""
    x, weight = inputs[0], inputs[1]
    if not _fills_vectors(x, weight, attrs):
        return None
    numbers = {name: attrs[name] for name in _NUMBERS}
    return _worth(image_plan(plan_of, "fast", np, _first(x.shape, attrs), weight.shape, **numbers))


def _fills_vectors(x: Any, weight: Any, attrs: Mapping[str, Any]) -> bool:
    """Whether images are float32, not empty, and so many that no more lanes are idle than not."""
    from engine.kernels.fast.images.sample_blocks import lanes_for

    if x.dtype is not float32 or len(x.shape) != 4 or 0 in x.shape or 0 in weight.shape:
        return False
    samples, across = x.shape[0], lanes_for(x.shape[0])
    return bool(samples * 2 >= -(-samples // across) * across)


def _worth(found: Any) -> Plan | None:
    """The plan, where it is worth compiling."""
    if not isinstance(found, Plan):  # its filters are cut
        return None
    if found.ow < 4 and not _by_transforms(found) and found.each * found.taken * found.kh * found.kw > _WIDE:
        return None
    return found


def _first(shape: Sequence[int], attrs: Mapping[str, Any]) -> tuple[int, ...]:
    return (shape[0], shape[3], *shape[1:3]) if attrs["data_format"][-1] == "C" else tuple(shape)


def _by_transforms(plan: Plan) -> bool:
    """Whether Winograd's transforms compute the convolution and its gradients."""
    return (
        (plan.kh, plan.kw, plan.sh, plan.sw, plan.dh, plan.dw, plan.groups) == (3, 3, 1, 1, 1, 1, 1)
        and min(plan.each, plan.taken) >= _DEEP
        and plan.each * plan.taken >= _WORTH
        and max(plan.top, plan.left) <= 2
    )


def forward(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The kernel of conv2d, of depthwise_conv2d, and of both with bias and activation."""
    from engine.kernels.fast import Fast
    from engine.kernels.fast.images.samples_last import SamplesLast

    plan = _plan(inputs, attrs)
    if plan is None:
        return None
    has_bias, activation = len(inputs) > 2, attrs.get("activation", "")
    transforms = _by_transforms(plan)
    compute, handles = (_transformed if transforms else _direct)(plan, has_bias, activation)
    near = SamplesLast()
    last = attrs["data_format"][-1] == "C"

    def kernel(x: Any, weight: Any, bias: Any = None) -> Any:
        if bias is not None and bias.strides[0] != bias.itemsize:
            bias = np.ascontiguousarray(bias)
        result = compute(near(channel_first(x) if last else x), weight, bias)
        return channel_last(result) if last else result

    choose = partial(_forward_pays, plan, compute, has_bias)
    return Fast(kernel, (*handles, near.handle), None if transforms else choose)


class _Ones:
    """Arrays of ones of the sizes of a convolution, samples last, to measure with."""

    def __init__(self, plan: Plan) -> None:
        self.weight = np.ones((plan.groups * plan.each, plan.taken, plan.kh, plan.kw), np.float32)
        self.x = self._images(plan.groups * plan.taken, plan.height, plan.width, plan.samples)
        self.g = self._images(plan.groups * plan.each, plan.oh, plan.ow, plan.samples)

    def _images(self, *shape: int) -> Any:
        return np.ones(shape, np.float32).transpose(3, 0, 1, 2)


def _direct(plan: Plan, bias: bool, activation: str) -> Any:
    """The kernel of the result as sums of products, and the handles of its code."""
    from engine.kernels.fast.images.convolution import forward_plan
    from engine.kernels.fast.images.depthwise import image_kernel

    direct = image_kernel(forward_plan(plan, bias, activation), plan.samples)
    each = plan.each

    def compute(x: Any, weight: Any, bias: Any) -> Any:
        if plan.taken == 1 and not _is_finite(weight):  # padding, which is not read, times it would be NaN
            return _by_numpy(plan, x, weight, bias, activation)
        per_filter, *others = weight.strides
        return direct(x, weight, (per_filter * each, per_filter, *others), True, bias)

    return compute, direct.handles


def _transformed(plan: Plan, bias: bool, activation: str) -> Any:
    """The kernel of the result by Winograd's transforms, and the handles of its code."""
    from engine.kernels.fast.images.winograd import WinogradKernel, tiles

    size, before, out = (plan.height, plan.width), (plan.top, plan.left), (plan.oh, plan.ow)
    cut = tiles(plan.samples, plan.taken, plan.each, size, before, out)
    fast = WinogradKernel(cut, plan.samples, False, bias, activation)

    def compute(x: Any, weight: Any, bias: Any) -> Any:
        result = fast(x, weight, True, bias)
        if result is None:  # infinity and NaN spread over a tile: NumPy's way computes their positions
            result = _by_numpy(plan, x, weight, bias, activation)
        return result

    return compute, fast.handles


def _by_numpy(plan: Plan, x: Any, weight: Any, bias: Any, activation: str) -> Any:
    """The result with bias and activation, by NumPy."""
    result = plan.forward(x, weight)
    if bias is not None:
        result += bias.reshape(-1, 1, 1)
    if activation:
        rectified(np, result, result)
    return result


def _is_finite(x: Any) -> bool:
    """Whether no element is infinite or NaN."""
    return bool(np.isfinite(np.add.reduce(x, axis=None)))


def gradients(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The kernel of the gradients of conv2d and depthwise_conv2d."""
    plan = _plan(inputs, attrs)
    return None if plan is None else _gradients(plan, attrs, False)


def transposed(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The kernel of conv2d_transpose and depthwise_conv2d_transpose: the gradient of an image."""
    from engine.kernels.fast import Fast
    from engine.kernels.fast.images.samples_last import SamplesLast

    plan = _transposed_plan(inputs, attrs)
    if plan is None:
        return None
    transforms = _by_transforms(plan)
    compute, handles = (_transformed_image if transforms else _direct_image)(plan)
    near = SamplesLast()
    last = attrs["data_format"][-1] == "C"

    def kernel(x: Any, weight: Any) -> Any:
        result = compute(None, weight, near(channel_first(x) if last else x))
        return channel_last(result) if last else result

    choose = partial(_gradient_pays, plan, "image", compute)
    return Fast(kernel, (*handles, near.handle), None if transforms else choose)


def transposed_gradients(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """The kernel of the gradients of both: a convolution, and the gradient of its filters."""
    plan = _transposed_plan(inputs, attrs)
    return None if plan is None else _gradients(plan, attrs, True)


def _gradients(plan: Plan, attrs: Mapping[str, Any], turned: bool) -> Any:
    """The kernel of the gradients of x and the filters; ``turned``: of a transposed convolution, whose result
    has the place of the image in ``plan``, and x that of the result."""
    from engine.kernels.fast import Fast
    from engine.kernels.fast.images.samples_last import SamplesLast

    transforms = _by_transforms(plan)
    ways = {}
    if attrs["need_x"] and turned:
        ways["x"] = (_transformed if transforms else _direct)(plan, False, "")
    elif attrs["need_x"]:
        ways["x"] = (_transformed_image if transforms else _direct_image)(plan)
    if attrs["need_weight"] and (transforms or plan.oh * plan.ow >= _FEW_PIXELS):
        ways["filters"] = (_transformed_filters if transforms else _direct_filters)(plan)
    if not ways:
        return None
    near = SamplesLast()
    last = attrs["data_format"][-1] == "C"
    compiled = {name: way[0] for name, way in ways.items()}

    def of_x(image: Any, weight: Any, flow: Any) -> Any:
        compute = compiled.get("x")
        if turned:
            return plan.forward(image, weight) if compute is None else compute(image, weight, None)
        if compute is None:
            return plan.gradients(image, weight, flow, True, False)[0]
        return compute(image, weight, flow)

    def of_filters(image: Any, weight: Any, flow: Any) -> Any:
        compute = compiled.get("filters")
        if compute is None:
            return plan.gradients(image, weight, flow, False, True)[1]
        return compute(near(image), weight, near(flow))

    def kernel(x: Any, weight: Any, g: Any) -> Any:
        if last:
            x, g = channel_first(x), channel_first(g)
        g = near(g)
        image, flow = (g, x) if turned else (x, g)
        weight_grad = of_filters(image, weight, flow) if attrs["need_weight"] else None
        if not attrs["need_x"]:
            return None, weight_grad
        x_grad = of_x(image, weight, flow)
        return channel_last(x_grad) if last else x_grad, weight_grad

    def choose() -> bool:
        for name, compute in list(compiled.items()):
            if name == "x" and turned:
                pays = _forward_pays(plan, compute, False)
            else:
                pays = _gradient_pays(plan, "image" if name == "x" else name, compute)
            if not pays:
                del compiled[name]
        return bool(compiled)

    handles = [handle for way in ways.values() for handle in way[1]]
    return Fast(kernel, (*handles, near.handle), None if transforms else choose)


def _forward_pays(plan: Plan, compute: Callable[..., Any], has_bias: bool) -> bool:
    """Whether compiled code computes the result of a convolution faster than NumPy here."""
    given = _Ones(plan)
    bias = given.weight[:, 0, 0, 0].copy() if has_bias else None
    ways = {
        "compiled": partial(compute, given.x, given.weight, bias),
        "numpy": partial(plan.forward, given.x, given.weight),
    }
    return _fastest(plan, "result", ways)


def _gradient_pays(plan: Plan, name: str, compute: Callable[..., Any]) -> bool:
    """Whether it computes the gradient of the image, or of the filters, faster."""
    given = _Ones(plan)
    numbers = given.x, given.weight, given.g
    of = name == "image", name == "filters"
    ways = {"compiled": partial(compute, *numbers), "numpy": partial(plan.gradients, *numbers, *of)}
    return _fastest(plan, name, ways)


def _fastest(plan: Plan, what: str, ways: Mapping[str, Any]) -> bool:
    """Whether compiled code computes the result, or a gradient, of a convolution faster than NumPy here."""
    from engine.kernels.fast.images.convolution import forward_plan
    from engine.kernels.fast.measured import choices

    numbers = f"{forward_plan(plan, False, '')} {plan.samples}"
    return choices().fastest(f"convolution, {what}: {numbers}", ways) == "compiled"


def _first_in(x: Any) -> bool:
    """Whether channels come before rows in memory: an image's gradient has the layout of the image, with
    which the operators before combine it. None: there is no such image."""
    return x is None or bool(x.strides[1] >= x.strides[2])


def _direct_image(plan: Plan) -> Any:
    from engine.kernels.fast.images.convolution import image_plan
    from engine.kernels.fast.images.depthwise import image_kernel

    fast = image_kernel(image_plan(plan), plan.samples)

    def compute(x: Any, weight: Any, g: Any) -> Any:
        if not _is_finite(weight):  # times the zeros around g it would be NaN
            return plan.gradients(x, weight, g, True, False)[0]
        per_filter, per_channel, *others = weight.strides
        return fast(g, weight, (per_filter * plan.each, per_channel, per_filter, *others), _first_in(x))

    return compute, fast.handles


def _transformed_image(plan: Plan) -> Any:
    from engine.kernels.fast.images.winograd import WinogradKernel, tiles

    size, out = (plan.oh, plan.ow), (plan.height, plan.width)
    cut = tiles(plan.samples, plan.each, plan.taken, size, (2 - plan.top, 2 - plan.left), out)
    fast = WinogradKernel(cut, plan.samples, True, False, "")

    def compute(x: Any, weight: Any, g: Any) -> Any:
        found = fast(g, weight, _first_in(x))
        return plan.gradients(x, weight, g, True, False)[0] if found is None else found

    return compute, fast.handles


def _direct_filters(plan: Plan) -> Any:
    from engine.kernels.fast.images.convolution import filter_plan
    from engine.kernels.fast.images.depthwise import filter_kernel

    fast = filter_kernel(filter_plan(plan), plan.samples)

    def compute(x: Any, weight: Any, g: Any) -> Any:
        found = fast(x, g)
        if _is_finite(found):
            return found
        return plan.gradients(x, weight, g, False, True)[1]  # padding, which may not be read, times infinity

    return compute, fast.handles


def _transformed_filters(plan: Plan) -> Any:
    from engine.kernels.fast.images.winograd import WinogradFilterKernel, tiles

    size, before, out = (plan.height, plan.width), (plan.top, plan.left), (plan.oh, plan.ow)
    fast = WinogradFilterKernel(tiles(plan.samples, plan.taken, plan.each, size, before, out), plan.samples)

    def compute(x: Any, weight: Any, g: Any) -> Any:
        found = fast(x, g)
        return plan.gradients(x, weight, g, False, True)[1] if found is None else found

    return compute, fast.handles

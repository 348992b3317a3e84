"""Poolings whose windows have one size and are inside the image."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.ops.images.pooling_plan import PoolPlan
from engine.program.run.frozen.site import LARGEST, Array, Bound, Site


def pool(site: Site) -> Bound | None:
    """The maximum or mean of each window, axis by axis."""
    x, attrs, buffer, image = site.inputs[0], site.attrs, site.buffer(), site.known(0)
    if buffer is None or image is None or attrs["data_format"][-1] == "C" or not site.plain:
        return None
    plan = PoolPlan(
        x.shape[2:],
        attrs["ksize"],
        attrs["strides"],
        attrs["paddings"],
        attrs["global_pooling"],
        attrs["ceil_mode"],
        attrs["exclusive"],
        attrs["adaptive"],
        attrs["padding_algorithm"],
    )
    if plan.ragged is not None or plan.full() != plan.size or math.prod(plan.kernel) == 1:
        return None
    mean = attrs["pooling_type"] == "avg"
    if mean and plan.kernel == plan.size:  # one window: NumPy's own sum of runs
        counted = buffer.dtype.type(1 / math.prod(plan.kernel))

        def average() -> None:
            np.add.reduce(image, axis=(2, 3), out=buffer[:, :, 0, 0])
            np.multiply(buffer, counted, out=buffer)

        return Bound(average, buffer)
    place = image
    combine = np.add if mean else np.maximum
    steps: list[tuple[Any, Array, Array, Array]] = []
    for axis in range(2):
        parts = [place[(*(slice(None),) * (axis + 2), part)] for part in plan.slices(axis)]
        if len(parts) == 1:
            place = parts[0]
            continue
        made = buffer if parts[0].shape == buffer.shape else np.empty(parts[0].shape, buffer.dtype)
        if made.nbytes > LARGEST:
            return None
        steps.append((combine, parts[0], parts[1], made))
        steps += [(combine, made, part, made) for part in parts[2:]]
        place = made
    if place is not buffer:
        return None
    if mean:
        steps.append((np.divide, buffer, np.asarray(plan.counts(np, buffer.dtype)), buffer))

    def call() -> None:
        for function, a, b, out in steps:
            function(a, b, out=out)

    return Bound(call, buffer)

"""The second stage of a plan: operators that become one, and updates that become one call."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engine.kernels import choice
from engine.ops.training.flat_updates import FLAT
from engine.program.passes.pipeline import level
from engine.program.run.fusion.elementwise import compiles, fuse_elementwise, way
from engine.program.run.stages.draft import Draft


def fuse(draft: Draft, passes: int | None = None) -> Draft:
    """The operators after fusion, where the level of passes is above 0 (by default the one in force).

    ::

        b = elementwise_add(a, bias)           c = fused_elementwise(a, bias)
        c = relu(b)                      ->    return c
        return c
    """
    if draft.program.foreign or not (level.get() if passes is None else passes):
        return draft
    live, outputs, specs, known = draft.live, draft.outputs, draft.specs, draft.constants
    on_gpu = draft.xp is not np
    if any(o.opdef.name.startswith("softmax") for o in live.ops):
        from engine.program.run.fusion.attention import fuse_attention  # most have none

        live = fuse_attention(live, outputs, specs, known)
    groups, products = draft.groups, draft.products
    if not on_gpu and compiles() and any(o.opdef.name.startswith("batch_norm") for o in live.ops):
        from engine.program.run.fusion.batch_norm import fuse_batch_norm  # most have none

        live = fuse_batch_norm(live, outputs, specs, known)
    # NumPy gains by a fused operator too; on a GPU only our kernel makes one launch of it.
    if not on_gpu or choice.kernels.get() != "numpy":
        compiled = not on_gpu and compiles()
        by = way(compiled, on_gpu=on_gpu)
        live = fuse_elementwise(live, outputs, specs, known, by)
        if compiled and any(o.opdef.name == "matmul_v2" for o in live.ops):
            from engine.program.run.fusion.products import order_products  # most start with none

            live, products = order_products(live, specs, known)
        if any(o.opdef.name in FLAT for o in live.ops):
            from engine.program.run.fusion.updates import update_groups  # with the first step, not the engine

            groups = update_groups(live.ops, specs)
    return replace(draft, live=live, groups=groups, products=products)

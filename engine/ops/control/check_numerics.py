"""A look at the numbers of a tensor: counts of nan, infinity and zero, the largest, smallest and mean."""

from __future__ import annotations

from typing import Any, cast

from engine.core.errors import NotFiniteError
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.place import Array, ArrayModule
from engine.core.values.dtype import float32, from_numpy, int64
from engine.core.values.spec import Spec

_SHORT = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}
# Levels: raise where nan or inf is found, report where it is found (two of them), report always.
ABORT, REPORT_ALL = 0, 3


def numbers(xp: ArrayModule, x: Array) -> tuple[list[int], list[float]]:
    """How many elements are nan, infinite, zero; and the maximum, the minimum and the mean."""
    stats = [int(xp.isnan(x).sum()), int(xp.isinf(x).sum()), int((x == 0).sum())]
    single = x.astype("float32", copy=False)
    share = (single / xp.float32(max(x.size, 1))).sum(dtype="float32")
    return stats, [float(single.max()), float(single.min()), float(share)] if x.size else [0.0, 0.0, 0.0]


def report(stats: list[int], values: list[float], size: int, where: str) -> str:
    """One line about the numbers of a tensor, in the form of Paddle's log."""
    nan, infinite, zero = stats
    counts = f"num_nan={nan}, num_inf={infinite}, " if nan or infinite else ""
    mark = " [ERROR]" if counts else ""
    largest, smallest, mean = (f"{v:e}" for v in values)
    return (
        f"[PRECISION]{mark} in {where}, numel={size}, {counts}num_zero={zero}, max={largest}, "
        f"min={smallest}, mean={mean}"
    )


def place_of(x: Array, name: str, tensor: str) -> str:
    """The device, operator, tensor and dtype that a line is about."""
    device = f"gpu:{cast(Any, x).device.id}" if hasattr(x, "get") else "cpu"
    dtype = from_numpy(x.dtype).name
    return f"[device={device}, op={name}, tensor={tensor}, dtype={_SHORT.get(dtype, dtype)}]"


def _infer(tensor: Spec, **_: Any) -> tuple[Spec, Spec]:
    require_floating("check_numerics", tensor=tensor)
    return Spec((3,), int64), Spec((3,), float32)


@op(
    "check_numerics",
    infer=_infer,
    outputs=("stats", "values"),
    effect=True,
    slots={"tensor": "tensor", "stats": "stats", "values": "values"},
)
def check_numerics(
    xp, tensor, *, op_type="", var_name="", check_nan_inf_level=0, stack_height_limit=-1, output_dir=""
):
    """Counts of nan, inf and zero [3], and maximum, minimum, mean [3]; prints a line about nan and inf.

    Raises NotFiniteError at level 0 where there are any; prints always at level 3.
    """
    stats, values = numbers(xp, tensor)
    where = place_of(tensor, op_type, var_name)
    if stats[0] or stats[1] or check_nan_inf_level == REPORT_ALL:
        print(report(stats, values, tensor.size, where))
    if (stats[0] or stats[1]) and check_nan_inf_level == ABORT:
        raise NotFiniteError(
            f"check_numerics: (PreconditionNotMet) There are NAN or INF (num_nan={stats[0]}, "
            f"num_inf={stats[1]}, num_zero={stats[2]}) in {where}; check the operator that gave it"
        )
    return xp.asarray(stats, dtype=xp.int64), xp.asarray(values, dtype=xp.float32)

"""FLAGS_low_precision_op_list: counts the eager operators by name and by the dtype that they compute in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from engine.core.operators.opdef import OpDef
from engine.eager.mode import unwatch, watch
from engine.eager.tensor import Tensor

# The columns: half precision, bfloat16, float32, anything else.
_COLUMNS = ("float16", "bfloat16", "float32")
_counts: dict[str, list[int]] = {}
_paused: ContextVar[bool] = ContextVar("counting_paused", default=False)


def _count(
    opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any], results: list[Tensor | None]
) -> None:
    if _paused.get():
        return
    dtypes = [
        v.dtype.name
        for value in inputs
        for v in (value if isinstance(value, list) else [value])
        if hasattr(v, "dtype")
    ]
    if not dtypes:
        dtypes = [each.dtype.name for each in results if each is not None]
    chosen = next((d for d in dtypes if d.startswith(("float", "bfloat"))), dtypes[0] if dtypes else "")
    column = _COLUMNS.index(chosen) if chosen in _COLUMNS else len(_COLUMNS)
    _counts.setdefault(opdef.name, [0] * (len(_COLUMNS) + 1))[column] += 1


def count_operators(on: bool) -> None:
    """Turn the counting on or off; the counts stay."""
    unwatch(_count)
    if on:
        watch(_count)


def clear() -> None:
    """Forget the counts."""
    _counts.clear()


def counts() -> dict[str, list[int]]:
    """Calls of each operator in float16, bfloat16, float32 and other dtypes."""
    return {name: list(found) for name, found in _counts.items()}


@contextmanager
def paused() -> Iterator[None]:
    """Within the block no operator is counted: backward applies operators that the user did not call."""
    token = _paused.set(True)
    try:
        yield
    finally:
        _paused.reset(token)

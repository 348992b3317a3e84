"""An operator's kernel on the GPU against the operator's own on NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.operators.opdef import OPS
from tests.cupy_stand_in import counts

# The tolerance of results of each kind of numbers, as a part of the largest of them.
TOLERANCE = {"float64": 1e-12, "float32": 3e-6, "float16": 4e-3}


def same(cupy: Any, name: str, *inputs: Any, launches: int | None = 1, **attrs: Any) -> None:
    """Compare both, the GPU twice with bitwise identical results, in ``launches`` and without a wait or
    copy."""
    opdef = OPS[name]
    want = _several(opdef.kernel(np, *[None if i is None else i.copy() for i in inputs], **attrs))
    moved = [None if i is None else cupy.asarray(i) for i in inputs]
    _run(cupy, name, moved, attrs)  # fills the caches of the kernels
    with counts.counted() as found:
        first = _several(_run(cupy, name, moved, attrs))
    if hasattr(cupy.ndarray, "_host"):  # the stand-in counts
        assert (found.waits, found.to_device) == (0, 0), found.lines("waits", "to_device")
        assert launches is None or found.launches == launches, f"{name}: {found.launches} launches"
    again = _several(_run(cupy, name, moved, attrs))
    for got, repeated, wanted in zip(first, again, want, strict=True):
        if wanted is None:
            assert got is None
            continue
        assert got.dtype == wanted.dtype
        assert got.shape == wanted.shape
        assert got.get().tobytes() == repeated.get().tobytes(), f"{name}: not the same bits twice"
        close(got.get(), wanted, f"{name} {wanted.dtype} {wanted.shape}")


def close(got: Any, want: Any, what: str = "") -> None:
    """Compare numbers of one kind, infinity and NaN where they are."""
    if want.dtype.kind != "f":
        np.testing.assert_array_equal(got, want, what)
        return
    finite = np.abs(want[np.isfinite(want)].astype(np.float64))
    tolerance = TOLERANCE[want.dtype.name]
    np.testing.assert_allclose(
        got, want, rtol=tolerance, atol=tolerance * max(1.0, float(finite.max(initial=0.0))), err_msg=what
    )


def _run(cupy: Any, name: str, inputs: list[Any], attrs: dict[str, Any]) -> Any:
    kernel, _ = OPS[name].kernel_for("cupy")
    assert OPS[name].overrides.get("cupy"), f"{name} has no kernel on the GPU"
    return kernel(cupy, *inputs, **attrs)


def _several(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]

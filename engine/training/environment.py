"""The environment of a training run, for its first event, and what the last bits of its sums depend on."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from functools import cache
from typing import Any

from engine.core.devices import label, versions
from engine.kernels.cpu.threads import get_num_threads


def environment() -> dict[str, str]:
    """Names and values for people; nothing of them decides anything."""
    import numpy as np

    from engine.files.native.image import product

    return {
        "program": product(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": str(os.cpu_count() or 1),
        **{name: str(value) for name, value in computing().items()},
        **versions(),
    }


def computing() -> dict[str, Any]:
    """What the last bits of sums depend on here: ``device``, ``threads``, and ``blas``: NumPy's library and
    its kernels.

    ``blas`` is empty where threadpoolctl does not know the library.
    """
    return {"device": label(), "threads": get_num_threads(), "blas": _blas()}


@cache
def _blas() -> str:
    """A process has one NumPy, and looking for its library takes as long as a small step of training."""
    from threadpoolctl import threadpool_info

    found = [each for each in threadpool_info() if each["user_api"] == "blas"]
    words = [
        " ".join(str(each.get(name) or "") for name in ("internal_api", "version", "architecture")).strip()
        for each in found
        if "numpy" in each["filepath"]
    ]
    return ", ".join(sorted(words))


def difference(recorded: object) -> str:
    """One line that says what a resumed run computes with now and did not before; empty where all is alike.

    ``recorded`` is what ``computing()`` gave when the checkpoint was written, or None: an older one.
    """
    if not isinstance(recorded, Mapping):
        return ""
    parts = [
        f"{name} {recorded[name]} before, {value} now"
        for name, value in computing().items()
        if name in recorded and recorded[name] != value
    ]
    return f"The last bits of sums may differ from before: {'; '.join(parts)}" if parts else ""

"""Where a training runs: versions and machine, as its first event tells them."""

from __future__ import annotations

import os
import platform


def environment() -> dict[str, str]:
    """Names and values for people; nothing of them decides anything."""
    import numpy as np

    from engine.files.image import product

    return {
        "program": product(), "python": platform.python_version(), "numpy": np.__version__,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processors": str(os.cpu_count() or 1),
    }  # fmt: skip

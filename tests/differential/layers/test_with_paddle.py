"""Every layer in every mode with the real Paddle 2.6.2, which MODEL_STUDIO_PADDLE names.

``python -m tests.differential.layers --only TEXT`` repeats some of them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.differential.layers.sweep import sweep

PADDLE = os.environ.get("MODEL_STUDIO_PADDLE", "")


@pytest.mark.timeout(1200)
@pytest.mark.skipif(
    not PADDLE, reason="needs MODEL_STUDIO_PADDLE, the path of a Python that has Paddle 2.6.2"
)
def test_layers_give_what_paddle_gives(tmp_path: Path) -> None:
    report = sweep(PADDLE, tmp_path)
    lines = list(report.lines())
    print(lines[0])
    assert not report.differ, "\n".join(lines)
    assert not report.unused, f"no longer differ, take them off the list: {sorted(report.unused)}"

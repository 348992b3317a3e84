"""Progress of reading image files ahead, on stderr."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from studio.cli.output import say

if TYPE_CHECKING:
    from engine.training import TrainingConfig

SECONDS = 5.0


def read_ahead(config: TrainingConfig) -> None:
    """Decode the images of a training, with a line every few seconds. Raises as ``read_images``."""
    from engine.training.data import read_images

    last = time.monotonic()

    def report(message: str) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS:
            last = time.monotonic()
            say(message, err=True)

    read_images(config, report)

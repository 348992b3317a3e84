"""The sentence about images that a training skips because they can't be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from resources.training_events import SkippedImages


_NAMED = 5


def skipped_message(skipped: SkippedImages) -> str:
    """How many images are skipped, and which are the first."""
    count, names = skipped["count"], skipped["first"][:_NAMED]
    which = ", ".join(names) + (", ..." if count > len(names) else "")
    if count == 1:
        return f"1 image can't be read and is skipped: {which}"
    return f"{count:,} images can't be read and are skipped: {which}"

"""Picture: what a box shows of the value that its operator computed. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

from widgets.tensor_view.data import Counts, Planes


@dataclass(frozen=True, eq=False)
class Picture:
    """Channels as images, or the distribution of a value without an area; ``words`` are its shape and share
    of zeros. ``hint`` is shown where the box is pointed at."""

    planes: Planes | None = None
    counts: Counts | None = None
    words: str = ""
    hint: str = ""

"""An image is added to those that the project collects, with undo; a thread writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from studio.session.problem_view import problem_from_message
from studio.session.project.undo import Change

if TYPE_CHECKING:
    from studio.session.project.library import Library


def collect_image(
    library: Library, image: NDArray[np.uint8], label: str, source: str, added: Callable[[int], object]
) -> None:
    """Add an image under ``label``; ``added`` gets how many there are then.

    Undo removes it, or gives it the label back that it had before. A class that was new stays in the list.
    """
    # Here, not in the thread: two threads that import the engine at once can lock each other out.
    import engine.training.sources.images.folder  # noqa: F401
    from engine.core.errors import EngineError

    collected = library.collected
    before: list[str] = []

    def put(wanted: str) -> int:
        if wanted:
            return collected.collect(image, wanted, source)
        collected.discard(image)
        return collected.count()

    def carry_out(work: Callable[[], int], then: Callable[[int], object]) -> None:
        library.files.writing.attempt(work, then, failed, (EngineError,))

    def failed(error: Exception) -> None:
        library.problem.emit(problem_from_message(str(error), "The image could not be added"))

    def write() -> int:
        before.append(collected.label_of(image))
        return put(label)

    def take(count: int) -> None:
        if before[0] != label:
            undo, redo = (lambda: carry_out(lambda: put(before[0]), added)), lambda: carry_out(again, added)
            library.undo_stack.push(Change("Add image", undo, redo))
        added(count)

    def again() -> int:
        return put(label)

    carry_out(write, take)

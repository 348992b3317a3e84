"""paddle.save in another thread."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable

from engine.core import mode as modes
from engine.core.containers import nest
from engine.core.errors import ArgumentError, DTypeError
from engine.core.strictness import warn_at_user
from engine.eager.tensor import Tensor
from engine.framework.state_files import save

_running: list[_Saving] = []  # those that run, or that failed


class _Saving(threading.Thread):
    """A thread that saves, and keeps the error where that fails."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__(name="async_save")
        self._work = work
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._work()
        except Exception as error:
            self.error = error


def async_save(
    obj: object, path: str | io.BytesIO, protocol: int = 4, sync_other_task: bool = False, **configs: object
) -> None:
    """``save(obj, path)`` of a Tensor or a dict in the background, with the values that Tensors have now.

    ``sync_other_task``: after those that run. Raises ArgumentError while a Program is built, DTypeError for
    other objects.
    """
    if modes.is_static():
        raise ArgumentError("async_save: a Program is being built; call disable_static() first, or save()")
    if not isinstance(obj, dict | Tensor):
        raise DTypeError(f"async_save: takes a Tensor or a dict: got {type(obj).__name__}; use save()")
    if configs:
        warn_at_user(f"async_save: {sorted(configs)} have no effect; save() takes them", UserWarning)
    taken = nest.map_structure(_copied, obj)
    if sync_other_task:
        clear_async_save_task_queue()
    saving = _Saving(lambda: save(taken, path, protocol))
    _running[:] = [*(each for each in _running if each.is_alive() or each.error is not None), saving]
    saving.start()


def clear_async_save_task_queue() -> None:
    """Wait until all is saved. Raises the error of one that failed."""
    while _running:
        saving = _running.pop()
        saving.join()
        if saving.error is not None:
            raise saving.error


def _copied(leaf: object) -> object:
    if not isinstance(leaf, Tensor):
        return leaf
    made = leaf.detach().clone()
    made.name = leaf.name
    return made

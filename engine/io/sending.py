"""Batches for a GPU are copied there ahead: the copy runs while the GPU computes on the batch before."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.place import Place, backend
from engine.core.random.generator import default_generator
from engine.eager.tensor import Tensor
from engine.io.collate import mapped, to_plain


class SentAhead:
    """The batches that ``make`` makes, as Tensors of a GPU.

    With ``ahead`` the next batch is made and sent before this one is handed over. Where making a batch in
    this process draws random numbers, that stops: the numbers would be drawn in another order than on the
    CPU, and a run that is continued could not draw them again.

    Args:
        put_back: lets ``make`` make its last batch again; None where other processes make them, whose random
            numbers are their own.
    """

    def __init__(
        self, make: Callable[[], Any], put_back: Callable[[], None] | None, place: Place, ahead: bool
    ) -> None:
        self._make, self._put_back = make, put_back
        self._feed = backend(place).feeding.Feed(place.index)
        self._ahead = ahead
        self._next: Callable[[], Any] | None = None  # hands over the batch that was made ahead

    def take(self) -> Any:
        """The next batch, its arrays as Tensors. Raises what the source raises, at its batch."""
        due, self._next = self._next or self._made(), None
        if self._ahead:
            self._next = self._made() if self._put_back is None else self._made_alike(self._put_back)
        return due()

    def _made(self) -> Callable[[], Any]:
        """The next batch on its way, or what was raised instead, for when its turn comes."""
        try:
            batch = self._make()
            with self._feed.sending():
                sent = mapped(batch, lambda array: Tensor(self._feed.copy(to_plain(array))))
        except Exception as error:
            return _raising(error)
        mark = self._feed.sent()

        def hand_over() -> Any:
            self._feed.arrive(mark)
            return sent

        return hand_over

    def _made_alike(self, put_back: Callable[[], None]) -> Callable[[], Any] | None:
        """The next batch where making it draws no random numbers; None, and nothing has happened, else."""
        before = _generators()
        made = self._made()
        if _same(before, _generators()):
            return made
        self._ahead = False
        put_back()
        engine, numpy, python = before
        default_generator().set_state(engine)
        np.random.set_state(numpy)
        random.setstate(python)
        return None


def _raising(error: Exception) -> Callable[[], Any]:
    def hand_over() -> Any:
        raise error

    return hand_over


def _generators() -> tuple[dict[str, Any], Any, Any]:
    return default_generator().state(), np.random.get_state(legacy=True), random.getstate()


def _same(before: Any, after: Any) -> bool:
    for old, new in zip(before[0].values(), after[0].values(), strict=True):
        if not np.array_equal(old, new):
            return False
    numpy_alike = all(np.array_equal(old, new) for old, new in zip(before[1], after[1], strict=True))
    return numpy_alike and bool(before[2] == after[2])

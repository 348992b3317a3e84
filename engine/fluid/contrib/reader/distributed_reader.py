"""``distributed_batch_reader``: every process takes its share of the batches of one reader."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from engine.core.errors import ArgumentError, DTypeError


def distributed_batch_reader(batch_reader: Callable[[], Iterable[Any]]) -> Callable[[], Iterator[Any]]:
    """A reader with this process's share: of every ``PADDLE_TRAINERS_NUM`` batches, ``PADDLE_TRAINER_ID``'s.

    Batches left over at the end, fewer than there are processes, are dropped, so that all take the same
    number of steps. Raises DTypeError for a value that is not a function, ArgumentError for a process number
    that does not belong to the number of processes.
    """
    if not callable(batch_reader):
        raise DTypeError(
            f"distributed_batch_reader: takes a reader, a function that gives batches: got "
            f"{type(batch_reader).__name__}; pass e.g. paddle.batch(reader, 32)"
        )
    count = int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
    own = int(os.environ.get("PADDLE_TRAINER_ID", "0"))
    if not 0 <= own < count:
        raise ArgumentError(
            f"distributed_batch_reader: PADDLE_TRAINER_ID is {own} of PADDLE_TRAINERS_NUM {count}; "
            "count processes from 0"
        )

    def read() -> Iterator[Any]:
        if count > 1:
            print(f"start data reader (trainers_num: {count}, trainer_id: {own})")
        mine = None
        for number, batch in enumerate(batch_reader()):
            if number % count == own:
                mine = batch
            if number % count == count - 1:
                yield mine

    return read

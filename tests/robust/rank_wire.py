"""Attacks on the wire of a training's ranks: what they send, and the orders that they get."""

from __future__ import annotations

import contextlib
import io
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from tests.robust.mutations import mutated, mutated_bytes
from tests.robust.wire_events import value_of


class _Connection:
    """Stands in for a connection whose other end has sent everything and closed."""

    def __init__(self, messages: list[bytes]) -> None:
        self._messages = iter(messages)

    def recv_bytes(self) -> bytes:
        for message in self._messages:
            return message
        raise EOFError

    def send_bytes(self, data: bytes) -> None:
        """Nothing reads it."""

    def close(self) -> None:
        """There is nothing to free."""


def _bytes_of(messages: list[Any], draw: random.Random) -> list[bytes]:
    from engine.core.errors import DTypeError
    from engine.distributed.objects import packed

    made = []
    for message in messages:
        with contextlib.suppress(DTypeError, OverflowError, ValueError, RecursionError):  # can't be sent
            made.append(packed(mutated(message, draw) if draw.random() < 0.3 else message, "test").tobytes())
    if made and draw.random() < 0.4:
        at = draw.randrange(len(made))
        made[at] = mutated_bytes(made[at], draw, made)
    if draw.random() < 0.2:
        draw.shuffle(made)
    return [made[draw.randrange(len(made))] if draw.random() < 0.05 else each for each in made]


def _messages_of_a_rank(rank: int, draw: random.Random) -> list[Any]:
    from engine.training.problem import describe_problem
    from engine.training.result import RunResult
    from resources.training_events import TRAINING_EVENTS

    result = RunResult("finished", "", 3, 1, 0.5, 0.5, 3, 1.0, "", "", tested={"accuracy": 0.5})
    problem = describe_problem(draw.choice([ValueError("a: b; c"), KeyError("x"), MemoryError()]))
    events = [value_of(draw.choice(TRAINING_EVENTS), draw, 0.02) for _ in range(draw.randint(0, 4))]
    last = draw.choice(
        [
            {"result": asdict(result), "weights": {"w": np.zeros(2, np.float32)}},
            {"problem": asdict(problem), "ours": draw.random() < 0.5},
            {"event": "output", "time": 1.0, "stream": "stderr", "text": "the end\x1b[2J"},
        ]
    )
    return [{"rank": rank, "pid": 99999991}, *({"event": each} for each in events), last]


def ranks_case(draw: random.Random) -> list[list[bytes]]:
    return [_bytes_of(_messages_of_a_rank(rank, draw), draw) for rank in range(2)]


def read_of_ranks(sent: list[list[bytes]], folder: Path) -> object:
    """The process that started two ranks takes what they sent, and says how the training ended."""
    from engine.training.config import TrainingConfig
    from engine.training.control import Control
    from engine.training.reporting.progress import Progress
    from engine.training.reporting.publisher import Publisher
    from engine.training.team import processes as module
    from engine.training.team.channel import Channel, Reception

    class Job:
        status = 1
        last_lines: tuple[str, ...] = ()

        def order(self, command: str) -> bool:
            return True

        def terminate(self, at_once: bool = False) -> None:
            raise AssertionError("it waits for a message")

    publisher = Publisher([], Progress(epochs=2), None)
    made = module.Processes(TrainingConfig(workers=2), False, Control(), publisher.publish)
    reception: Any = object.__new__(Reception)
    reception._inbox, reception._channels = made._inbox, {}
    for messages in sent:
        connection: Any = _Connection(messages)
        reception._read(Channel(connection), 2)
    assert set(reception._channels) <= {0, 1}
    made._inbox.put((module._PROCESSES, None))
    job: Any = Job()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            return made._follow(job)
        except Exception as error:
            if not hasattr(error, "problem"):
                raise
            return error.problem


def orders_case(draw: random.Random) -> list[bytes]:
    from engine.training.control import COMMANDS, rate_command

    known = [*COMMANDS, rate_command(0.1), rate_command(float("nan")), "learning_rate=x", "explode"]
    return _bytes_of([{"command": draw.choice(known)} for _ in range(draw.randint(1, 5))], draw)


def read_orders(sent: list[bytes], folder: Path) -> object:
    """Rank 0 carries out orders until its connection closes or brings an invalid one; then it ends."""
    from engine.training.control import Commands
    from engine.training.team import rank as module
    from engine.training.team.channel import Channel

    class Ended(Exception):
        pass

    def end(*_: object) -> None:
        raise Ended

    made: Any = object.__new__(module.Rank)
    connection: Any = _Connection(sent)
    made._channel, made._run, made._gone = Channel(connection), Commands(), module.threading.Event()
    before, module.threading.Event.wait = module.threading.Event.wait, end  # type: ignore[method-assign]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            made._listen()
    except Ended:
        assert made._gone.is_set()
        assert made._run._control.ending() in ("interrupted", "cancel")
        assert said.getvalue().count("\n") <= 1, said.getvalue()
    finally:
        module.threading.Event.wait = before  # type: ignore[method-assign]
    return None

"""Attacks on the wire: what window, children, model processes and guards send, as the other side takes it."""

from __future__ import annotations

import builtins
import io
import json
import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.robust.mutations import mutated, mutated_bytes
from tests.robust.rank_wire import orders_case, ranks_case, read_of_ranks, read_orders
from tests.robust.reader import Reader, check_message
from tests.robust.window_wire import Messages, read_in_session, read_in_window, session_case
from tests.robust.wire_events import frames

# ----- the window's messages to a child -----


def child_case(draw: random.Random) -> list[bytes]:
    from studio.session.data.data_job import OpenData, ShowSamples, StopCheck
    from studio.session.work.job import COMMANDS, RATE, plain_message

    known: list[Any] = [plain_message(each) for each in (*COMMANDS, f"{RATE}0.1", f"{RATE}nan", f"{RATE}x")]
    known += [{"command": "ping", "sent": 1.0}, {"command": "job", "job": {"job": "a:b", "fields": {}}}]
    known += [
        plain_message(each) for each in (OpenData({}, 1, 9), ShowSamples("train", 0, 0, 9), StopCheck())
    ]
    chosen = [draw.choice(known) for _ in range(draw.randint(1, 6))]
    return frames([mutated(each, draw) if draw.random() < 0.6 else each for each in chosen], draw)


class _GaveUp(Exception):
    """The child ends, after its training has written a checkpoint."""


def read_in_child(messages: list[bytes], folder: Path) -> None:
    """The child's receiver takes them: jobs and commands arrive, or the child gives up in an orderly way."""
    from engine.training.control import Commands
    from resources.typed_values import WireError
    from studio.session.data.data_job import OpenData, ShowSamples, StopCheck
    from studio.session.work import worker_main
    from studio.session.work.job import Inbox, job_of
    from studio.session.work.wire import encode

    class Outbox:
        def put(self, event: Any) -> None:
            encode(event)

    inbox, jobs = Inbox(), []
    commands = Commands()
    inbox.attach(
        lambda message: commands.obey(message) if isinstance(message, str) else None,
        OpenData,
        ShowSamples,
        StopCheck,
    )

    def give_up(*arguments: Any) -> None:
        raise _GaveUp

    before, worker_main._give_up = worker_main._give_up, give_up  # type: ignore[assignment]
    stderr, sys.stderr = sys.stderr, io.StringIO()
    try:
        worker_main._receive(Messages(messages), Outbox(), inbox, jobs, threading.Event(), threading.Event())  # type: ignore[arg-type]
    except _GaveUp:
        said = sys.stderr.getvalue().removesuffix("\n")
        if said:
            check_message(ValueError(said))
    finally:
        worker_main._give_up, sys.stderr = before, stderr
    for each in jobs:
        try:
            job_of(each)
        except WireError as error:
            check_message(error)


# ----- a model's process -----


def model_case(draw: random.Random) -> bytes:
    """What a model's process answers: ready, that it has loaded, a run."""
    import numpy as np

    from engine.inference.wire import send

    said: list[tuple[Any, list[Any]]] = [
        ({"ready": True}, []),
        ({"save_id": "1", "info": {"a": 1}}, []),
        ({}, [np.zeros((2, 3), np.float32), np.zeros(0, np.int64)]),
    ]
    if draw.random() < 0.3:
        error = draw.choice(
            ["ValueError", "MemoryError", "ShapeError", "KeyError", "SystemExit", "x", "EngineError"]
        )
        said[draw.randrange(3)] = ({"error": error, "message": draw.choice(["m", "a\nb", "x" * 50_000])}, [])
    parts = []
    for each, arrays in said:
        out = io.BytesIO()
        send(out, mutated(each, draw) if draw.random() < 0.3 else each, arrays) if isinstance(
            each, dict
        ) else None
        parts.append(out.getvalue())
    if draw.random() < 0.2:
        draw.shuffle(parts)
    if draw.random() < 0.5:
        at = draw.randrange(3)
        parts[at] = mutated_bytes(parts[at], draw, parts)
    data = b"".join(parts)
    return data[: draw.randrange(len(data) + 1)] if draw.random() < 0.1 else data


def read_model_answers(data: bytes, folder: Path) -> object:
    """A model whose process answers this is loaded, and run once."""
    from engine.core.models.limits import ModelLimits
    from engine.inference import child_process, process

    class Model(process.ModelProcess):
        def _is_own(self) -> bool:
            return False

        def _files(self) -> list[Path]:
            return []

    class Child(child_process.Child):
        def __init__(self, *arguments: object) -> None:
            self.reason = None
            self._lock = threading.Lock()
            self.process: Any = _Answers(data)
            self._reaper = threading.Thread(target=self.process.wait)

    class _Answers:
        returncode = 1

        def __init__(self, answers: bytes) -> None:
            self.stdin, self.stdout = io.BytesIO(), io.BytesIO(answers)

        def poll(self) -> int | None:
            return None

        def kill(self) -> None:
            """It has ended."""

        def wait(self) -> int:
            return 1

    Model._starts = Child
    with Model(folder / "model", ModelLimits(memory=1 << 22, seconds=5)) as model:
        return model.run([])


# ----- the guards of ranks -----


def guards_case(draw: random.Random) -> list[bytes]:
    events: list[Any] = [
        {"pid": 99999991, "group": 99999991},
        {"rank": 0, "pid": 99999991},
        {"rank": 1, "pid": 99999992},
        {"rank": 0, "waits": 12.5, "call": "all_reduce"},
        {"rank": 0, "status": 0},
        {"pid": 99999991, "code": draw.choice([0, 1, -9])},
    ]
    draw.shuffle(events)
    lines = [json.dumps(mutated(e, draw) if draw.random() < 0.4 else e).encode() + b"\n" for e in events]
    data = b"".join(lines)
    if draw.random() < 0.4:
        data = mutated_bytes(data, draw, lines)
    if draw.random() < 0.02:
        data += b"x" * (1 << 22)
    cuts = sorted(draw.randrange(len(data) + 1) for _ in range(draw.randint(0, 3)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def read_of_guards(pieces: list[bytes], folder: Path) -> object:
    """The launcher takes the events of a start of two ranks, and says how it ended."""
    from types import SimpleNamespace

    from engine.distributed.launch.channel import Channel
    from engine.distributed.launch.guard import EVENTS
    from engine.distributed.launch.job import Job

    plan: Any = SimpleNamespace(count=2, is_local=True, log_dir=None, wait_timeout=60.0)
    job = Job(plan)
    channel = Channel(0, False)
    try:
        left: Iterator[bytes] = iter(pieces)
        channel.read = lambda seconds: [(EVENTS, 0, piece) for piece in left][:]  # type: ignore[method-assign]
        job._take(channel, 0.0)
        job._report_waits()
        held = len(channel._rest.get(EVENTS, b""))
        assert held < 1 << 20, f"{held} bytes without a line break are held"
        ending = job._ending(1)
        for pid, group in job._groups.items():
            assert (type(pid), type(group)) == (int, int)
        return ending.code, ending.rank
    finally:
        channel.close()


def wire_readers() -> list[Reader]:
    """The readers of messages; each is asked for by its name."""
    from engine.core.errors import EngineError
    from engine.inference.process import _BUILT_IN

    built_in = tuple(getattr(builtins, name) for name in _BUILT_IN)
    return [
        Reader("wire to the session", session_case, read_in_session, (), 0),
        Reader("wire to the window", session_case, read_in_window, (), 0, 256),
        Reader("wire to a child", child_case, read_in_child, (), 0),
        Reader("wire of a model", model_case, read_model_answers, (EngineError, *built_in), 0),
        Reader("wire of guards", guards_case, read_of_guards, (), 0),
        Reader("wire of ranks", ranks_case, read_of_ranks, (EngineError,), 0),
        Reader("wire to a rank", orders_case, read_orders, (), 0),
    ]

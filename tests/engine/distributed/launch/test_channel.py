"""The launcher's end of the pipes: what guards write there, and what else a rank may have written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from engine.distributed.launch.channel import Channel, event_of
from engine.distributed.launch.guard import EVENTS
from engine.distributed.launch.job import Job

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no named pipes in a folder")


@pytest.fixture
def channel() -> Iterator[Channel]:
    made = Channel(0, False)
    yield made
    made.close()


@pytest.mark.parametrize(
    "line",
    [
        b"no event",
        b"\xff",
        b"[" * 100_000,
        b"7",
        b"[1]",
        b"{}",
        b'{"pid": 0, "group": 5}',
        b'{"pid": 5, "group": 1}',
        b'{"pid": "5", "group": 5}',
        b'{"pid": true, "code": 1}',
        b'{"pid": 5, "code": 1e9}',
        b'{"pid": 5, "code": 99999999999}',
        b'{"code": 1}',
        b'{"rank": 0, "waits": NaN}',
        b'{"rank": 0, "waits": 1.0, "call": 7}',
        b'{"rank": 0, "status": 1, "more": 1}',
    ],
)
def test_a_line_that_is_no_event_is_skipped(channel: Channel, line: bytes) -> None:
    assert event_of(line) is None
    assert list(channel.events(line + b'\n{"rank": 1, "status": 3}\n')) == [{"rank": 1, "status": 3}]


def test_an_event_may_come_in_pieces_and_a_line_without_end_is_not_held(channel: Channel) -> None:
    assert list(channel.events(b'{"pid": 7, ')) == []
    assert list(channel.events(b'"code": -9}\n')) == [{"pid": 7, "code": -9}]
    for _ in range(10):
        assert list(channel.events(b"x" * 50_000)) == []
    assert len(channel._rest[EVENTS]) <= 1 << 16


def test_an_event_of_a_rank_that_is_not_there_does_not_count() -> None:
    job = Job(SimpleNamespace(count=2, wait_timeout=1.0))  # type: ignore[arg-type]
    job._note({"rank": 2, "status": 1})
    job._note({"rank": -1, "status": 1})
    assert job._failed is None
    job._note({"rank": 1, "status": 5})
    assert job._failed == (1, 5)


def test_a_line_that_names_a_rank_that_is_not_there_is_shown(capsysbinary: Any) -> None:
    job = Job(SimpleNamespace(count=1, wait_timeout=1.0))  # type: ignore[arg-type]
    for rank, line in job._forwarded["mpi out"].lines(b"\x1e7\x1fa\n\x1e0\x1fb\n\x1e99999999999\x1fc\n"):
        job._pass_on("mpi out", rank, line)
    assert capsysbinary.readouterr().out == b"[7] a\n[0] b\n"
    assert job._lines[0].text() == "b"

"""Output that mpiexec forwards in pieces: each line is whole, and has one mark."""

from __future__ import annotations

from typing import Any

import pytest

from engine.distributed.launch.forwarding import Forwarded
from engine.distributed.launch.job import Job
from engine.distributed.launch.options import parse
from engine.distributed.launch.plan import plan

# As mpiexec forwards `print(rank, "of", 2)` of two unbuffered ranks, then a line of its own.
PIECES = (
    b"\x1e0\x1f0\x1e1\x1f1\x1e0\x1f of\x1e1\x1f of\x1e1\x1f 2\x1e0\x1f 2\x1e1\x1f\n"
    b"\x1e0\x1f\n\x1e1\x1f\xff\r\n\x1e1\x1fno end [0]\n"
    b"=   EXIT CODE: 9\n\x1e0\x1f\n\x1e12\x1fno\x1e line break"
)
LINES = [
    (1, b"1 of 2\n"),
    (0, b"0 of 2\n"),
    (1, b"\xff\r\n"),
    (1, b"no end [0]\n"),
    (None, b"=   EXIT CODE: 9\n"),
    (0, b"\n"),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(PIECES)])
def test_lines_are_whole_wherever_the_stream_is_cut(size: int) -> None:
    forwarded = Forwarded()
    found = []
    for begin in range(0, len(PIECES), size):
        found += forwarded.lines(PIECES[begin : begin + size])
    assert found == LINES
    assert forwarded.rest() == [(12, b"no\x1e line break")]


def test_a_line_without_end_is_passed_on_in_parts() -> None:
    forwarded = Forwarded()
    found = [part for _ in range(5) for part in forwarded.lines(b"\x1e3\x1f" + bytes(1 << 19))]
    assert {rank for rank, _ in found} == {3}
    assert sum(len(line) for _, line in found + forwarded.rest()) == 5 << 19


def test_an_event_among_the_lines_of_a_rank_is_its_own_and_is_not_shown(capsysbinary: Any) -> None:
    job = Job(plan(parse(["--ips=192.0.2.1,192.0.2.2", "a.py"])))
    for rank, line in (
        (1, b'\x1d{"rank": 1, "status": 0}\n'),
        (1, b'begun\x1d{"rank": 0, "status": 5}\n'),  # of another rank: it counts for nothing
        (0, b'\x1d{"rank": 0, "waits": 10.0, "call": "Barrier"}\n'),
        (0, b"\x1dtext\n"),
    ):
        job._pass_on("mpi err", rank, line)
    job._report_waits()
    assert capsysbinary.readouterr().err == (
        b"[1] begun\nlaunch: rank 0 has waited 10 s in MPI's Barrier: rank 1 exited with status 0; the job "
        b"is stopped in 300 s (--wait-timeout)\n"
    )
    assert job._failed is None

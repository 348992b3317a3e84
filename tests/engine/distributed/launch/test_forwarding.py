"""Output that mpiexec forwards in pieces: each line is whole, and has one mark."""

from __future__ import annotations

import pytest

from engine.distributed.launch.forwarding import Forwarded

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

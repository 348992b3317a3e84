"""File operations in a thread: their order, what replaces what, and where results and errors arrive."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from studio.session.work.file_thread import FileThread, FileThreads

SECONDS = 20.0


class Gate:
    """An operation that takes until the test opens it."""

    def __init__(self) -> None:
        self.begun, self._open = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self._open.wait(SECONDS)
        return "gate"

    def open(self) -> None:
        self._open.set()


@pytest.fixture
def woken() -> list[int]:
    return []


@pytest.fixture
def thread(woken: list[int]) -> Iterator[FileThread]:
    made = FileThread("test", lambda: woken.append(threading.get_ident()))
    made.begin()
    yield made
    made.close()


def test_until_it_begins_the_caller_works_and_has_the_result_at_once() -> None:
    found: list[Any] = []
    thread = FileThread("test", lambda: None)
    thread.do(threading.get_ident, found.append)
    assert found == [threading.get_ident()]
    assert not thread.working


def test_a_thread_works_in_order_and_results_wait_for_take(thread: FileThread, woken: list[int]) -> None:
    found: list[Any] = []
    gate = Gate()
    thread.do(gate, found.append)
    thread.do(threading.get_ident, found.append)
    assert gate.begun.wait(SECONDS)
    assert thread.working
    assert found == []
    gate.open()
    assert thread.wait(SECONDS)
    assert found == ["gate", woken[0]]
    assert woken[0] != threading.get_ident()
    assert not thread.working


def test_a_request_of_the_same_key_replaces_one_that_has_not_begun(thread: FileThread) -> None:
    found: list[Any] = []
    gate = Gate()
    thread.do(gate, found.append, "a")
    assert gate.begun.wait(SECONDS)
    for number in range(3):
        thread.do(lambda number=number: number, found.append, "a")
    thread.do(lambda: "other", found.append, "b")
    gate.open()
    assert thread.wait(SECONDS)
    assert found == ["gate", 2, "other"]


def test_an_error_arrives_where_results_do_and_those_behind_it_follow(thread: FileThread) -> None:
    found: list[Any] = []
    gate = Gate()
    thread.do(gate)
    thread.do(lambda: 1 // 0, found.append)
    thread.do(lambda: 2, found.append)
    gate.open()
    with pytest.raises(ZeroDivisionError):
        thread.wait(SECONDS)
    assert thread.wait(SECONDS)
    assert found == [2]


def test_waiting_ends_in_time_and_closing_begins_nothing_more(thread: FileThread) -> None:
    found: list[Any] = []
    gate = Gate()
    thread.do(gate, found.append)
    thread.do(lambda: 2, found.append)
    assert gate.begun.wait(SECONDS)
    assert not thread.wait(0.01)
    thread.close()
    gate.open()
    thread.do(lambda: 3, found.append)
    assert thread.wait(SECONDS)
    assert found == []


def test_closing_all_waits_for_what_is_written_only() -> None:
    files, written, read = FileThreads(lambda: None), Gate(), Gate()
    files.begin()
    files.writing.do(written)
    files.reading.do(read)
    assert written.begun.wait(SECONDS)
    assert not files.close(0.01)
    written.open()
    read.open()


class Freed:
    """Notes which thread frees it."""

    def __init__(self, by: list[int]) -> None:
        self._by = by

    def take(self, _: object) -> None:
        """Hold this object in a request."""

    def __del__(self) -> None:
        self._by.append(threading.get_ident())


@pytest.mark.parametrize("closed", [False, True])
def test_the_thread_frees_nothing_of_a_request(closed: bool) -> None:
    by: list[int] = []
    thread, gate = FileThread("test", lambda: None), Gate()
    thread.begin()
    thread.do(gate, Freed(by).take)
    held = Freed(by)
    thread.do(lambda held=held: str(held), held.take)
    del held
    assert gate.begun.wait(SECONDS)
    if closed:
        thread.close()
    gate.open()
    assert thread.wait(SECONDS)
    thread.end()
    gc.collect()
    assert by == [threading.get_ident()] * 2

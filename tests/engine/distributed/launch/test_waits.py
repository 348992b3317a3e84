"""Waits of ranks: when they are reported, when a line is printed, and when a job is stopped for them."""

from __future__ import annotations

from typing import Any

from engine.distributed import waiting
from engine.distributed.launch.ending import FAILED, Ending
from engine.distributed.launch.waits import Waits

STUCK = "rank 1 exited with status 0, and ranks 0, 2 waited 300 s for it (--wait-timeout 300)"


def lines(waits: Waits, *times: float) -> list[str]:
    return [line for now in times if (line := waits.line(now))]


def test_a_wait_for_a_rank_that_exited_is_printed_every_minute_and_ends_after_the_timeout() -> None:
    waits = Waits(3, 300.0)
    waits.note_exit(1, 100.0)
    waits.note_wait(0, 10.0, "Barrier", 112.0)
    assert not waits.stuck(1000.0)  # rank 2 may still end the wait
    waits.note_wait(2, 10.0, "Allreduce", 115.0)
    assert lines(waits, 115.0, 174.0, 175.0, 234.9, 236.0) == [
        f"launch: ranks 0, 2 have waited {seconds} s in MPI's Barrier: rank 1 exited with status 0; the "
        f"job is stopped in {left} s (--wait-timeout)"
        for seconds, left in ((13, 290), (73, 230), (134, 169))
    ]
    assert [waits.stuck(404.9), waits.stuck(405.0)] == ["", STUCK]
    ending = Ending(FAILED, 3, code=1, reason=STUCK)
    assert ending.message() == f"launch: {STUCK}; all 3 processes have been stopped"
    assert ending.status == 1


def test_a_wait_for_ranks_that_run_is_only_printed() -> None:
    waits = Waits(3, 300.0)
    waits.note_wait(1, 10.0, "Recv", 10.0)
    assert lines(waits, 10.0, 69.0, 70.0) == [
        f"launch: rank 1 has waited {seconds} s in MPI's Recv: ranks 0, 2 run" for seconds in (10, 70)
    ]
    waits.note_exit(0, 80.0)
    assert lines(waits, 130.0) == [
        "launch: rank 1 has waited 130 s in MPI's Recv: rank 0 exited with status 0, rank 2 runs"
    ]
    assert not waits.stuck(10000.0)
    waits.note_wait(1, 0, "", 140.0)
    waits.note_wait(1, 10.0, "Recv", 160.0)
    assert lines(waits, 160.0, 189.0) == []  # a job whose ranks often wait prints a line in a minute
    assert len(lines(waits, 190.0)) == 1


def test_without_a_timeout_a_job_is_not_stopped() -> None:
    waits = Waits(2, 0)
    waits.note_exit(1, 0.0)
    waits.note_wait(0, 10.0, "Barrier", 10.0)
    assert lines(waits, 10.0) == [
        "launch: rank 0 has waited 10 s in MPI's Barrier: rank 1 exited with status 0; Ctrl+C stops the job"
    ]
    assert not waits.stuck(1e9)


def test_a_rank_that_exited_long_before_the_others_is_named_once() -> None:
    waits = Waits(3, 300.0)
    waits.note_exit(1, 0.0)
    assert lines(waits, 30.0, 31.0, 1000.0) == [
        "launch: rank 1 exited with status 0 31 s ago, ranks 0, 2 do not wait for it in the engine; Ctrl+C "
        "stops the job"
    ]
    assert not waits.stuck(1e9)


def test_a_rank_reports_a_long_wait_and_its_end(monkeypatch) -> None:
    sent: list[dict[str, Any]] = []
    reports = waiting.WaitReports(lambda **event: sent.append(event))
    reports.look()
    assert waiting.timed("Barrier", lambda value: [reports.look(), value][1], 3) == 3
    assert sent == []
    monkeypatch.setattr(waiting, "REPORTED", 0.0)
    waiting.timed("Barrier", lambda: [reports.look(), reports.look()])
    waiting.timed("Recv", reports.look)
    reports.look()
    assert [event.get("call", "over") for event in sent] == ["Barrier", "over", "Recv", "over"]
    assert [event["waits"] > 0 for event in sent] == [True, False, True, False]

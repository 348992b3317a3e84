"""The job that compares numbers, and its rows: order, filter, places in a Program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import engine as paddle
from engine import nn
from resources.compared_numbers import ComparedRow
from resources.operator_keys import OperatorKey
from studio.session.compare.compare_job import CompareNumbers
from studio.session.compare.number_rows import differences_of, ordered, place_of, searched_text
from studio.session.work.job import Inbox, checked_event, perform_sent, plain_job
from studio.session.work.wire import decode, encode

ROW = ComparedRow(
    "forward", "relu", "act", "/x/net.py", 3, "v", (2, 3), "float32", 0.5, 0.25, False, True, True
)


def saved(path: Path, seed: int) -> str:
    paddle.seed(seed)
    spec = paddle.static.InputSpec([None, 3], "float32", "x")
    paddle.jit.save(nn.Sequential(nn.Linear(3, 2), nn.ReLU()), str(path), [spec])
    return str(path)


def events_of(job: CompareNumbers) -> list[Any]:
    found: list[Any] = []

    def emit(event: Any) -> None:
        found.extend(checked_event(each, job) for each in decode(encode(event)))

    perform_sent(next(iter(decode(encode(plain_job(job))))), emit, Inbox())
    return found


def test_the_job_reports_rows_as_its_child_sends_them(tmp_path: Path) -> None:
    job = CompareNumbers(saved(tmp_path / "a", 1), saved(tmp_path / "b", 2))
    assert job.subject == "a, b"
    *progress, last = events_of(job)
    assert {each["event"] for each in progress} == {"compare_progress"}
    assert (last["event"], last["equal"], last["first"]) == ("numbers_compared", False, 0)
    assert last["rows"][0].type == "matmul_v2"
    assert last["rows"][0].shape == (8, 2)


def test_a_pair_that_can_not_be_compared_is_a_failure(tmp_path: Path) -> None:
    last = events_of(CompareNumbers(saved(tmp_path / "a", 1), pair="eager-static"))[-1]
    assert last["event"] == "failed"
    assert "which has no code to run eagerly" in last["message"]


def test_rows_in_their_order_with_a_filter() -> None:
    rows = [
        ROW,
        replace(ROW, relative=None),
        replace(ROW, type="add", relative=0.0, absolute=0.0, bitwise=True),
    ]
    texts = [searched_text(row) for row in rows]
    assert ordered(rows, texts, "", []) == [0, 1, 2]
    assert ordered(rows, texts, "", [("relative", True)]) == [1, 0, 2]
    assert ordered(rows, texts, "", [("type", False), ("relative", False)]) == [2, 0, 1]
    assert ordered(rows, texts, "ADD net.py:3", []) == [2]
    assert ordered(rows, texts, "", [], only=True) == [0, 1]


def test_differences_have_the_keys_of_operators() -> None:
    rows = [ROW, replace(ROW, relative=0.5, iterations=(1,)), replace(ROW, part="backward", relative=None)]
    assert differences_of(rows) == {OperatorKey("forward", "act", "relu", 0): 0.5}


def test_an_operator_is_found_in_a_program_by_call_type_and_order() -> None:
    ops = [
        {"type": t, "layer": layer}
        for t, layer in (("relu", ""), ("add", "act"), ("relu", "act"), ("relu", "act"))
    ]
    program = {"blocks": [{"idx": 0, "ops": ops}]}
    assert place_of(ROW, program) == (0, 2)
    assert place_of(replace(ROW, order=1), program) == (0, 3)
    assert place_of(replace(ROW, type="fused"), program) == (0, 1), "another one of its layer call"
    assert place_of(replace(ROW, layer="gone"), program) is None

"""What a worker sends of a journal while another process writes it."""

from __future__ import annotations

import json
from pathlib import Path

from studio.session.sweep.live.journal_tail import MOST_SENT, JournalTail, thinned


def line(event: str, number: int, more: str = "") -> bytes:
    return json.dumps({"event": event, "step": number, "more": more}, separators=(",", ":")).encode() + b"\n"


def test_new_lines_are_read_once_and_torn_ones_later(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    tail = JournalTail(path)
    assert tail.read() == ""
    path.write_bytes(line("started", 0) + line("step", 1)[:9])
    assert tail.read().encode() == line("started", 0)
    path.write_bytes(line("started", 0) + line("step", 1))
    assert tail.read().encode() == line("step", 1)
    assert tail.read() == ""


def test_a_resumed_run_sends_what_is_new_and_survives_a_cut(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(line("started", 0) + line("step", 1) + line("step", 2))
    tail = JournalTail(path)
    path.write_bytes(line("started", 0) + line("step", 1))
    assert tail.read() == ""
    with path.open("ab") as file:
        file.write(line("step", 2))
    assert tail.read().encode() == line("step", 2)


def test_many_steps_are_thinned_and_epochs_are_not(tmp_path: Path) -> None:
    lines = [line("step", number) for number in range(1, 5001)]
    lines.insert(2500, line("epoch", 2500))
    found = thinned(lines, MOST_SENT)
    assert sum(map(len, found)) <= MOST_SENT
    events = [json.loads(each) for each in found]
    assert [each["step"] for each in events] == sorted(each["step"] for each in events)
    assert sum(each["event"] == "epoch" for each in events) == 1
    steps = [each["step"] for each in events if each["event"] == "step"]
    assert len(steps) > 150
    assert steps[-1] == 5000
    assert len(set(map(int.__sub__, steps[1:], steps[:-1]))) == 1
    many = [line("started", 0), *(line("epoch", number) for number in range(3000)), line("step", 7)]
    events = [json.loads(each)["event"] for each in thinned(many, MOST_SENT)]
    assert (events[0], events[-1], len(events) > 100) == ("started", "step", True)
    assert thinned([line("layers", 1, "x" * MOST_SENT), line("step", 1)], MOST_SENT) == [line("step", 1)]
    assert thinned([], 10) == []

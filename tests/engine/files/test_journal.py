"""The journal: lines that any JSON reader accepts, incomplete ends, and the packed run."""

from __future__ import annotations

import errno
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import DataError, DTypeError, FormatError, SaveError
from engine.files import journal as journal_module
from engine.files.journal import KIND, VERSION, JournalWriter, pack_run, read_journal, read_run
from engine.files.native.container import is_own_container, write_container
from engine.files.untrusted import guarded
from tests.robust.containers import unsigned

EVENTS: list[dict[str, Any]] = [
    {"event": "start", "model": "lenet", "seed": 0},
    {"event": "step", "step": 1, "loss": 2.5, "rate": 0.001},
    {"event": "step", "step": 2, "loss": math.nan},
    {"event": "epoch", "accuracy": 0.5, "classes": ["零", "一"]},
    {"event": "step", "step": 3, "loss": math.inf, "rate": None},
    {"event": "end", "reason": "done"},
]


def write(folder: Path, events: list[dict[str, Any]] = EVENTS) -> Path:
    with JournalWriter(folder / "journal.jsonl") as journal:
        for event in events:
            journal.write(event)
    return folder / "journal.jsonl"


def strict(line: str) -> Any:
    def no_constant(name: str) -> Any:
        raise AssertionError(f"{name} is not valid JSON")

    return json.loads(line, parse_constant=no_constant)


def test_lines_that_every_json_reader_takes(tmp_path: Path) -> None:
    path = write(tmp_path)
    lines = path.read_text("ascii").splitlines()
    assert [strict(line)["event"] for line in lines] == ["start", "step", "step", "epoch", "step", "end"]
    assert strict(lines[2])["loss"] == "NaN"
    assert strict(lines[4])["loss"] == "Infinity"
    journal = read_journal(path)
    assert journal.notes == ()
    assert math.isnan(journal.events[2]["loss"])
    journal.events[2]["loss"] = EVENTS[2]["loss"]
    assert journal.events == EVENTS


def test_an_integer_that_no_float_holds_is_infinite(tmp_path: Path) -> None:
    digits = "9" * 400
    path = tmp_path / "journal.jsonl"
    path.write_text(f'{{"event": "end", "loss": {digits}, "all": [-{digits}, {2**70}]}}\n')
    assert read_journal(path).events == [{"event": "end", "loss": math.inf, "all": [-math.inf, 2**70]}]


def test_plain_and_numpy_values(tmp_path: Path) -> None:
    event = {
        "a": np.float32(0.5),
        "b": np.int64(3),
        "c": np.array([1.0, -np.inf]),
        "d": (1, {"e": np.bool_(True)}),
        "f": "line\nbreak\x00 \udc80",
        "g": 2**70,
    }
    write(tmp_path, [event])
    assert read_journal(tmp_path / "journal.jsonl").events == [
        {
            "a": 0.5,
            "b": 3,
            "c": [1.0, -math.inf],
            "d": [1, {"e": True}],
            "f": "line\nbreak\x00 \udc80",
            "g": 2**70,
        }
    ]
    for bad, words in (
        ({"a": object()}, "event.a is of type object"),
        ({"a": [{1: 2}]}, r"event.a\[0\] has the key 1"),
    ):
        with pytest.raises(DTypeError, match=words):
            write(tmp_path, [bad])
    assert len(read_journal(tmp_path / "journal.jsonl").events) == 1


def test_a_line_is_there_as_soon_as_it_is_written(tmp_path: Path) -> None:
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        journal.write({"event": "a"})
        assert read_journal(journal.path).events == [{"event": "a"}]
        journal.sync()
    with pytest.raises(SaveError, match="the journal is closed"):
        journal.write({"event": "b"})


def test_a_torn_end_is_reported_and_cut_off_on_resuming(tmp_path: Path) -> None:
    path = write(tmp_path)
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rindex(b"\n") + 1
    for length in range(last + 1, len(whole) - 1):
        path.write_bytes(whole[:length])
        journal = read_journal(path)
        assert len(journal.events) == 5
        assert journal.notes == (
            f"{path}: line 6 skipped: the last line is incomplete, its writer was stopped",
        )
    with JournalWriter(path) as writer:
        assert writer.cut == whole[last : len(whole) - 2]
        writer.write({"event": "resumed"})
    assert [event["event"] for event in read_journal(path).events][-2:] == ["step", "resumed"]
    assert read_journal(path).notes == ()


def test_a_whole_last_line_without_its_end_stays(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    assert len(read_journal(path).events) == 6
    with JournalWriter(path) as writer:
        assert writer.cut == b""
        writer.write({"event": "resumed"})
    assert len(read_journal(path).events) == 7


def test_a_torn_line_longer_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"event":"a"}\n{"x":"' + b"y" * 200_000)
    with JournalWriter(path) as writer:
        assert len(writer.cut) == 200_006
    assert path.read_bytes() == b'{"event":"a"}\n'
    path.write_bytes(b"x" * 70_000)
    with JournalWriter(path):
        assert path.read_bytes() == b""


def test_damage_in_the_middle_costs_its_lines_only(tmp_path: Path) -> None:
    path = write(tmp_path)
    lines = path.read_bytes().split(b"\n")
    lines[1], lines[3] = b"\xff\x00", b"[1]"
    path.write_bytes(b"\n".join(lines))
    journal = read_journal(path)
    assert [event["event"] for event in journal.events] == ["start", "step", "step", "end"]
    assert [note.split(": ")[1] for note in journal.notes] == ["line 2 skipped", "line 4 skipped"]


def test_files_that_are_not_journals_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with pytest.raises(DataError, match="there is no such file"):
        read_journal(path)
    path.write_bytes(b"\x89PNG\n\x00\n" * 10)
    with pytest.raises(FormatError, match="not a journal: none of its 20 lines"):
        read_journal(path)
    path.write_bytes(("[" * 200_000 + "\n").encode() * 2)
    with pytest.raises(FormatError, match="not a journal"):
        read_journal(path)
    path.write_bytes(b"")
    assert read_journal(path).events == []


def test_a_journal_that_can_not_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SaveError, match="create the folder first"):
        JournalWriter(tmp_path / "absent" / "journal.jsonl")
    with JournalWriter(tmp_path / "journal.jsonl") as journal:
        real = os.write
        taken = []

        def full(descriptor: int, data: bytes) -> int:
            taken.append(data)
            if len(taken) == 1:
                return real(descriptor, data[:5])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(SaveError, match=r"journal.jsonl: could not be saved: no space left"):
            journal.write({"event": "a"})
        assert len(taken) == 2
        monkeypatch.setattr(os, "write", real)
        journal.write({"event": "b"})
    assert read_journal(tmp_path / "journal.jsonl").events == [{"event": "b"}]


def check_record(folder: Path) -> None:
    run = read_run(folder)
    assert set(run.columns) == {"start", "step", "epoch"}
    step = run.columns["step"]
    assert step["step"].dtype == np.int64
    assert step["step"].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(step["loss"], [2.5, np.nan, np.inf])
    np.testing.assert_array_equal(step["rate"], [0.001, np.nan, np.nan])
    assert run.columns["epoch"]["accuracy"].tolist() == [0.5]
    assert [event["event"] for event in run.events] == ["start", "epoch", "end"]
    assert run.events[1] == EVENTS[3]


def test_a_run_as_columns(tmp_path: Path) -> None:
    write(tmp_path)
    check_record(tmp_path)  # not packed yet
    assert pack_run(tmp_path) == tmp_path / "run.h5"
    check_record(tmp_path)
    (tmp_path / "journal.jsonl").unlink()
    check_record(tmp_path)


def test_the_journal_counts_where_it_is_ahead(tmp_path: Path) -> None:
    write(tmp_path)
    pack_run(tmp_path)
    write(tmp_path, [{"event": "step", "step": 4, "loss": 1.0}])
    assert read_run(tmp_path).columns["step"]["step"].tolist() == [1, 2, 3, 4]
    pack_run(tmp_path)
    assert read_run(tmp_path).columns["step"]["step"].tolist() == [1, 2, 3, 4]


def test_a_run_of_another_installation_starts_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window reads the runs that it shows: it would wait until a child has checked run.h5."""
    write(tmp_path)
    path = pack_run(tmp_path)
    path.write_bytes(unsigned(path.read_bytes()))
    checked: list[object] = []
    monkeypatch.setattr(guarded, "check", checked.append)
    check_record(tmp_path)
    assert not checked
    (tmp_path / "journal.jsonl").unlink()
    check_record(tmp_path)
    assert len(checked) == 1


def test_a_packed_run_that_vanishes_is_read_from_its_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    path = pack_run(tmp_path)

    def removed_meanwhile(packed: Path) -> bool:
        packed.unlink()
        return is_own_container(packed)

    monkeypatch.setattr(journal_module, "is_own_container", removed_meanwhile)
    check_record(tmp_path)
    assert not path.exists()


def test_a_damaged_packed_run(tmp_path: Path) -> None:
    write(tmp_path)
    path = pack_run(tmp_path)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    run = read_run(tmp_path)
    assert run.columns["step"]["step"].tolist() == [1, 2, 3]
    assert "run.h5: the file is damaged" in run.notes[-1]
    (tmp_path / "journal.jsonl").unlink()
    with pytest.raises(FormatError, match=r"run.h5: the file is damaged"):
        read_run(tmp_path)
    path.unlink()
    with pytest.raises(DataError, match="choose the folder of a run"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("columns", [1]),
        ("columns", {"step": {"loss": 1.0}}),
        ("columns", {"step": {"loss": np.zeros(2), "step": np.zeros(3)}}),
        ("events", [1]),
        ("notes", {"a": 1}),
        ("journal_bytes", "1"),
    ],
)
def test_a_packed_run_of_another_structure(tmp_path: Path, field: str, value: object) -> None:
    write(tmp_path)
    sound = {"columns": {}, "events": [], "notes": [], "journal_bytes": 1}
    write_container(tmp_path / "run.h5", KIND, VERSION, sound | {field: value})
    run = read_run(tmp_path)
    assert run.columns["step"]["step"].tolist() == [1, 2, 3]
    assert f"run.h5: not a run: wrong or missing are {field};" in run.notes[-1]
    (tmp_path / "journal.jsonl").unlink()
    with pytest.raises(FormatError, match=f"not a run: wrong or missing are {field};"):
        read_run(tmp_path)


def test_numbers_beyond_the_columns(tmp_path: Path) -> None:
    write(
        tmp_path,
        [{"event": "a", "n": 2**70, "flag": True, "m": 1}, {"event": "a", "n": 1, "m": 1.5}, {"x": 1}],
    )
    pack_run(tmp_path)
    run = read_run(tmp_path)
    assert run.columns["a"].keys() == {"n", "m"}
    assert run.columns["a"]["m"].tolist() == [1.0, 1.5]
    assert run.columns[""]["x"].tolist() == [1]
    assert run.events == [{"event": "a", "n": 2**70, "flag": True, "m": 1}]

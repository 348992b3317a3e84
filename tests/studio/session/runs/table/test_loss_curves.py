"""Loss curves of the table: a few points of journals, however long or damaged."""

from __future__ import annotations

import json
import math
from pathlib import Path

from studio.session.runs.table.loss_curves import POINTS, LossCurves, read_loss_curve
from studio.session.work.file_thread import FileThread
from tests.studio.windows.runs.run_folders import make_run


def test_a_curve_has_the_means_of_equal_parts(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run", loss=0.5)
    curve = read_loss_curve(path)
    assert len(curve.training) == len(curve.validation) == POINTS
    assert (curve.training[0], curve.training[-1]) == (1.5, 0.6)
    assert [value for value in curve.validation if value == value] == [0.5]


def test_a_long_journal_is_sampled_and_damaged_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    lines = [
        json.dumps(
            {"event": "step", "step": step, "loss": 1 / step, "extra": "x" * 400}, separators=(",", ":")
        )
        for step in range(1, 4001)
    ]
    lines[100:110] = [
        '{"event":"step","step":9,"loss"',
        "\x00\x01",
        '{"event":"step","step":5,"loss":"no"}',
    ] * 3
    path.write_text("\n".join(lines))
    assert path.stat().st_size > 1_500_000
    curve = read_loss_curve(tmp_path)
    known = [value for value in curve.training if not math.isnan(value)]
    assert len(known) > POINTS * 0.9
    assert known == sorted(known, reverse=True)
    assert curve.validation == ()


def test_only_journals_that_changed_are_read_again(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run")
    curves = LossCurves(FileThread("reading", lambda: None))
    changes: list[int] = []
    curves.changed.connect(lambda: changes.append(1))
    for _ in range(3):
        curves.request([str(path)])
    assert len(changes) == 1
    first = curves.of(str(path))
    with (path / "journal.jsonl").open("a") as file:
        file.write('{"event":"step","step":11,"loss":9.0}\n')
    curves.request([str(path), str(tmp_path / "nothing")])
    assert len(changes) == 2
    assert curves.of(str(path)) != first
    missing = curves.of(str(tmp_path / "nothing"))
    assert missing is not None
    assert missing.problem == "journal.jsonl: not read: No such file or directory"

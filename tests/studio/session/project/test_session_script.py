"""The session as a script: run without a window it does again what was done, to the same losses."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine.files.journal import read_run
from engine.training import TrainingConfig
from resources.settings.export import ExportSettings
from studio.session.export.export_job import Export
from studio.session.graph.trace_job import TraceModel
from studio.session.project.session_script import SessionScript, script_bytes, write_script
from studio.session.runs.report.report_job import WriteReport
from studio.session.session import Session
from studio.session.train.run_settings import RunSettings
from studio.session.train.train_job import Train
from studio.session.work.worker import ThreadWorker

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
def test_the_script_trains_to_the_same_losses(tmp_path: Path) -> None:
    session = Session(ThreadWorker, tmp_path / "project" / "runs")
    try:
        for name, value in (
            ("model", "linear"),
            ("samples", 300),
            ("epochs", 2),
            ("seed", 7),
            ("optimizer", "momentum"),
            ("optimizer_params.momentum", 0.8),
            ("learning_rate", 0.05),
            ("static", False),
        ):
            session.change_setting(name, value)
        assert session.execute("start") == ""
        assert session.wait_until(lambda: not session.busy(), 120)
        first = Path(session.train.folder)
        path = tmp_path / "again's.sh"
        write_script(path, script_bytes(path, session.script))
    finally:
        session.close()
    studio = tmp_path / "studio"
    studio.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m studio "$@"\n')
    studio.chmod(0o755)
    environment = {**os.environ, "MODEL_STUDIO": str(studio), "PYTHONPATH": str(ROOT)}
    subprocess.run([tmp_path / "again's.sh", tmp_path / "again"], env=environment, check=True, timeout=200)
    one, other = (read_run(run).columns for run in (first, tmp_path / "again" / "runs" / first.name))
    assert len(one["step"]["loss"]) == 10
    assert one["step"]["loss"].tolist() == other["step"]["loss"].tolist()
    assert one["epoch"]["validation_loss"].tolist() == other["epoch"]["validation_loss"].tolist()


def train(out: str, **changes: object) -> Train:
    return Train(TrainingConfig(out=out).changed(**changes).as_dict())


def test_the_script_contains_the_recorded_jobs(tmp_path: Path) -> None:
    script, own = SessionScript(), tmp_path / "it's $HOME"
    own.mkdir()
    script.record(train("/runs/a", data=str(own), epochs=3))
    script.record(TraceModel({}))
    script.record(replace(train("/runs/a", epochs=3), resume=True))  # the script does not stop in between
    script.record(replace(train("/runs/a", epochs=5), resume=True))
    script.record(train("/runs/b"))
    script.follow({"event": "cancelled", "folder": "/runs/b"})
    script.record(
        Export(
            "/runs/a",
            "/x/inference/model",
            ExportSettings(
                "/runs/a/checkpoints/step-00000120.h5", samples=99, optimize=True, input_shape=(-1, 3, 8, 8)
            ),
        )
    )
    script.predicted("/x/inference/model", "/pictures/seven.png")
    script.record(Export("/old\nrm -rf", "/y/model", ExportSettings(samples=1)))
    script.record(replace(train("/old", epochs=5), resume=True))
    script.record(WriteReport("/runs/a", "/home/a.html"))
    lines = script.text().splitlines()
    assert lines[lines.index("") + 1 :] == [
        f""""$STUDIO" train --data '{tmp_path}/it'"'"'s $HOME' --epochs 3 --out "$FOLDER"/runs/a""",
        '"$STUDIO" train --out "$FOLDER"/runs/a --resume --epochs 5',
        '"$STUDIO" export "$FOLDER"/runs/a --step 120 --format native --input-name x --dtype float32 '
        '--samples 99 --optimize --input-shape -1,3,8,8 --out "$FOLDER"/exports/a/model',
        '"$STUDIO" predict "$FOLDER"/exports/a/model /pictures/seven.png',
        """"$STUDIO" export '/old""",
        """rm -rf' --checkpoint best --format native --input-name x --dtype float32 --samples 1 """
        """--out "$FOLDER"/'exports/old""",
        "rm -rf/model'",
        "# not repeated: /old, made before this session, went on",
        '"$STUDIO" report "$FOLDER"/runs/a --out "$FOLDER"/a.html',
    ]
    compile(script.python(), "session.py", "exec")
    assert "studio('train', '--out', out('runs/a'), '--resume', '--epochs', '5')" in script.python()


def test_data_whose_name_can_not_be_a_path_is_recorded() -> None:
    script = SessionScript()
    settings = RunSettings().changed("data", "x" * 5000)
    script.record(Train(settings.as_config("runs/a"), False))
    (step,) = script.steps
    assert "x" * 5000 in step.words

"""What the window and a training load before they are there, counted in fresh processes.

The time that it takes depends on that, and is not the same on two machines.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer

from studio import cli
from tests.studio.conftest import write_idx

_WINDOW = """
import json, sys
from PySide6.QtWidgets import QApplication
from studio.app import Studio
from studio.controllers.start_up import read_last

application = QApplication([])
session, last, layout = read_last()
studio = Studio(application, session, whole=False, last=last, layout=layout)
studio.show()
application.processEvents()
shown = sorted(sys.modules)
studio.complete(plots=False)
later = sorted(sys.modules)
studio.train_page.curves.make_plots()
drawn = sorted(sys.modules)
plots = sorted(studio.train_page.curves.plots)
studio.close()
print(json.dumps([shown, later, drawn, plots]))
"""
_TRAIN = """
import json, sys
from studio.cli import main

sys.argv = ["model-studio", "train", "--help"]
try:
    main()
except SystemExit:
    print("\\n" + json.dumps(sorted(sys.modules)))
"""
_FIRST_STEP = """
import json, os, sys
from studio.cli import main
from studio.cli.train import train_command

carry_out = train_command._run

def watched(run, *rest):
    def heard(event):
        if event["event"] == "started":
            train = run._parts.stepper.train
            def first(*batch):
                train(*batch)
                print(json.dumps(sorted(sys.modules)), flush=True)
                os._exit(0)
            run._parts.stepper.train = first
    run.listeners.append(heard)
    carry_out(run, *rest)

train_command._run = watched
train_command.SHOWN_AFTER = 1000  # on a slow machine the bar would come before the step
sys.argv = ["model-studio", "train", "--data", sys.argv[1], "--out", sys.argv[1] + "/run"]
main()
"""
_AFTER_A_STEP = {
    "typer",
    "click",
    "rich.console",  # of rich only its styles: importing them draws a random number
    "rich.progress",
    "pydantic",
    "PIL",
    "llvmlite",
    "multiprocessing",
    "numpy.ma",
    "engine.vision.transforms",
    "engine.program.run.report",
}
_AFTER_SHOW = {
    "studio.windows.code.code_page",
    "studio.windows.data.data_page",
    "studio.windows.export.export_page",
    "studio.windows.graph.graph_page",
    "studio.windows.predict.predict_page",
}


def _last_line(code: str, folder: Path, *words: str) -> str:
    env = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    env["MODEL_STUDIO_KERNELS"] = "auto"  # as for users
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_the_window_shows_before_pages_plots_and_engine_are_imported(tmp_path: Path) -> None:
    pytest.importorskip("PySide6", reason="the window needs Qt")
    shown, later, drawn, plots = json.loads(_last_line(_WINDOW, tmp_path))
    assert not _AFTER_SHOW & set(shown)
    assert not {"engine", "pyqtgraph"} & set(shown)
    assert "llvmlite" not in drawn
    assert "studio.controllers.palette_entries" not in later
    assert "typer" not in shown
    assert set(later) >= _AFTER_SHOW
    assert "pyqtgraph" not in later
    assert "pyqtgraph" in drawn
    assert not {"cuda", "cuda.bindings"} & set(drawn)
    assert plots == ["accuracy", "loss"]


def test_a_command_imports_no_other_and_nothing_that_only_training_needs(tmp_path: Path) -> None:
    loaded = set(json.loads(_last_line(_TRAIN, tmp_path)))
    modules = {f"studio.cli.{module}" for module in cli.COMMANDS.values()}
    assert modules & loaded == {"studio.cli.train.train_options"}
    assert not {"numpy", "engine", "psygnal", "studio.session.runs.runs_folder"} & loaded


def test_a_first_step_needs_no_library_of_terminals_images_or_compilers(tmp_path: Path) -> None:
    for name in ("train", "t10k"):
        write_idx(tmp_path / f"{name}-images-idx3-ubyte", np.zeros((10, 28, 28), np.uint8))
        write_idx(tmp_path / f"{name}-labels-idx1-ubyte", np.arange(10, dtype=np.uint8))
    loaded = set(json.loads(_last_line(_FIRST_STEP, tmp_path, str(tmp_path))))
    assert "engine.training" in loaded
    assert _AFTER_A_STEP & loaded == set()


def test_every_command_is_found_in_its_module() -> None:
    commands = typer.main.get_command(cli.app).commands
    assert list(commands) == list(cli.COMMANDS)
    for name, module in cli.COMMANDS.items():
        assert commands[name].callback.__module__ == f"studio.cli.{module}"

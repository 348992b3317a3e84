"""Own data in the real program: dropped, trained as suggested, exported, and a new sample predicted.

One window does it with three kinds of data in succession, so each test also starts where another ended.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from docs.own_data import images, sequences, table
from studio.session.runs.runs_folder import read_run_line
from tests.studio.program.program import Program, until

START = "train_page.welcome.start"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="drives the program as on POSIX")


@pytest.fixture(scope="module")
def program(display: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            patch.setenv(variable, str(home / variable))
        started = Program(display)
    yield started
    started.end()


def trained(program: Program, data: Path, target: str = "", **settings: Any) -> dict[str, Any]:
    """Drop the data, start by the page's button; gives what the run recorded."""
    program.do("drop", str(data))
    program.until("session.train.settings.data", str(data))
    for name, value in (("label_name", target), *settings.items()):
        if value:
            program.do("set", name, value)
    assert program.do("trigger", "page_train") == ""
    before = program.get("session.train.folder")
    # A click has no effect while the end of the run before is not taken in.
    until(lambda: program.get("session.train.folder") != before or program.do("click", START), "the start")
    program.until("session.train.state", "finished", "failed", "crashed")
    assert program.get("session.train.state") == "finished", program.get("session.train.message")
    line = read_run_line(Path(program.get("session.train.folder")))
    assert line is not None
    return line.config


def exported(program: Program) -> None:
    """Export the run by the command, and open its files on Predict by the page's button."""
    program.until("session.export.run_folder", program.get("session.train.folder"))
    assert program.do("trigger", "page_export") == ""
    assert program.do("trigger", "export") == ""
    program.until("session.export.state", "done", "failed")
    assert program.get("session.export.state") == "done", program.get("session.export.message")
    program.do("click", "export_page.predict_button")
    saved = program.get("session.export.save_id")
    until(lambda: saved in str(program.get("session.predict.model")), "the exported model")


def test_a_folder_of_images_to_a_prediction(program: Program, tmp_path: Path) -> None:
    config = trained(program, images(tmp_path / "photos", each=24, least=20), epochs=2)
    assert (config["model"], config["kind"], config["resize"]) == ("cnn", "images", 24)
    exported(program)
    program.do("drop", str(tmp_path / "photos" / "disc" / "0.png"))
    until(lambda: "disc" in str(program.get("session.predict.ranking")), "the classes of the image")


def test_a_table_of_numbers_to_a_prediction(program: Program, tmp_path: Path) -> None:
    config = trained(
        program, table(tmp_path / "rents.csv", numbers=True, rows=100), target="rent (EUR)", epochs=2
    )
    assert (config["model"], config["task"]) == ("mlp", "numbers")
    exported(program)
    row = tmp_path / "new.csv"
    row.write_text("town,rooms,size (m2)\nUlm,3,80\n")
    program.do("drop", str(row))
    until(lambda: "EUR" in str(program.get("predict_page.answer.text")), "the rent of the row")


def test_sequences_to_a_prediction(program: Program, tmp_path: Path) -> None:
    config = trained(program, sequences(tmp_path / "waves.npz", count=60, most=12), epochs=2)
    assert (config["model"], config["kind"]) == ("gru", "sequences")
    exported(program)
    np.save(tmp_path / "new.npy", np.linspace(-1, 1, 9, dtype=np.float32)[:, None])
    program.do("drop", str(tmp_path / "new.npy"))
    until(lambda: len(program.get("session.predict.ranking")) == 3, "the classes of the sequence")

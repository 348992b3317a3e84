"""Files and folders dropped on the window: each is opened for what it is, and what happened is said."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("PySide6", reason="the window needs Qt")

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from resources import words
from studio.windows.agreement_dialog import AgreementDialog
from tests.studio.windows.dropping import drop_on
from tests.studio.windows.runs.run_folders import make_run

MODEL = "from engine import nn\n\n\nclass Net(nn.Layer): ...\n"


def drop(stage: Any, *paths: Path) -> str:
    """Drop files on the window; returns what it says of them."""
    stage.window.toast.hide()
    assert drop_on(stage.window, *paths)
    return str(stage.window.toast.text()) if stage.window.toast.isVisible() else ""


def test_the_folder_of_a_project(stage: Any, tmp_path: Path) -> None:
    stage.session.change_setting("epochs", 7)
    stage.session.save_project(tmp_path / "mine")
    stage.session.execute("new_project")
    assert "Project mine is open" in drop(stage, tmp_path / "mine")
    assert stage.studio.settings_panel.form.value("epochs") == 7


def test_a_run_and_a_folder_of_runs(stage: Any, tmp_path: Path) -> None:
    run = make_run(tmp_path / "elsewhere" / "lenet-static-001")
    make_run(tmp_path / "elsewhere" / "lenet-static-002")
    assert "it stays where it is" in drop(stage, run)
    assert stage.window.project.runs.keys() == [str(run)]
    assert stage.session.selected_run == str(run)
    assert "The run LeNet is shown." in drop(stage, run / "journal.jsonl")
    assert f"stay in {tmp_path / 'elsewhere'}: 1." in drop(stage, tmp_path / "elsewhere")
    assert len(stage.window.project.runs.keys()) == 2
    stage.session.execute("undo")
    assert stage.window.project.runs.keys() == [str(run)]


@pytest.mark.parametrize("agreed", [True, False])
def test_a_python_file_becomes_the_model_once_it_is_agreed_to(
    stage: Any, tmp_path: Path, agreed: bool
) -> None:
    file = tmp_path / "net.py"
    file.write_text(MODEL)
    assert drop(stage, file) == ""
    assert stage.window.current_page() == "code"
    (box,) = stage.window.findChildren(AgreementDialog)
    QTest.mouseClick(box.allow if agreed else box.cancel, Qt.MouseButton.LeftButton)
    assert stage.session.train.settings.model == (f"{file}:Net" if agreed else "auto")
    assert ("Net of net.py is the model" in stage.window.toast.text()) == agreed
    assert stage.studio.code_page.banner.isVisible() != agreed, "asked for again after a no only"
    file.write_text("x = 1\n")
    assert "the file contains no class" in drop(stage, file)


def test_data(stage: Any, tmp_path: Path, bars: Path) -> None:
    stage.session.undo_stack._clock = count(step=2.0).__next__  # each drop is its own edit
    pairs = tmp_path / "pairs.npz"
    np.savez(pairs, x=np.zeros((4, 2), np.float32), y=np.zeros(4, np.int64))
    assert "pairs.npz is the data of the next training" in drop(stage, pairs, bars)
    assert "1 more were ignored" in stage.window.toast.text()
    assert stage.session.train.settings.data == str(pairs)
    assert "is the data" in drop(stage, next(bars.glob("train-images*")))  # one of the files of a data set
    assert stage.session.train.settings.data == str(bars)
    stage.session.execute("undo")
    assert stage.session.train.settings.data == str(pairs)


def test_weights_are_what_the_next_training_starts_from(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "net.pth").write_bytes(b"\x80\x02N.")
    assert "The next training starts from net.pth" in drop(stage, tmp_path / "net.pth")
    assert stage.session.train.settings.start_from == str(tmp_path / "net.pth")
    assert stage.window.current_page() == "train"
    stage.session.execute("undo")
    assert stage.session.train.settings.start_from == ""


def test_an_image_and_a_model(stage: Any, tmp_path: Path) -> None:
    asked: list[str] = []
    stage.studio.opening.open_image = stage.studio.opening.open_model = asked.append
    for name in ("seven.PNG", "model.pdmodel", "model.pdiparams.info"):
        (tmp_path / name).write_bytes(b"")
        drop(stage, tmp_path / name)
        assert stage.window.current_page() == "predict"
    assert asked == [str(tmp_path / name) for name in ("seven.PNG", "model.pdmodel", "model.pdiparams.info")]


def test_unsupported_dropped_files_show_the_reason(stage: Any, tmp_path: Path) -> None:
    (tmp_path / "film.mkv").write_bytes(b"")
    before = stage.session.train.settings
    for path, why in (
        ("film.mkv", "no such file type"),
        ("gone", "no such file"),
    ):
        said = drop(stage, tmp_path / path)
        assert why in said
        assert "Model Studio opens projects, runs, data" in said
    assert stage.session.train.settings == before


def test_the_reason_is_in_the_language_too(
    stage: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "film.mkv").write_bytes(b"")
    request.addfinalizer(lambda: words.use_language("en"))
    words.use_language("zh_CN")
    said = drop(stage, tmp_path / "film.mkv")
    assert "没有此文件类型" in said
    assert "可打开项目" in said
    assert "no such" not in said

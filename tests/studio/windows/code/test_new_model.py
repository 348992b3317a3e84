"""A new model on the page Code is fitted to the data that was looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.studio.windows.data.test_columns import spec
from tests.studio.windows.data.test_data_page import FACTS, requests


def test_a_new_model_has_the_shape_of_the_data_as_defaults(stage: Any, tmp_path: Path) -> None:
    QTest.keyClick(stage.window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    number = requests(stage.worker)[-1].number
    data = spec("images", "classes", shape=[3, 40, 48], classes=["a", "b", "c"], targets=[])
    stage.tell("data_opened", number=number, **{**FACTS, "spec": data})
    stage.studio.code.new("lenet", str(tmp_path / "own.py"))
    text = (tmp_path / "own.py").read_text()
    (line,) = [line for line in text.splitlines() if "def __init__" in line]
    assert [part.rpartition("=")[2].strip(" ):None->") for part in line.split(",")[1:]] == [
        "3",
        "40",
        "48",
        "3",
    ]

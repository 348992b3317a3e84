"""Three runs and two saved models with other classes: after each selection every visible panel shows the
selected one. All is read from the texts and colours of widgets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel
from pytestqt.qtbot import QtBot

from engine import jit, nn
from engine.files.checkpoint import write_best, write_checkpoint
from engine.static import InputSpec
from engine.training.config import TrainingConfig
from engine.training.setup import build_network
from studio.session import commands
from tests.studio.windows.conftest import Stage
from tests.studio.windows.runs.run_folders import DIGITS, make_run
from tests.studio.windows.runs.test_selected_run import click_run
from widgets import theme

ANIMALS = ("ant", "bee", "cat")
WAIT = 60_000
PAGES = ("train", "graph", "export", "predict", "data", "code", "runs")


@dataclass(frozen=True)
class Item:
    """A run, or a saved model; ``title`` is its one name."""

    path: str
    classes: tuple[str, ...]
    accuracy: str = ""
    color: int | str = ""
    title: str = ""

    @property
    def of_run(self) -> bool:
        return bool(self.accuracy)


def run_with_weights(folder: Path, accuracy: float, classes: tuple[str, ...], **settings: Any) -> Path:
    counts = (np.eye(len(classes), dtype=int) * 3).tolist()
    counts[0][1] = 1
    wrong = {"index": 1, "label": 0, "predicted": 1, "probability": 0.1}
    params = {"features": 784, "outputs": len(classes)}
    make_run(
        folder,
        accuracy=accuracy,
        checkpoint=False,
        classes=classes,
        epoch={"confusion": counts, "hardest": [wrong]},
        model="linear",
        model_params=params,
        **settings,
    )
    config = TrainingConfig(model="linear", model_params=params, data="digits", out=str(folder))
    network, _ = build_network(config)
    tree = {
        "config": config.as_dict(),
        "model": {name: value.numpy() for name, value in network.state_dict().items()},
        "data": {"classes": list(classes), "shape": [1, 28, 28]},
        "progress": {"step": 10, "validation_accuracy": accuracy},
    }
    (folder / "checkpoints").mkdir()
    write_checkpoint(folder / "checkpoints", 10, tree)
    write_best(folder / "checkpoints", tree)
    return folder


def saved_model(prefix: Path, classes: tuple[str, ...]) -> str:
    network = nn.Sequential(nn.Flatten(), nn.Linear(784, len(classes)))
    spec = [InputSpec(shape=[None, 1, 28, 28], dtype="float32", name="x")]
    jit.save(network, str(prefix), input_spec=spec, info={"classes": list(classes)})
    return str(prefix)


class Walk:
    """Selects by clicks, and compares each page with what is selected."""

    def __init__(self, stage: Stage, qtbot: QtBot) -> None:
        self.stage, self.qtbot, self.session = stage, qtbot, stage.session
        self.window, self.studio = stage.window, stage.studio

    def select(self, item: Item) -> None:
        if item.of_run:
            click_run(self.stage, item.path)
            return
        models = self.studio.model_panel.models
        if models.row(item.path) is None:
            self.window.files_dropped.emit([item.path + ".pdmodel"])
            return
        self.show("predict")
        QTest.mouseClick(
            models.viewport(), Qt.MouseButton.LeftButton, pos=models.place_of(item.path).center()
        )

    def show(self, page: str) -> None:
        QTest.mouseClick(self.window.top.tab(page), Qt.MouseButton.LeftButton)

    def until(self, value: Any, expected: object) -> None:
        """What a widget shows becomes ``expected``."""

        def check() -> None:
            assert value() == expected

        self.qtbot.waitUntil(check, timeout=WAIT)

    def trace(self, item: Item) -> None:
        """The child that traces the model of a run answers, once it was asked."""

        def asked() -> list[Any]:
            jobs = [each for each in self.stage.workers if each.job_name == "trace_run" and not each.ended()]
            return [each for each in jobs if each.job.folder == item.path and each.notify is not None]

        self.qtbot.waitUntil(lambda: bool(asked()), timeout=WAIT)
        worker = asked()[-1]
        block = {"idx": 0, "parent": -1, "vars": [], "ops": []}
        worker.tell(
            "program",
            model="linear",
            program={"blocks": [block]},
            text=f"Program of {item.path}",
            source="",
            source_file="",
            source_line=1,
            converted="",
        )
        worker.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
        self.session.pump()

    # ----- what is seen -----

    def check(self, item: Item) -> None:
        self.check_dock(item)
        for page in PAGES:
            self.show(page)
            getattr(self, f"check_{page}", lambda item: None)(item)
            if page != "graph":
                self.check_dock(item)

    def check_dock(self, item: Item) -> None:
        panel = self.window.project
        assert panel.runs.chosen() == ([item.path] if item.of_run else [])
        assert panel.program_name.text() == item.title
        self.until(panel.tree.isVisible, True)
        if item.of_run:
            row = panel.runs.row(item.path)
            assert row is not None
            assert (row.title, row.color) == (item.title, item.color)
            assert panel.strip.state().startswith("finished")
            assert item.accuracy.partition(" ")[0] in row.value

    def check_train(self, item: Item) -> None:
        page = self.studio.train_page
        if not item.of_run:
            assert (
                page.no_run() == f"{item.title} is a saved model: it has no training to show. Select a run."
            )
            return
        self.until(lambda: [each.label for each in page.hardest._samples], [item.classes[0]])
        assert page.hardest._samples[0].predicted == item.classes[1]
        assert page.confusion._labels == list(item.classes)
        assert page.figures["accuracy"].text().startswith(item.accuracy)
        assert page.loss.series_keys()[0].startswith(item.path)
        color = page.loss._series[page.loss.series_keys()[0]].color
        assert theme.run_color(color) == theme.run_color(item.color)

    def check_graph(self, item: Item) -> None:
        page = self.studio.graph_page
        assert not page.is_empty()
        shown = [label.text() for label in page.findChildren(QLabel) if label.isVisible()]
        assert any(text.startswith(f"{item.title} \u00b7 ") for text in shown), shown
        if item.of_run:
            assert page.text.toPlainText() == f"Program of {item.path}"
        else:
            assert f"shape(-1, {len(item.classes)})" in page.text.toPlainText()

    def check_export(self, item: Item) -> None:
        box = self.studio.export_page.form.control("run")
        assert isinstance(box, QComboBox)
        facts = "\n".join(label.text() for label in self.studio.export_panel.findChildren(QLabel))
        if item.of_run:
            assert box.currentText().startswith(item.title)
            self.until(lambda: self.panel_says(item.accuracy), True)
        else:
            assert box.currentText() == "Select a run"
            assert self.studio.export._why_not.text() == "Select a run to export."
            assert "%" not in facts

    def panel_says(self, text: str) -> bool:
        return any(text in label.text() for label in self.studio.export_panel.findChildren(QLabel))

    def check_predict(self, item: Item) -> None:
        panel, tools = self.studio.model_panel, self.studio.predict.samples.tools
        self.until(lambda: dict(panel.facts.rows()).get("Classes"), ", ".join(item.classes))
        (chosen,) = panel.models.chosen()
        assert chosen.rstrip("/") == item.path
        assert [tools.label.itemText(n) for n in range(tools.label.count())] == list(item.classes)


@pytest.mark.styled
def test_every_visible_panel_shows_what_is_selected(stage: Stage, qtbot: QtBot, tmp_path: Path) -> None:
    stage.load_selection()
    stage.studio.complete()
    session, runs = stage.session, tmp_path / "runs"
    folders = [str(runs / f"linear-static-{number:03}") for number in (1, 2, 3)]
    run_with_weights(Path(folders[0]), 0.61, DIGITS, started=1.0)
    run_with_weights(Path(folders[1]), 0.72, ANIMALS, started=2.0, data=str(tmp_path))
    run_with_weights(Path(folders[2]), 0.83, DIGITS, started=3.0, learning_rate=0.01)
    session.refresh_runs()
    first, animals, third = (
        Item(folder, classes, share, session.run_colors[folder], session.run_titles[folder])
        for folder, classes, share in zip(folders, (DIGITS, ANIMALS, DIGITS), ("61", "72", "83"), strict=True)
    )
    models = [
        Item(saved_model(tmp_path / "models" / name, classes), classes, title=name)
        for name, classes in (("digits", DIGITS), ("animals", ANIMALS))
    ]
    assert len({first.title, animals.title, third.title}) == 3
    walk = Walk(stage, qtbot)
    for item in (first, animals, models[0], third, models[1], animals):
        walk.select(item)
        if item.of_run:
            walk.trace(item)
        walk.check(item)
    assert session.blocked(commands.RESUME_RUN) != ""
    processes = session.predict_models
    assert processes.holds(animals.path)
    assert not any(processes.holds(each.path) for each in (first, third, *models)), "they were released"

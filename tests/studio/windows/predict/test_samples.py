"""Predict with test samples and their true labels, and images added to the project's data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.session.predict.model_choice import ModelChoice
from studio.session.predict.model_info import ModelInfo
from studio.session.predict.test_samples import Sample
from studio.session.predict.test_samples_job import ReadSamples
from studio.session.work.job import Inbox, perform
from tests.studio.windows.conftest import Stage


@pytest.fixture
def page(stage: Stage) -> Stage:
    import engine.training  # noqa: F401  (the window has it by then)

    stage.studio.frame.show_page("predict")
    return stage


def tell_samples(page: Stage, places: list[int], total: int = 40) -> None:
    """Answer as the child does: sample n has a bright row n."""
    images = []
    for place in places:
        image = np.zeros((28, 28), np.float32)
        image[place % 28] = 1.0
        images.append(image)
    labels = [str(place % 10) for place in places]
    page.tell("samples", places=places, total=total, values=images, labels=labels, data="digits")
    page.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")


def test_test_samples_are_fed_as_they_are_with_their_labels(page: Stage, qtbot: QtBot) -> None:
    tools, view = page.studio.predict.samples.tools, page.session.predict
    left = Qt.MouseButton.LeftButton
    qtbot.mouseClick(tools.next_button, left)
    assert page.worker.job_name == "read_samples"
    assert (page.worker.job.place, page.worker.job.config["data"]) == (0, "digits")
    assert not tools.next_button.isEnabled()
    tell_samples(page, list(range(32)))
    assert tools.words.text() == "test sample 1 of 40: 0"
    np.testing.assert_array_equal(view.fed[0][0], np.ones(28))  # not moved to the middle
    children = len(page.workers)
    qtbot.mouseClick(tools.next_button, left)
    assert (tools.words.text(), tools.label.currentText()) == ("test sample 2 of 40: 1", "1")
    assert len(page.workers) == children, "those of the batch are there"
    for _ in range(2):
        qtbot.mouseClick(tools.before_button, left)
    assert page.worker.job.place == 8  # the 32 that end with the last one
    tell_samples(page, list(range(8, 40)))
    assert tools.words.text() == "test sample 40 of 40: 9"
    qtbot.mouseClick(tools.random_button, left)
    assert page.worker.job.place == -1


def test_a_drawing_is_added_to_the_data_set_with_its_label(page: Stage, qtbot: QtBot) -> None:
    tools, pad = page.studio.predict.samples.tools, page.studio.predict_page.pad
    assert not tools.collect_button.isEnabled()
    qtbot.mousePress(pad, Qt.MouseButton.LeftButton, pos=pad.rect().center())
    qtbot.mouseRelease(pad, Qt.MouseButton.LeftButton, pos=pad.rect().center())
    assert not tools.collect_button.isEnabled(), "it has no label yet"
    qtbot.keyClicks(tools.label, "7")
    qtbot.mouseClick(tools.collect_button, Qt.MouseButton.LeftButton)
    assert tools.words.text() == "added as 7: 1 collected"
    [image] = page.session.collected.images()
    assert (image.label, image.source) == ("7", "drawing")
    fed = page.session.predict.fed[0]
    np.testing.assert_array_equal(image.pixels(), np.rint(fed * 255).astype(np.uint8))


def test_a_sample_fills_every_input(page: Stage) -> None:
    view, samples, tools = page.session.predict, page.session.samples.view, page.studio.predict.samples.tools
    inputs = tuple(
        {"name": name, "shape": shape, "dtype": dtype}
        for name, shape, dtype in (("image", [-1, 1, 8, 8], "float32"), ("word", [-1, 1], "int64"))
    )
    view.loaded(ModelInfo(ModelChoice("m"), "m", "m", inputs, (), {}, {}, "", {}))
    image = np.full((8, 8), 0.5, np.float32)
    samples.sample = Sample(0, 9, image, "bee", "d", (np.array([6]),))
    assert (tools.words.text(), view.fed[1].tolist()) == ("test sample 1 of 9: bee", [6])
    np.testing.assert_array_equal(view.fed[0], image)
    assert not tools.collect_button.isVisible(), "an image alone is not a sample"
    samples.sample = Sample(1, 9, image, "bee", "d", (np.array([6]), np.array([1])))
    assert tools.words.text() == "The samples have 3 inputs, and this model takes 2"


def test_the_child_reads_every_input(tmp_path: Path) -> None:
    image = np.arange(20 * 64, dtype=np.uint8).reshape(20, 8, 8)
    np.savez(tmp_path / "a.npz", image=image, word=np.arange(20), label=np.arange(20) % 2)
    events: list[dict] = []
    config = {"data": str(tmp_path / "a.npz"), "input_name": "image,word", "kind": "stored"}
    assert perform(ReadSamples(config, 0, 4), events.append, Inbox()), events
    [found] = [event for event in events if event["event"] == "samples"]
    assert [values.shape for values in found["values"]] == [(8, 8)] * 4
    for values, [word], label in zip(found["values"], found["others"], found["labels"], strict=True):
        np.testing.assert_allclose(values, image[int(word[0])] / 255, atol=1e-6)
        assert label == str(int(word[0]) % 2)


def test_the_child_reads_samples_as_a_person_gives_them() -> None:
    events: list[dict] = []
    assert perform(ReadSamples({"data": "digits"}, 3, 2), events.append, Inbox()), events
    [found] = [event for event in events if event["event"] == "samples"]
    assert found["places"] == [3, 4]
    assert [values.shape for values in found["values"]] == [(28, 28)] * 2
    assert all(label in "0123456789" for label in found["labels"])
    assert 0.0 <= min(values.min() for values in found["values"]) < 0.1
    assert not perform(ReadSamples({"data": "absent"}, 0, 2), events.append, Inbox())


def test_samples_of_a_table_have_their_numbers_as_labels(tmp_path: Path) -> None:
    rows = [f"{n},{['a', 'b'][n % 2]},{n / 2 + 1000.25}" for n in range(20)]
    (tmp_path / "rows.csv").write_text("\n".join(["size,word,price", *rows]) + "\n")
    events: list[dict] = []
    config = {"data": str(tmp_path / "rows.csv"), "label_name": "price", "test_share": 0.2}
    config |= {"normalize": "statistics", "include": ("size",)}
    assert perform(ReadSamples(config, 0, 4), events.append, Inbox()), events
    [found] = [event for event in events if event["event"] == "samples"]
    for values, label in zip(found["values"], found["labels"], strict=True):
        size, word = values.tolist()
        assert label == f"{size / 2 + 1000.25:.6g}"
        assert word == size % 2 + 1

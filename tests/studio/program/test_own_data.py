"""Own data in the real program: dropped, trained as suggested, exported, and a new sample predicted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from studio.session.runs.runs_folder import read_run_line
from tests.studio.program.program import Program, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="drives the program as on POSIX")


def images(folder: Path) -> Path:
    """Dark and bright images of two sizes."""
    from PIL import Image

    drawn = np.random.default_rng(0)
    for name, low in (("bright", 150), ("dark", 0)):
        (folder / name).mkdir(parents=True)
        for number in range(24):
            side = (20, 26)[number % 2]
            pixels = drawn.integers(low, low + 90, (side, side, 3)).astype(np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")
    return folder


def houses(path: Path) -> Path:
    """Prices that depend on the size and the town."""
    drawn = np.random.default_rng(1)
    lines = ["id,size (m2),town,price (EUR)"]
    for number, size in enumerate(drawn.uniform(30, 120, 160)):
        town = ("Bonn", "Ulm")[number % 2]
        lines.append(f"{number},{size:.2f},{town},{10 * size + 200 * (town == 'Ulm'):.2f}")
    path.write_text("\n".join(lines) + "\n")
    return path


def waves(path: Path) -> Path:
    """Rising and falling sequences of several lengths."""
    drawn = np.random.default_rng(2)
    y, lengths = np.arange(80) % 2, drawn.integers(6, 13, 80)
    x = np.zeros((80, 12, 1), np.float32)
    for row, label, length in zip(x, y, lengths, strict=True):
        row[:length, 0] = np.linspace(-1, 1, length) * (1 if label else -1) + drawn.normal(0, 0.1, length)
    np.savez(path, x=x, y=y, lengths=lengths)
    return path


def trained(program: Program, data: Path, target: str = "", **settings: Any) -> dict[str, Any]:
    """Drop the data, start by the page's button; gives what the run recorded."""
    program.do("drop", str(data))
    program.until("session.train.settings.data", str(data))
    for name, value in (("label_name", target), *settings.items()):
        if value:
            program.do("set", name, value)
    assert program.do("trigger", "page_train") == ""
    program.do("click", "train_page.welcome.start")
    program.until("session.train.state", "finished", "failed", "crashed")
    assert program.get("session.train.state") == "finished", program.get("session.train.message")
    line = read_run_line(Path(program.get("session.train.folder")))
    assert line is not None
    return line.config


def exported(program: Program) -> None:
    """Export the run by the command, and open its files on Predict by the page's button."""
    assert program.do("trigger", "page_export") == ""
    assert program.do("trigger", "export") == ""
    program.until("session.export.state", "done", "failed")
    assert program.get("session.export.state") == "done", program.get("session.export.message")
    program.do("click", "export_page.predict_button")
    until(lambda: "model" in str(program.get("session.predict.model")), "the exported model")


def test_a_folder_of_images_to_a_prediction(start: Callable[[], Program], tmp_path: Path) -> None:
    program = start()
    config = trained(program, images(tmp_path / "photos"), epochs=4)
    assert (config["model"], config["kind"], config["resize"]) == ("cnn", "images", 16)
    exported(program)
    program.do("drop", str(tmp_path / "photos" / "dark" / "0.png"))
    until(lambda: "dark" in str(program.get("session.predict.ranking")), "the classes of the image")


def test_a_table_of_numbers_to_a_prediction(start: Callable[[], Program], tmp_path: Path) -> None:
    program = start()
    config = trained(program, houses(tmp_path / "houses.csv"), target="price (EUR)", epochs=3)
    assert (config["model"], config["task"]) == ("mlp", "numbers")
    exported(program)
    row = tmp_path / "new.csv"
    row.write_text("town,size (m2)\nUlm,80\n")
    program.do("drop", str(row))
    until(lambda: "EUR" in str(program.get("predict_page.answer.text")), "the price of the row")


def test_sequences_to_a_prediction(start: Callable[[], Program], tmp_path: Path) -> None:
    program = start()
    config = trained(program, waves(tmp_path / "waves.npz"), epochs=3)
    assert (config["model"], config["kind"]) == ("gru", "sequences")
    exported(program)
    np.save(tmp_path / "new.npy", np.linspace(-1, 1, 9, dtype=np.float32)[:, None])
    program.do("drop", str(tmp_path / "new.npy"))
    until(lambda: len(program.get("session.predict.ranking")) == 2, "the classes of the sequence")

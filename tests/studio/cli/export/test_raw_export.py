"""Own data from the command line: train, export, and predict raw input in a clean process without the run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from studio.cli import app

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    return tmp_path


def exported(folder: Path, *words: str) -> None:
    """Train and export with these words; the files are moved, and run and data deleted."""
    for command in (["train", *words, "--out", folder / "run"], ["export", folder / "run"]):
        done = CliRunner().invoke(app, [str(word) for word in command])
        assert done.exit_code == 0, done.output
    for file in (folder / "run" / "inference").iterdir():
        shutil.move(file, folder / "elsewhere" / file.name)
    shutil.rmtree(folder / "run")


def predicted(folder: Path, *files: str) -> list[dict[str, Any]]:
    """The JSON lines of predict in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "studio", "predict", "model", *files, "--json"],
        cwd=folder / "elsewhere",
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_rows_of_a_table_with_columns_in_another_order(folder: Path) -> None:
    rng = np.random.default_rng(0)
    size, rooms, colour = rng.uniform(40, 120, 200), rng.integers(1, 6, 200), rng.integers(0, 3, 200)
    price = 3 * size + 20 * rooms + 100 * (colour == 2)
    words = np.array(["blue", "green", "red"])[colour]
    rows = [
        f"{n};{a:.1f};{b};{c};{d:.2f}".replace(".", ",")
        for n, (a, b, c, d) in enumerate(zip(size, words, rooms, price, strict=True))
    ]
    data = folder / "houses.csv"
    data.write_text("\n".join(["id;size (m2);colour;rooms;price [EUR]", *rows]) + "\n")
    model = ("--model", "linear", "--optimizer", "adam", "--lr", "0.03", "--normalize", "statistics")
    steps = ("--target", "price [EUR]", "--batch-size", "16", "--epochs", "40")
    exported(folder, "--data", str(data), *model, *steps)
    data.unlink()
    new = [f"{c},{b},{a:.1f}" for a, b, c in zip(size[:50], words[:50], rooms[:50], strict=True)]
    (folder / "elsewhere" / "new.csv").write_text("\n".join(["rooms,colour,size (m2)", *new]) + "\n")
    found = [each["values"]["price [EUR]"] for each in predicted(folder, "new.csv")]
    assert np.abs(np.array(found) - price[:50]).max() < 10.0


def test_sequences_of_several_lengths(folder: Path) -> None:
    rng = np.random.default_rng(1)
    lengths, labels = rng.integers(6, 13, 200), rng.integers(0, 2, 200)
    x = np.zeros((200, 12, 2), np.float32)
    for row, (length, label) in enumerate(zip(lengths, labels, strict=True)):
        x[row, :length, 0] = (2 * label - 1) + 0.3 * rng.normal(size=length)
        x[row, :length, 1] = rng.normal(size=length)
    data = folder / "waves.npz"
    np.savez(data, x=x, y=labels, lengths=lengths)
    exported(folder, "--data", str(data), "--model", "gru", "--epochs", "6", "--lr", "0.01")
    data.unlink()
    np.save(folder / "elsewhere" / "one.npy", np.stack([np.ones(7), np.zeros(7)], axis=1))
    (folder / "elsewhere" / "two.csv").write_text("-1,0\n" * 9)
    assert [each["class"] for each in predicted(folder, "one.npy", "two.csv")] == ["1", "0"]


def test_image_files_of_another_size(folder: Path) -> None:
    rng = np.random.default_rng(2)
    for name, channel in (("red", 0), ("blue", 2)):
        (folder / "images" / name).mkdir(parents=True)
        for n in range(40):
            pixels = rng.integers(0, 60, (16, 16, 3), dtype=np.uint8)
            pixels[..., channel] += 150
            Image.fromarray(pixels).save(folder / "images" / name / f"{n}.png")
    exported(folder, "--data", str(folder / "images"), "--model", "cnn", "--epochs", "8", "--lr", "0.01")
    shutil.rmtree(folder / "images")
    for name, colour in (("a.png", (200, 20, 20)), ("b.jpg", (20, 20, 200))):
        Image.new("RGB", (40, 30), colour).save(folder / "elsewhere" / name)
    assert [each["class"] for each in predicted(folder, "a.png", "b.jpg")] == ["red", "blue"]

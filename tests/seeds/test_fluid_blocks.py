"""The blocks of document 004 run as they stand in the script runner, alone and as the stories they tell."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.seeds.fluid_blocks import PREAMBLE, STORIES, Story

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lines(seeds_dir: Path) -> list[str]:
    [document] = seeds_dir.glob("004_*.txt")
    return document.read_text(encoding="utf-8").expandtabs(4).split("\n")


def script_of(story: Story, lines: list[str]) -> str:
    """The blocks at their own line numbers, below the preamble."""
    script = [PREAMBLE, *[""] * (len(lines) - 1)]
    for first, last in story.blocks:
        block = textwrap.dedent("\n".join(lines[first - 1 : last]))
        block = textwrap.indent(block, " " * story.inside.get(first, 0))
        script[first - 1 : last] = block.split("\n")
    for number, line in story.instead.items():
        script[number - 1] = line
    return "\n".join([*script, story.then, ""])


def bars(labels: np.ndarray) -> np.ndarray:
    """Pictures of 28 by 28 pixels, each with the one of ten bars lit that its label says."""
    drawn = np.zeros((len(labels), 28, 28), np.uint8)
    for picture, label in zip(drawn, labels, strict=True):
        picture[2 * label + 2 : 2 * label + 4] = 255
    return drawn


def write_mnist(folder: Path, batches: int) -> None:
    """MNIST's files with ``batches`` of 64 pictures for training and two for testing."""
    folder.mkdir()
    for prefix, count in (("train", 64 * batches), ("t10k", 128)):
        labels = np.arange(count) % 10
        head = struct.pack(">IIII", 2051, count, 28, 28)
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(head + bars(labels).tobytes())
        head = struct.pack(">II", 2049, count)
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(head + labels.astype(np.uint8).tobytes())


def run_story(story: Story, lines: list[str], folder: Path, data: Path, picture: np.ndarray) -> str:
    """What the story's script prints in a process of its own; it must end well and complain of nothing."""
    (folder / "image").mkdir()
    Image.fromarray(picture).save(folder / "image" / "infer_3.png")
    (folder / "script.py").write_text(script_of(story, lines), encoding="utf-8")
    env = os.environ | {"PYTHONPATH": str(ROOT), "MODEL_STUDIO_DATA": str(data), "PYTHONIOENCODING": "utf-8"}
    env["PYTHONWARNINGS"] = (
        'ignore:"is not" with:SyntaxWarning'  # `batch_id is not 0`, as the document has it
    )
    command = [sys.executable, "-m", "studio", "run", "script.py"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False)
    assert re.fullmatch(story.warns, done.stderr), done.stderr
    assert done.returncode == 0
    at = 0
    for pattern in story.out:
        found = re.compile(pattern).search(done.stdout, at)
        assert found is not None, f"{pattern} does not follow in:\n{done.stdout}"
        at = found.end()
    return done.stdout


@pytest.mark.parametrize("name", STORIES)
def test_story(name: str, lines: list[str], tmp_path: Path) -> None:
    story = STORIES[name]
    write_mnist(tmp_path / "mnist", story.batches)
    run_story(story, lines, tmp_path, tmp_path, bars(np.array([3]))[0])

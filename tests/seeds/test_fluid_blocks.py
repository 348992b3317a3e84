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

import engine
from engine.vision.datasets import MNIST
from tests.seeds.fluid_blocks import LAUNCH, MISTAKES, NOT_PYTHON, PREAMBLE, STORIES, Story

ROOT = Path(__file__).resolve().parents[2]
LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
CHINESE = re.compile("[\u3000-\u9fff\uff00-\uffef]")
"""The prose of the document, also where it is indented below a list."""


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
    """Images of 28 by 28 pixels, each with the one of ten bars lit that its label says."""
    drawn = np.zeros((len(labels), 28, 28), np.uint8)
    for picture, label in zip(drawn, labels, strict=True):
        picture[2 * label + 2 : 2 * label + 4] = 255
    return drawn


def write_mnist(folder: Path, batches: int) -> None:
    """MNIST's files with ``batches`` of 64 images for training and two for testing."""
    folder.mkdir()
    for prefix, count in (("train", 64 * batches), ("t10k", 128)):
        labels = np.arange(count) % 10
        head = struct.pack(">IIII", 2051, count, 28, 28)
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(head + bars(labels).tobytes())
        head = struct.pack(">II", 2049, count)
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(head + labels.astype(np.uint8).tobytes())


def run_script(script: str, folder: Path, data: Path, options: tuple[str, ...] = ()) -> tuple[int, str, str]:
    """The status, output and messages of ``model-studio run`` on a script in a separate folder."""
    (folder / "script.py").write_text(script, encoding="utf-8")
    env = os.environ | {"PYTHONPATH": str(ROOT), "MODEL_STUDIO_DATA": str(data), "PYTHONIOENCODING": "utf-8"}
    env["PYTHONWARNINGS"] = (
        'ignore:"is not" with:SyntaxWarning'  # `batch_id is not 0`, as the document has it
    )
    command = [sys.executable, "-m", "studio", "run", *options, "script.py"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout, done.stderr


def run_story(story: Story, lines: list[str], folder: Path, data: Path, picture: np.ndarray) -> str:
    """What the story's script prints in a separate process; it must end well and complain of nothing."""
    (folder / "image").mkdir()
    Image.fromarray(picture).save(folder / "image" / "infer_3.png")
    status, out, err = run_script(script_of(story, lines), folder, data, story.options)
    assert re.fullmatch(story.warns, err), err
    assert status == 0
    logs = [log.read_text(encoding="utf-8") for log in folder.glob("mylog/workerlog.*")]
    assert len(logs) == (2 if story.options == LAUNCH else 0)
    for printed in logs or [out]:
        at = 0
        for pattern in story.out:
            found = re.compile(pattern).search(printed, at)
            assert found is not None, f"{pattern} does not follow in:\n{printed}"
            at = found.end()
    return out


def numbers(blocks: tuple[tuple[int, int], ...]) -> set[int]:
    return {n for first, last in blocks for n in range(first, last + 1)}


def test_every_python_block_of_the_document_is_in_a_story(lines: list[str]) -> None:
    """What is indented is code, unless it is prose, or listed as something else."""
    in_stories = set().union(*(numbers(story.blocks) for story in STORIES.values()))
    other = set().union(*(numbers(blocks) for blocks in NOT_PYTHON.values()))
    assert not in_stories & other
    indented = {n for n, line in enumerate(lines, 1) if line.startswith("    ") and line.strip()}
    prose = {n for n in indented - in_stories if CHINESE.search(lines[n - 1])}
    assert sorted(indented - in_stories - other - prose) == []
    assert all(lines[n - 1].strip() for blocks in NOT_PYTHON.values() for n in map(min, blocks))


@pytest.mark.parametrize("name", STORIES)
def test_story(name: str, lines: list[str], tmp_path: Path) -> None:
    story = STORIES[name]
    if story.options == LAUNCH:
        pytest.importorskip("mpi4py", reason="needs the extra distributed", exc_type=ImportError)
    write_mnist(tmp_path / "mnist", story.batches)
    printed = run_story(story, lines, tmp_path, tmp_path, bars(np.array([3]))[0])
    if story.options == LAUNCH:
        assert printed.endswith(" , num_nodes: 1 , node_ips: ['127.0.0.1'] , nranks: 2\n")
        first, second = (np.load(tmp_path / f"parameters.{rank}.npz") for rank in range(2))
        assert len(first.files) == 6
        for parameter in first.files:
            np.testing.assert_array_equal(first[parameter], second[parameter])
        assert (tmp_path / "save_dir" / "persistables.h5").is_file()


@pytest.mark.skipif(not LONG, reason="minutes of training: --long")
@pytest.mark.timeout(1800)
def test_the_real_digits_are_learned_as_the_document_says(
    lines: list[str], tmp_path: Path, data_dir: Path
) -> None:
    """An epoch of MNIST; the document's own accuracy is 0.979. The most usual 3 is read."""
    digits = MNIST(mode="test")
    threes = digits.images[digits.labels == 3].reshape(-1, 28, 28)
    three = threes[np.square(threes - threes.mean(0)).sum((1, 2)).argmin()]
    out = run_story(STORIES["evaluation and inference"], lines, tmp_path, data_dir, three)
    [(loss, accuracy)] = re.findall(r"Test avg_loss is: (\S+), acc is: (\S+)", out)
    whole = len(MNIST(mode="train")) == 60_000  # else a part of it lies here
    assert float(loss) < (0.08 if whole else 0.25)
    assert float(accuracy) > (0.975 if whole else 0.92)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_block_that_is_wrong_as_it_stands(name: str, lines: list[str], tmp_path: Path) -> None:
    """The error is Python's, at the document's own line, without lines of the engine."""
    blocks, says = MISTAKES[name]
    write_mnist(tmp_path / "mnist", 2)
    script = script_of(Story(blocks), lines).replace(PREAMBLE, PREAMBLE.rpartition(";")[0])
    status, _, err = run_script(script, tmp_path, tmp_path)
    assert status == 1
    assert re.search(says, err), err
    assert f"{ROOT}{os.sep}engine" not in err


def test_a_card_that_is_not_there_is_named_with_the_switch(lines: list[str], tmp_path: Path) -> None:
    """Without a GPU the chapter on several cards ends at its ``guard``; one line says how it runs."""
    if engine.is_compiled_with_cuda():
        pytest.skip("there is a GPU")
    story = STORIES["multi-card, on one"]
    write_mnist(tmp_path / "mnist", 2)
    status, _, err = run_script(script_of(story, lines), tmp_path, tmp_path)
    assert status == 1
    assert "line 402, in <module>\n    with fluid.dygraph.guard(place):\n" in err
    assert "--device cpu" in err.splitlines()[-1]
    assert err.count("\n") == 4  # the head, the user's line, the message
    assert f"{ROOT}{os.sep}engine" not in err


def test_the_pooling_of_the_prose_is_spelled_otherwise(lines: list[str], tmp_path: Path) -> None:
    [prose] = [line for line in lines if "`fluid.dygraph.Pool2d`" in line]
    name = re.findall(r"`(fluid\.dygraph\.Pool\w+)`", prose)[0]
    status, _, err = run_script(f"import paddle.fluid as fluid\n{name}\n", tmp_path, tmp_path)
    assert status == 1
    assert "did you mean paddle.fluid.dygraph.Pool2D?" in err
    assert err.count("\n") == 1

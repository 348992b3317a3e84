"""The documents' blocks run as they stand, in the script runner; what is wrong there fails and says so."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import run
from tests.seeds.table import BLOCKS, BY_NAME, Block

ROOT = Path(__file__).resolve().parents[2]
STORIES = {
    "000": ["000/network", "000/training", "000/saving", "000/predicting"],
    "003": [
        "003/imports",
        "003/version",
        "003/data",
        "003/network",
        "003/training",
        "003/saving",
        "003/loading",
        "003/exporting",
    ],
}


@pytest.fixture(scope="module")
def documents(seeds_dir: Path) -> dict[str, list[str]]:
    """The lines of each document by its number."""
    return {path.name[:3]: path.read_text(encoding="utf-8").splitlines() for path in seeds_dir.glob("*.txt")}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with MNIST's files: few images, each with one of ten bars lit, so that a training of
    ten epochs takes a second and a linear layer learns them. The first one for testing is a 7."""
    folder = tmp_path_factory.mktemp("data") / "mnist"
    folder.mkdir()
    for prefix, labels in (("train", np.arange(160) % 10), ("t10k", (np.arange(20) * 3 + 7) % 10)):
        drawn = np.zeros((len(labels), 28, 28), np.uint8)
        for picture, label in zip(drawn, labels, strict=True):
            picture[2 * label + 2 : 2 * label + 4] = 255
        head = struct.pack(">IIII", 2051, len(labels), 28, 28)
        (folder / f"{prefix}-images-idx3-ubyte").write_bytes(head + drawn.tobytes())
        head = struct.pack(">II", 2049, len(labels))
        (folder / f"{prefix}-labels-idx1-ubyte").write_bytes(head + labels.astype(np.uint8).tobytes())
    return folder.parent


def script_of(
    blocks: list[Block], documents: dict[str, list[str]], right: bool = True, ours: bool = True
) -> str:
    """The document with everything blanked but these blocks, so that line numbers are the document's; after
    it our own code of the last block."""
    lines = documents[blocks[0].name[:3]]
    script = [""] * len(lines)
    for block in blocks:
        source = lines[block.first - 1 : block.last]
        script[block.first - 1 : block.last] = textwrap.dedent("\n".join(source)).split("\n")
        if right:
            for number, text in block.instead.items():
                script[number - 1] = text or ""
            if block.before:
                assert script[block.first - 2] == ""
                script[block.first - 2] = block.before
    return "\n".join([*script, *([blocks[-1].then] if ours else []), ""])


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pictures: Path) -> Iterator[None]:
    """What a script changes in its process is put back."""
    monkeypatch.setenv("MODEL_STUDIO_DATA", str(pictures))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)  # pytest-qt has its own
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    main_module, backend = sys.modules["__main__"], engine.vision.get_image_backend()
    with engine.utils.unique_name.guard():
        yield
    sys.modules["__main__"] = main_module
    for name in [name for name in sys.modules if name == "paddle" or name.startswith("paddle.")]:
        del sys.modules[name]
    engine.vision.set_image_backend(backend)


def run_here(script: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    Path("script.py").write_text(script, encoding="utf-8")
    status = run.run_script("script.py")
    said = capsys.readouterr()
    return status, said.out, said.err


def run_apart(script: str, folder: Path, data: Path) -> tuple[int, str, str]:
    (folder / "script.py").write_text(script, encoding="utf-8")
    env = os.environ | {"PYTHONPATH": str(ROOT), "MODEL_STUDIO_DATA": str(data), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "studio", "run", "script.py"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout, done.stderr


def check_output(blocks: list[Block], out: str) -> None:
    at = 0
    for pattern in [pattern for block in blocks for pattern in block.out]:
        found = re.compile(pattern).search(out, at)
        assert found is not None, f"{pattern} does not follow in:\n{out}"
        at = found.end()


def with_needs(block: Block) -> list[Block]:
    return [*(BY_NAME[name] for name in block.needs), block]


def test_every_python_block_of_the_documents_has_a_row(documents: dict[str, list[str]]) -> None:
    """A fence or an indented block that no row covers would be a story never run."""
    for document in ("000", "001", "003"):
        lines = documents[document]
        fences = [n for n, line in enumerate(lines, 1) if line.startswith("```")]
        for begin, end in zip(fences[::2], fences[1::2], strict=True):
            rows = [b for b in BLOCKS if b.name[:3] == document and begin < b.first and b.last < end]
            assert rows, f"{document}: lines {begin + 1} to {end - 1}"
    for row in BLOCKS:
        text = documents[row.name[:3]][row.first - 1 : row.last]
        assert text[0].strip(), f"{row.name} begins with an empty line"
        assert not any(line.startswith("```") for line in text), row.name


def _static(block: Block) -> bool:
    return "static " in block.name


@pytest.mark.parametrize("block", [b for b in BLOCKS if "listing" not in b.mistake], ids=lambda b: b.name)
def test_block(
    block: Block,
    documents: dict[str, list[str]],
    alone: None,
    tmp_path: Path,
    pictures: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = script_of(with_needs(block), documents)
    if _static(block):  # a separate process: names are counted from 0, and the default Program is empty
        status, out, err = run_apart(script, tmp_path, pictures)
    else:
        status, out, err = run_here(script, capsys)
    assert (err, status) == ("", 0)
    check_output([block], out)
    for name in block.files:
        assert (tmp_path / name).is_file()


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.mistake], ids=lambda b: b.name)
def test_mistake_in_the_document(
    block: Block, documents: dict[str, list[str]], alone: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands it fails, names the mistake and, in a traceback, a line of the block."""
    script = script_of(with_needs(block), documents, right=False, ours=False)
    status, _, err = run_here(script, capsys)
    assert status == 1
    assert re.search(block.says, err.splitlines()[-1] if "Error" in block.says else err), err
    lines = [int(number) for number in re.findall(r'script\.py", line (\d+)', err)]
    assert any(block.first <= number <= block.last for number in lines), err
    if engine.in_dynamic_mode() is False:
        engine.disable_static()


@pytest.mark.parametrize("document", STORIES)
def test_story(document: str, documents: dict[str, list[str]], tmp_path: Path, pictures: Path) -> None:
    """All blocks of a document as one script, in a separate process."""
    blocks = [BY_NAME[name] for name in STORIES[document]]
    status, out, err = run_apart(script_of(blocks, documents), tmp_path, pictures)
    assert (err, status) == ("", 0)
    check_output(blocks, out)
    assert all((tmp_path / name).is_file() for block in blocks for name in block.files)
    if document == "000":
        losses = [float(value) for value in re.findall(r"loss is: (\S+)", out)]
        assert losses[-1] < 0.5 * losses[0]

"""The table of docs/guide/exit-codes.md, and where a case of it is set up."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from PIL import Image

from engine.files import space as disk
from engine.training.folder.checkpoint_keeper import CheckpointKeeper
from resources.locks import Lock

PAGE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "exit-codes.md"
MODEL = """
import engine
from engine import nn


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, x):
        return self.linear(engine.flatten(x, 1))
"""


@dataclass(frozen=True)
class Row:
    """A row of the table; in ``line`` three dots stand for any text, and an empty one for nothing."""

    command: str
    case: str
    code: int
    line: str

    def says(self, text: str) -> bool:
        """Whether ``text`` is what the row has; a frame around it and its line breaks do not count."""
        words = " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())
        parts = " ".join(self.line.split()).split("...")
        return re.fullmatch(r".*".join(map(re.escape, parts)), words) is not None


def rows() -> list[Row]:
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split(" | ")]
        if line.startswith("|") and len(cells) == 4 and cells[2].isdigit():
            found.append(Row(cells[0].strip("`"), cells[1], int(cells[2]), cells[3].strip("`")))
    return found


@dataclass
class Place:
    """Where a case is set up: a separate folder, data, a run and a saved model to be copied and spoilt."""

    tmp: Path
    data: Path
    patch: pytest.MonkeyPatch
    made: Path
    saved: Path
    around: AbstractContextManager[Any] = field(default_factory=nullcontext)

    def run(self) -> Path:
        """A copy of a finished run."""
        shutil.copytree(self.made, self.tmp / "run")
        return self.tmp / "run"

    def prefix(self) -> Path:
        """A copy of a saved model."""
        for file in self.saved.parent.iterdir():
            shutil.copy(file, self.tmp / file.name)
        return self.tmp / self.saved.name

    def image(self) -> Path:
        pixels = np.zeros((28, 28), np.uint8)
        pixels[8:11, 4:24] = 255
        Image.fromarray(pixels).save(self.tmp / "digit.png")
        return self.tmp / "digit.png"

    def train(self, *words: str | Path) -> list[str | Path]:
        return [*self.chosen(), "--out", self.tmp / "run", *words]

    def chosen(self) -> list[str | Path]:
        """The settings of a training that takes a moment."""
        return ["train", "--data", self.data, "--model", "linear", "--epochs", "2", "--lr", "0.01"]

    def model(self, change: Callable[[str], str] = str) -> str:
        (self.tmp / "net.py").write_text(change(MODEL))
        return f"{self.tmp / 'net.py'}:Net"

    def untrusted_run(self) -> Path:
        """A run with code that another installation wrote."""
        run = self.run()
        (run / "source").mkdir()
        (run / "source" / "net.py").write_text(MODEL)
        (run / "source" / "net.py").touch()
        return run

    def full_disk(self, free: float = 0) -> None:
        self.patch.setattr(disk, "free_bytes", lambda folder: free)

    def at_checkpoint(self, reason: str, act: Callable[[], object]) -> None:
        """Let ``act`` happen before the first checkpoint that is written for ``reason``."""
        real, done = CheckpointKeeper.write, []

        def write(keeper: CheckpointKeeper, tree: dict[str, Any], why: str, best: bool) -> None:
            if why == reason and not done:
                done.append(why)
                act()
            real(keeper, tree, why, best)

        self.patch.setattr(CheckpointKeeper, "write", write)


# Where the tests run under nohup a hangup is ignored, and stays so.
HANGUP = getattr(signal, "SIGHUP", signal.SIGTERM)
if signal.getsignal(HANGUP) == signal.SIG_IGN:
    HANGUP = signal.SIGTERM

Words: TypeAlias = list[str | Path]
CASES: dict[tuple[str, str], Callable[[Place], Words]] = {}


def case(command: str, text: str) -> Callable[[Callable[[Place], Words]], Callable[[Place], Words]]:
    def add(setup: Callable[[Place], Words]) -> Callable[[Place], Words]:
        assert (command, text) not in CASES
        CASES[command, text] = setup
        return setup

    return add


class Released(AbstractContextManager[None]):
    """Gives a lock back at the end of the block."""

    def __init__(self, lock: Lock) -> None:
        self._lock = lock

    def __exit__(self, *_: object) -> None:
        self._lock.release()

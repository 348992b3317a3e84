"""Trains on a table, a regression, sequences and a folder of images, and saves the pages: python
docs/own_data_tour.py DIR.

The data is generated. Each kind is dropped on the window, trained with what is suggested, exported and used
for a prediction; the seconds from the drop to the trained model are printed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from docs.tour import SIZE, Tour, check


def table(path: Path, numbers: bool) -> Path:
    """Flats with their size, rooms and town, and their rent or whether they are let."""
    drawn = np.random.default_rng(5)
    lines = ["id,size (m2),rooms,town," + ("rent (EUR)" if numbers else "let")]
    for number in range(400):
        size, rooms = drawn.uniform(20, 120), int(drawn.integers(1, 6))
        town = ("Bonn", "Essen", "Ulm")[int(drawn.integers(3))]
        rent = 9 * size + 40 * rooms + {"Bonn": 250, "Essen": 50, "Ulm": 150}[town] + drawn.normal(0, 30)
        target = f"{rent:.0f}.5" if numbers else ("yes" if rent < 950 else "no")
        lines.append(f"{number},{size:.1f},{'' if number % 50 == 7 else rooms},{town},{target}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def sequences(path: Path) -> Path:
    """Waves of three shapes, of 20 to 40 steps."""
    drawn = np.random.default_rng(6)
    y, lengths = drawn.integers(0, 3, 600), drawn.integers(20, 41, 600)
    x = np.zeros((600, 40, 1), np.float32)
    for row, label, length in zip(x, y, lengths, strict=True):
        turns = (0.08 * np.arange(length) + drawn.random()) % 1.0
        wave = (np.sin(2 * np.pi * turns), np.sign(0.5 - turns), 2 * turns - 1)[label]
        row[:length, 0] = wave + drawn.normal(0, 0.15, length)
    np.savez(path, x=x, y=y, lengths=lengths)
    return path


def images(folder: Path) -> Path:
    """Photographs would be better: discs, squares and crosses of several sizes."""
    from PIL import Image, ImageDraw

    drawn = np.random.default_rng(7)
    for name in ("cross", "disc", "square"):
        (folder / name).mkdir(parents=True)
        for number in range(80):
            width, height = (int(side) for side in drawn.integers(60, 120, 2))
            image = Image.new("RGB", (width, height), tuple(int(v) for v in drawn.integers(0, 90, 3)))
            draw, half = ImageDraw.Draw(image), int(drawn.integers(14, 26))
            x, y = int(drawn.integers(half, width - half)), int(drawn.integers(half, height - half))
            color = tuple(int(v) for v in drawn.integers(150, 256, 3))
            if name == "disc":
                draw.ellipse((x - half, y - half, x + half, y + half), fill=color)
            elif name == "square":
                draw.rectangle((x - half, y - half, x + half, y + half), fill=color)
            else:
                draw.line((x - half, y, x + half, y), fill=color, width=7)
                draw.line((x, y - half, x, y + half), fill=color, width=7)
            image.save(folder / name / f"{number}.png")
    return folder


class OwnDataTour(Tour):
    """Each kind of data from the drop to a prediction."""

    def __init__(self, folder: Path, work: Path, size: str) -> None:
        super().__init__(folder, 0, 5, size)
        self._work = work

    def run(self) -> None:
        """All kinds."""
        self.studio.show()
        self.settle()
        work = self._work
        kinds: dict[str, Callable[[], Path]] = {
            "table": lambda: table(work / "flats.csv", numbers=False),
            "regression": lambda: table(work / "rents.csv", numbers=True),
            "sequences": lambda: sequences(work / "waves.npz"),
            "images": lambda: images(work / "shapes"),
        }
        for name, create in kinds.items():
            self._kind(name, create())
        self._label(work / "shapes", work / "photos")

    def _label(self, source: Path, folder: Path) -> None:
        """The same images without class folders, 24 of which get their label."""
        session, studio = self.session, self.studio
        folder.mkdir()
        files = np.random.default_rng(8).permutation(sorted(source.glob("*/*.png")))
        for number, path in enumerate(files):
            path.rename(folder / f"IMG_{number:04}.png")
        studio.window.files_dropped.emit([str(folder)])
        self.wait(lambda: len(session.labelling.thumbnails) > 0, "the images")
        page = studio.data_page.labelling
        for name in ("cross", "disc", "square"):
            QTest.keyClicks(page.name, name)
            QTest.keyClick(page.name, Qt.Key.Key_Return)
        for path in files[:24]:
            QTest.keyClicks(page.tiles, str(1 + ("cross", "disc", "square").index(path.parent.name)))
        self.settle(8.0)  # what was said of the dropped folder goes
        self.save("own-labelling")

    def _kind(self, name: str, path: Path) -> None:
        session, studio = self.session, self.studio
        begin = time.monotonic()
        studio.window.files_dropped.emit([str(path)])
        self.wait(lambda: session.train.settings.data == str(path), "the dropped data")
        if name in ("table", "regression"):
            session.change_setting("label_name", "let" if name == "table" else "rent (EUR)")
        self._show("data")
        self.wait(lambda: session.data.samples is not None and session.data.facts is not None, "the samples")
        self.settle(1.0)
        self.save(f"own-{name}-data")
        self._show("train")
        studio.actions.trigger("start")
        self.wait(lambda: session.train.busy, "the start")
        self.wait(lambda: session.train.state == "finished", "the end of the training", 200)
        print(f"{name}: {time.monotonic() - begin:.1f} s from the drop to the trained model", flush=True)
        self.settle(0.5)
        self.save(f"own-{name}-train")
        self._show("export")
        studio.actions.trigger("export")
        self.wait(lambda: session.export.state in ("done", "failed") and not session.busy(), "the export", 90)
        studio.export_page.predict_button.click()
        self.wait(lambda: session.predict.model is not None, "the exported model")
        self.settle(1.0)
        self.save(f"own-{name}-predict")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the images."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the images go")
    parser.add_argument("--size", default=SIZE, metavar="WIDTHxHEIGHT", help="of the window")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="model-studio-tour-", ignore_cleanup_errors=True) as home:
        for variable, name in (("XDG_CONFIG_HOME", "config"), ("XDG_DATA_HOME", "data")):
            os.environ[variable] = os.path.join(home, name)
        for name in ("APPDATA", "LOCAL_APPDATA"):
            os.environ[f"WIN_PD_OVERRIDE_{name}"] = os.path.join(home, "data")
        tour = OwnDataTour(options.folder, Path(home), options.size)
        try:
            tour.run()
        finally:
            tour.studio.close()
    check(tour.images)
    return 0


if __name__ == "__main__":
    sys.exit(main())

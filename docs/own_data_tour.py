"""Trains on a table, a regression, sequences and a folder of images, and saves the pages: python
docs/own_data_tour.py DIR.

The data is generated. Each kind is dropped on the window, trained with what is suggested, exported and used
for a prediction; the seconds from the drop to the trained model are printed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from docs.own_data import images, sequences, table
from docs.tour import SIZE, Tour, check, use_home


class OwnDataTour(Tour):
    """Each kind of data from the drop to a prediction."""

    def __init__(self, folder: Path, work: Path, size: str, language: str) -> None:
        super().__init__(folder, 0, 5, size, language=language)
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
        before, tools = session.predict.model, studio.predict.samples.tools
        studio.export_page.predict_button.click()
        self.wait(lambda: session.predict.model not in (None, before), "the exported model")
        self.settle(1.0)
        QTest.mouseClick(tools.next_button, Qt.MouseButton.LeftButton)
        self.wait(lambda: bool(tools.words.text()), "the test sample")
        self.wait(lambda: bool(session.predict.ranking or session.predict.numbers), "a prediction")
        self.settle(1.0)
        self.save(f"own-{name}-predict")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the images."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the images go")
    parser.add_argument("--size", default=SIZE, metavar="WIDTHxHEIGHT", help="of the window")
    parser.add_argument("--language", default="en", metavar="NAME", help="of the window: en or zh_CN")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="model-studio-tour-", ignore_cleanup_errors=True) as home:
        use_home(home)
        tour = OwnDataTour(options.folder, Path(home), options.size, options.language)
        try:
            tour.run()
        finally:
            tour.studio.close()
    check(tour.images)
    return 0


if __name__ == "__main__":
    sys.exit(main())

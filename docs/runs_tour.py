"""Saves images of every page with many runs: python docs/runs_tour.py DIR.

A sweep of 24 trials of the built-in digits, a table with classes and a regression are trained first, by the
command line. Then every page shows one of each, and the page Runs each of its diagrams; at each size, light
and dark. With ``--runs FOLDER`` the runs are stored there, and the next tour starts with them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from docs.own_data import table
from docs.tour import Tour, check, use_home

SIZES = ("1280x800", "1000x650", "1920x1080")
GRID = ("lr=0.0003,0.001,0.003,0.01,0.03,0.1", "batch=32,64,128,256")
OF_ONE = {"digits": "sweep-001/trial-009", "classes": "flats-001", "regression": "rents-001"}
PARTS = (*OF_ONE, "runs")
DIAGRAMS = ("parallel", "scatter", "heat map", "importance")


def make_runs(folder: Path) -> None:
    """Train what is shown, in this folder: what it has already is not trained again."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "studio"]
    if not (folder / "sweep-001").exists():
        grid = [part for each in GRID for part in ("--param", each)]
        common = ["--model", "lenet", "--samples", "1500", "--epochs", "2", "--jobs", "2"]
        subprocess.run([*command, "sweep", *grid, *common, "--out", str(folder / "sweep-001")], check=True)
    for name, label in (("flats", "let"), ("rents", "rent (EUR)")):
        if not (folder / f"{name}-001").exists():
            path = table(folder.parent / f"{name}.csv", numbers=name == "rents")
            data = ["--data", str(path), "--label-name", label]
            subprocess.run([*command, "train", *data, "--out", str(folder / f"{name}-001")], check=True)


class RunsTour(Tour):
    """The pages with many runs, in several sizes."""

    def __init__(
        self, folder: Path, runs: Path, sizes: Sequence[str], parts: Sequence[str], language: str
    ) -> None:
        super().__init__(folder, 1500, 2, sizes[0], runs, language)
        self._sizes, self._parts = sizes, parts

    def run(self) -> None:
        """Every page, in each size."""
        self.studio.show()
        self.wait(lambda: len(self.session.runs) > 25, "the runs")
        self.settle(1.0)
        for size in self._sizes:
            width, height = (int(part) for part in size.split("x"))
            self.studio.window.resize(width, height)
            self.settle()
            self._pages(size)

    def _pages(self, size: str) -> None:
        for part, run in OF_ONE.items():
            if part in self._parts:
                self._of_run(run, f"{size}-{part}")
        if "runs" in self._parts:
            self._many(size)

    def _many(self, size: str) -> None:
        """The page Runs with each diagram, and the curves of all trials."""
        session = self.session
        self._show("runs")
        trials = [run.path for run in session.runs if "sweep-001" in run.path]
        session.runs_table.set_filter("model = lenet")
        session.runs_selection.select(trials[8:13])
        for kind in DIAGRAMS:
            session.diagrams.choose(diagram=kind)
            self.wait(lambda: not self.studio.diagrams.busy, "the diagram")
            self.settle(0.5)
            self.save(f"{size}-runs-{kind.replace(' ', '-')}")
            self.save(f"{size}-{kind.replace(' ', '-')}", self.studio.diagrams.panel)
        self.studio.window.project.runs.choose(*trials)
        self._show("train")
        self.settle(1.0)
        self.save(f"{size}-many-curves")

    def _of_run(self, name: str, images: str) -> None:
        """Every page with this run selected."""
        session = self.session
        (path,) = (run.path for run in session.runs if run.path.endswith(name))
        self._show("train")
        self.studio.window.project.runs.choose(path)
        self.wait(lambda: session.selected_run == path, "the selection")
        for page in ("data", "code", "train", "graph", "export"):
            self._show(page)
            self.settle(1.0)
            self.save(f"{images}-{page}")
        self._show("predict")
        self.wait(lambda: session.predict.model is not None, "the weights of the run")
        QTest.mouseClick(self.studio.predict.samples.tools.next_button, Qt.MouseButton.LeftButton)
        self.settle(1.5)
        self.save(f"{images}-predict")


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the images."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the images go")
    parser.add_argument("--runs", type=Path, metavar="FOLDER", help="where the runs go; a temporary folder")
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="WIDTHxHEIGHT", help="of the window")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS, metavar="PART", help="shown")
    parser.add_argument("--language", default="en", metavar="NAME", help="of the window: en or zh_CN")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="model-studio-tour-", ignore_cleanup_errors=True) as home:
        use_home(home)
        runs = (options.runs or Path(home) / "work" / "runs").resolve()
        make_runs(runs)
        tour = RunsTour(options.folder, runs, options.sizes, options.parts, options.language)
        try:
            tour.run()
        finally:
            tour.studio.close()
    check(tour.images)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The report of a run: complete, right, one file that loads and runs nothing, whatever the run is called."""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.core.errors import DataError
from engine.training import TrainingConfig, TrainingRun
from engine.training.measuring.predictions import PredictionsFolder
from resources.quantities import count, loss, percent
from studio.session.runs.report import write_report
from studio.session.runs.report.charts import curves, matrix
from studio.session.runs.report.report_data import Series
from studio.session.runs.run_notes import RunNotes, write_notes

EVIL = "<script>alert(1)<script>&\"'"


class Reader(HTMLParser):
    """What a browser would make of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "img", "br"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._inside.pop()

    def handle_data(self, data: str) -> None:
        if self._inside and self._inside[-1] != "style":
            self.texts.append(data)

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs; the second differs in its rate and has a name that must stay a text."""
    folder = tmp_path_factory.mktemp("runs")
    first, second = folder / "linear-001", folder / EVIL.replace("/", "")
    config = TrainingConfig("digits", model="linear", batch_size=100, epochs=2, samples=300, out=str(first))
    TrainingRun(config).run()
    TrainingRun(config.changed(out=str(second), learning_rate=0.02)).run()
    write_notes(second, RunNotes(name=EVIL))
    return first, second


def read(run: Path, out: Path) -> tuple[Reader, str]:
    write_report(run, out)
    text = out.read_text(encoding="utf-8")
    return Reader(text), text


def test_a_report_loads_and_runs_nothing(runs: tuple[Path, Path], tmp_path: Path) -> None:
    page, text = read(runs[1], tmp_path / "report.html")
    assert EVIL in page.texts  # the name is a text, in the title and the heading
    assert not page.of("script")
    assert {tag for tag, _ in page.tags} & {"link", "iframe", "object", "embed", "form", "a"} == set()
    assert all(str(image["src"]).startswith("data:image/png;base64,") for image in page.of("img"))
    assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)
    without = re.sub(r"data:image/png;base64,[A-Za-z0-9+/=]+", "", text)
    assert not re.search(r"https?:|//[a-z]|url\(|@import", without)
    policy = next(meta["content"] for meta in page.of("meta") if "http-equiv" in meta)
    assert str(policy).startswith("default-src 'none'")
    assert "prefers-color-scheme:dark" in text
    assert "@media print" in text


def test_a_report_reports_what_the_run_did(runs: tuple[Path, Path], tmp_path: Path) -> None:
    page, text = read(runs[1], tmp_path / "report.html")
    lines = [json.loads(line) for line in (runs[1] / "journal.jsonl").read_text().splitlines()]
    epoch = [line for line in lines if line["event"] == "epoch"][-1]
    assert percent(epoch["validation_accuracy"]) in page.texts
    assert loss([line for line in lines if line["event"] == "step"][-1]["loss"]) in page.texts
    # What differs from the run before, and only that, is marked.
    changed = re.findall(r'<tr class=changed><th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td>', text)
    assert changed == [("Learning rate", "0.02", "0.001")]
    assert "in Linear" in page.texts
    cells = [int(cell or 0) for cell in re.findall(r'<td class="c[^"]*" style="[^"]*">(\d*)</td>', text)]
    assert np.array(cells).reshape(10, 10).tolist() == epoch["confusion"]
    predictions = PredictionsFolder(runs[1]).read(epoch["step"])
    assert predictions is not None
    images = [str(image["src"]).partition(",")[2] for image in page.of("img")]
    assert len(images) == len(predictions.pictures) == 40
    for data, image in zip(images, predictions.pictures, strict=True):
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))), image)
    assert len(page.of("svg")) == 2
    assert any(each.startswith("model-studio") for each in page.texts)


def test_a_report_of_the_first_run_has_nothing_to_compare(runs: tuple[Path, Path], tmp_path: Path) -> None:
    _, text = read(runs[0], tmp_path / "report.html")
    assert "class=changed" not in text


def test_no_run_no_report(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f"run not found: {tmp_path}"):
        write_report(tmp_path, tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_a_run_that_failed_at_once_has_a_report(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    started: dict[str, Any] = {
        "event": "started",
        "time": 1.0,
        "config": {"model": EVIL, "data": "digits"},
        "classes": [EVIL],
        "corrections": {"relabelled": EVIL},
    }
    layers = {
        "event": "layers",
        "time": 1.5,
        "step": 1,
        "parameters": [
            {"name": EVIL, "size": 7850, "norm": 1.5, "gradient_norm": "NaN", "ratio": 0.001},
            3,
            {"name": 4},
        ],
    }
    alert = {"event": "layer_alert", "time": 1.5, "step": 1, "layer": "a", "message": "a, step 1: too small"}
    failed = {"event": "failed", "time": 2.0, "message": EVIL, "step": 0}
    lines = (json.dumps(event) + "\n" for event in (started, layers, alert, failed))
    (run / "journal.jsonl").write_text("".join(lines))
    page, _ = read(run, tmp_path / "report.html")
    assert not page.of("script")
    assert page.texts.count(EVIL) >= 3
    at = page.texts.index(count(7850))
    assert page.texts[at : at + 4] == [count(7850), "1.5", "nan", "0.001"]
    assert "a, step 1: too small" in page.texts


def test_a_report_shows_an_integer_of_400_digits(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    started = {
        "event": "started",
        "time": 1.0,
        "config": {"model": "linear", "data": "digits"},
        "classes": ["a"],
    }
    huge = 10**400
    epoch = {"event": "epoch", "epoch": 0, "step": 1, "seconds": huge, "validation_accuracy": huge}
    events = (started, epoch, {"event": "finished", "step": 1, "seconds": -huge})
    (run / "journal.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    page, _ = read(run, tmp_path / "report.html")
    row = page.texts.index("epoch") + 6
    assert page.texts[row : row + 6] == ["0", "1", "–", "–", "–", "–"]


def test_curves_keep_what_a_long_run_did() -> None:
    xs = [float(x) for x in range(100_000)]
    ys = [1.0] * 100_000
    ys[54_321] = 9.0  # one step among many
    drawn = curves("Loss", [Series("train", xs, ys)])
    assert len(drawn) < 60_000
    band = re.search(r'<polygon class="band s0" points="([^"]*)"', drawn)
    assert band is not None
    heights = [float(point.split(",")[1]) for point in band[1].split()]
    assert min(heights) < 30 < 200 < max(heights)  # the outlier reaches the top
    assert curves("Loss", []) == ""


def test_many_classes_are_an_image_and_their_worst_mistakes() -> None:
    counts = np.diag(np.full(100, 50))
    counts[7, 93] = 21
    names = [f"c{number}" for number in range(100)]
    page = Reader(matrix(counts, names))
    assert len(page.of("img")) == 1
    assert page.texts[3:] == ["c7", "c93", "21"]


def test_the_command_writes_a_pdf_where_the_name_ends_so(runs: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "report.PDF"
    done = subprocess.run(
        [sys.executable, "-m", "studio", "report", str(runs[1]), "--out", str(out), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["bytes"] == out.stat().st_size
    assert out.read_bytes().startswith(b"%PDF")

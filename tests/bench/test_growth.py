"""The bench of growth measures each size, finds exponents, and draws them."""

import json
import sys
from itertools import pairwise, product
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from bench import growth
from bench.contest import Contender
from bench.growth_table import AXES, cliffs, exponent, work
from bench.results import Result


def test_the_exponent_is_the_slope_in_logarithms() -> None:
    assert exponent([1.0, 10.0, 100.0], [5.0, 50.0, 500.0]) == pytest.approx(1.0)
    assert exponent([1.0, 4.0, 16.0], [3.0, 6.0, 12.0]) == pytest.approx(0.5)
    for works, seconds in (([1.0], [1.0]), ([2.0, 2.0], [1.0, 3.0]), ([1.0, 2.0], [1.0])):
        with pytest.raises(ValueError, match="exponent: "):
            exponent(works, seconds)


def test_work_counts_three_products_of_each_weight() -> None:
    assert work("batch", 4) == 6 * 4 * (3 * 128 * 128 + 128 * 10)
    assert work("depth", 2) == 6 * 64 * (64 * 64 + 64 * 10)
    assert growth.row_of("width", 32).job.sizes == (32, 32, 32, 32, 10)
    assert [max(sizes) for sizes in AXES.values()] == [1024, 1024, 64]


def test_a_cliff_rises_above_the_line_of_its_neighbours() -> None:
    def found(*times: float) -> dict[int, float]:
        sizes = (64, 128, 256, 512)
        return cliffs(
            "batch", [(n, Result("engine", seconds=[t])) for n, t in zip(sizes, times, strict=True)]
        )

    assert found(1.0, 2.0, 4.0, 8.0) == {}
    assert found(1.0, 1.0, 1.0, 1.9) == {}
    assert found(1.0, 4.0, 4.0, 8.0) == {128: pytest.approx(2.0)}
    assert found(1.0, 1.0, 4.0, 4.0) == {256: pytest.approx(2.0)}  # a step upwards
    assert found(1.0, 2.0, 4.0, 14.0) == {512: pytest.approx(1.75)}  # more than in proportion to work
    for axis in ("batch", "depth", "width"):
        assert all(b == 2 * a for a, b in pairwise(AXES[axis]))


def test_an_axis_becomes_figures_and_an_image(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str], qapp: object
) -> None:
    def fake(milliseconds: str) -> Contender:
        return Contender(sys.executable, "tests.bench.fake_contender", (milliseconds, "0.5"))

    found = {"engine static": fake("2"), "engine plan": fake("1"), "torch eager": fake("4")}
    monkeypatch.setattr(growth, "contenders", lambda peer, paddle: found)
    monkeypatch.setattr(growth, "AXES", {"batch": (1, 4)})
    file, png = tmp_path / "growth.json", tmp_path / "growth.png"
    chosen = ["--contenders", "engine static,torch eager", "--rounds", "2", "--seconds", "0.01"]
    growth.main([*chosen, "--axes", "batch", "--json", str(file), "--image", str(png)])
    lines = capfd.readouterr().out.splitlines()
    assert lines[2].split() == ["batch", "1", "4", "exponent", "of", "the", "last", "3"]
    assert lines[3].split() == ["engine", "static", "2", "(0.50)", "2", "(0.50)", "0.00", "0.00"]
    assert lines[4].split() == ["torch", "eager", "4", "4", "0.00", "0.00"]
    assert json.loads(file.read_text(encoding="utf-8"))["axes"]["batch"].keys() == {"1", "4"}
    image = QImage(str(png))
    assert image.width() >= 800
    places = product(range(0, image.width(), 2), range(0, image.height(), 2))
    shades = {image.pixelColor(*place).name() for place in places}
    assert {"#ffffff", "#0072b2", "#009e73"} <= shades

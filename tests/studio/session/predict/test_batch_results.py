"""The table of many predictions: classes with confidence, the true ones, and what could not be predicted."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from PIL import Image

from studio.session.predict import batch_results
from studio.session.predict.batch_predictions import Item, items_in, only_input
from studio.session.predict.batch_results import BatchResults, ResultRow
from tests.studio.session.predict.test_batch_predictions import model


def item(name: str, *true: str | float) -> Item:
    return Item(name, lambda: np.zeros(1), true)


def test_classes_are_compared_by_name_or_number() -> None:
    results = BatchResults(model([-1, 2]))
    for name, scores, *true in (("a", [0.9, 0.1], "dark"), ("b", [0.8, 0.2], "1"), ("c", [0.4, 0.6], "?")):
        results.take(item(name, *true), np.array(scores), "")
    results.take(item("d", "dark"), None, "d: no image")
    assert results.rows[:3] == [
        ResultRow("a", ("dark",), 0.9, ("dark",)),
        ResultRow("b", ("dark",), 0.8, ("bright",)),
        ResultRow("c", ("bright",), 0.6, ()),
    ]
    assert (results.rows[3].problem, math.isnan(results.rows[3].confidence)) == ("d: no image", True)
    assert (results.total, results.known, results.correct) == (3, 2, 1)


def test_only_the_first_rows_are_held(monkeypatch) -> None:
    monkeypatch.setattr(batch_results, "MOST_SHOWN", 2)
    results = BatchResults(model([-1, 2]))
    for number in range(5):
        results.take(item(str(number), "dark"), np.array([1.0, 0.0]), "")
    assert ([row.name for row in results.rows], results.correct) == (["0", "1"], 5)


def test_the_sub_folder_of_an_image_is_its_class(tmp_path: Path) -> None:
    (tmp_path / "dark").mkdir()
    for name in ("dark/a.png", "b.png"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    items = items_in(tmp_path, only_input(model([-1, 3, 8, 8])))
    assert {each.name: each.true for each in items} == {"b.png": (), str(Path("dark") / "a.png"): ("dark",)}

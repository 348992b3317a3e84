"""Predictions: kept at each evaluation, right, small, and not believed when they are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError, FormatError
from engine.files.native.container import write_container
from engine.training.data import load_data
from engine.training.measuring import predictions as module
from engine.training.measuring.evaluation import evaluate
from engine.training.measuring.predictions import (
    KIND,
    VERSION,
    Predictions,
    PredictionsFolder,
)
from engine.training.measuring.shown_samples import MOST_STEPS, display_images, image_bytes, shown_samples
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.prepared import Prepared


def batches(count: int, classes: int = 3) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """Images whose first pixels are the scores, in batches of 4; and the scores and labels."""
    random = np.random.default_rng(5)
    scores = random.standard_normal((count, classes)).astype(np.float32)
    labels = random.integers(0, classes, count)
    images = np.zeros((count, 1, 2, classes), np.float32)
    images[:, 0, 0] = scores
    images[:, 0, 1] = np.arange(count)[:, None] / 255.0
    made = [
        tuple(
            SimpleNamespace(numpy=lambda part=part: part)
            for part in (images[at : at + 4], labels[at : at + 4, None])
        )
        for at in range(0, count, 4)
    ]
    return made, scores, labels


def measured(count: int = 10) -> tuple[Predictions, np.ndarray, np.ndarray]:
    made, scores, labels = batches(count)
    result = evaluate(lambda images: images.numpy()[:, 0, 0], made, 3)
    assert result is not None
    assert result.predictions is not None
    return result.predictions, scores, labels


@pytest.mark.parametrize("order", ["worst", "unsure", "sure", "data"])
@pytest.mark.parametrize(
    ("label", "answer", "right", "low", "high"),
    [
        (-1, -1, None, 0.0, 1.0),
        (1, -1, None, 0.0, 1.0),
        (-1, 2, False, 0.0, 1.0),
        (0, 0, True, 0.0, 1.0),
        (-1, -1, None, 0.4, 0.6),
        (2, -1, False, 0.5, 1.0),
    ],
)
def test_samples_are_filtered(
    label: int, answer: int, right: bool | None, low: float, high: float, order: str
) -> None:
    found, scores, labels = measured(60)
    odds = np.exp(scores.astype(np.float64))
    shares = odds / odds.sum(axis=1, keepdims=True)
    answers = scores.argmax(axis=1)
    expected = [
        place
        for place in range(60)
        if label in (-1, labels[place])
        and answer in (-1, answers[place])
        and right in (None, labels[place] == answers[place])
        and low <= shares[place, answers[place]] <= high
    ]
    keys = {
        "worst": lambda place: shares[place, labels[place]],
        "unsure": lambda place: shares[place, answers[place]],
        "sure": lambda place: -shares[place, answers[place]],
        "data": lambda place: place,
    }
    expected.sort(key=keys[order])
    assert found.matching(label, answer, right, low, high, order).tolist() == expected


def test_the_ends_of_a_range_are_in_it() -> None:
    found, _, _ = measured(1)
    found = replace(found, of_answer=np.float32([0.9]))
    assert found.matching(low=0.9).tolist() == found.matching(high=0.9).tolist() == [0]
    assert found.matching(low=0.91).tolist() == []
    assert replace(found, of_answer=np.float32([np.nan])).matching(low=0.1).tolist() == []
    with pytest.raises(ArgumentError, match="no such order: 'best'"):
        found.matching(order="best")


def test_stored_predictions_are_the_networks() -> None:
    found, scores, labels = measured(50)
    # Worked out again, image by image, without the code of the evaluation.
    odds = np.exp(scores.astype(np.float64))
    shares = odds / odds.sum(axis=1, keepdims=True)
    for place in range(50):
        answer = int(np.argmax(scores[place]))
        assert (found.labels[place], found.answers[place]) == (labels[place], answer)
        assert found.of_truth[place] == pytest.approx(shares[place, labels[place]], rel=1e-5)
        assert found.of_answer[place] == pytest.approx(shares[place, answer], rel=1e-5)
        assert found.probabilities[place] == pytest.approx(shares[place], abs=1e-3)
    worst = np.argsort([shares[place, labels[place]] for place in range(50)])[: len(found.hardest)]
    assert found.hardest.tolist() == worst.tolist()
    # The second line of an image holds its place.
    assert [image[1, 0] for image in found.pictures] == worst.tolist()


def test_cells_are_those_of_the_matrix() -> None:
    made, _, labels = batches(50)
    result = evaluate(lambda images: images.numpy()[:, 0, 0], made, 3)
    assert result is not None
    found = result.predictions
    assert found is not None
    assert found.confusion().tolist() == result.confusion.tolist()
    seen: list[int] = []
    for true in range(3):
        for answer in range(3):
            places = found.cell(true, answer)
            assert len(places) == result.confusion[true, answer]
            assert set(labels[places]) <= {true}
            assert found.of_truth[places].tolist() == sorted(found.of_truth[places].tolist())
            seen += places.tolist()
    assert sorted(seen) == list(range(50))


def test_written_and_read(tmp_path: Path) -> None:
    found, _, _ = measured()
    folder = PredictionsFolder(tmp_path)
    assert folder.read(7) is None
    folder.write(7, found, best_step=7)
    read = folder.read(7)
    assert read is not None
    for name, value in vars(found).items():
        np.testing.assert_array_equal(getattr(read, name), value)
    assert not (tmp_path / "predictions" / "step-00000008.h5").exists()


def test_a_run_deleted_while_it_is_read_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "is_file", lambda self: True)  # as it was a moment before
    assert module.PredictionsFolder(tmp_path).read(4) is None


def test_old_ones_go_where_they_are_too_many(tmp_path: Path) -> None:
    found, _, _ = measured()
    folder = PredictionsFolder(tmp_path)
    folder.write(1, found, 1)
    size = folder.entries()[0][1].stat().st_size
    most = int(3.5 * max(size, module.estimated_bytes({"step": 1, **vars(found)})))
    for step in range(2, 40):
        folder.write(step, found, best_step=5 if step >= 5 else step, most=most)
        assert sum(path.stat().st_size for _, path in folder.entries()) <= most
    steps = [step for step, _ in folder.entries()]
    assert steps[0] == 5  # the best
    assert steps[-1] == 39
    folder.remove_after(5)
    assert [step for step, _ in folder.entries()] == [5]
    folder.remove_after(-1)
    assert not (tmp_path / "predictions").exists()


def test_many_classes_keep_two_probabilities_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_PROBABILITIES", 29)
    found, _, _ = measured(10)
    assert found.probabilities.shape == (0, 3)
    assert found.confusion().sum() == 10


@pytest.mark.parametrize(
    "change",
    [
        {"labels": np.zeros(3, np.uint32)},
        {"answers": np.full(10, 3, np.uint32)},
        {"hardest": np.array([-1] * 10)},
        {"pictures": np.zeros((9, 2, 3), np.uint8)},
        {"pictures": np.zeros((10, 2, 3, 4), np.uint8)},
        {"pictures": np.zeros((10, 4, 9), np.float32)},
        {"pictures": [[["a", 1]]] * 10},
        {"pictures": ["ab"] * 10},
        {"of_truth": np.zeros(10)},
        {"probabilities": None},
    ],
)
def test_other_values_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    found, _, _ = measured()
    folder = PredictionsFolder(tmp_path)
    folder.write(1, found, 1)
    write_container(folder.entries()[0][1], KIND, VERSION, {"step": 1, **vars(found), **change})
    with pytest.raises(FormatError, match=r"step-00000001\.h5: it does not hold the predictions"):
        folder.read(1)


def test_images_of_any_kind() -> None:
    grey = image_bytes(np.full((1, 1, 2, 4), 0.5, np.float32))
    assert (grey.shape, grey[0, 0, 0]) == ((1, 2, 4), 128)
    colour = np.stack([np.full((2, 4), share, np.float32) for share in (0.0, 0.5, 2.0)])
    assert image_bytes(colour[None])[0, 1, 3].tolist() == [0, 128, 255]
    assert image_bytes(np.zeros((1, 5), np.float32)).shape == (1, 1, 5)


def test_normalised_images_are_shown_as_they_lie_there(bars: Path) -> None:
    plain = load_data(str(bars)).test
    changed = load_data(str(bars), options=DataOptions(normalize="statistics")).test
    assert not np.array_equal(plain[3][0], changed[3][0])
    expected = np.rint(plain[3][0][0] * 255).astype(np.uint8)
    for data in (plain, changed):
        assert np.array_equal(display_images(data, [3])[0], expected)


def test_rows_of_a_table_are_shown_with_names_words_and_dates_the_unusual_first(tmp_path: Path) -> None:
    path = tmp_path / "flats.csv"
    lines = ["size,town,built,let"]
    lines += ["61,Ulm,2001-02-04,no", "500,Bonn,2001-02-04,yes", ",Bonn,2001-02-04,yes"]
    lines += [
        f"{60 + number % 5},Bonn,2001-02-{3 + number % 9:02},{'no' if number % 2 else 'yes'}"
        for number in range(30)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = DataOptions(kind="auto", task="auto", label_name="let", split="order", include=("built",))
    splits = load_data(str(path), options=options)
    data = Prepared(splits.train.rows, np.arange(33), splits.classes, splits.prepare)
    town, large, empty = shown_samples(data, [0, 1, 2], splits.spec)
    assert town[0] == ["town", "Ulm"]
    assert large[0] == ["size", "500"]
    assert dict(map(tuple, town)) == {"town": "Ulm", "size": "61", "built": "2001-02-04"}
    assert dict(map(tuple, empty))["size"] == "\u2013"


def test_sequences_are_shown_without_padding_and_mask(tmp_path: Path) -> None:
    x = np.zeros((20, 600, 1), np.float32)
    x[:, :300] = 2.0
    np.savez(tmp_path / "s.npz", x=x, y=np.arange(20) % 2, lengths=np.full(20, 300))
    splits = load_data(str(tmp_path / "s.npz"), options=DataOptions(kind="auto", task="auto"))
    shown = shown_samples(splits.test, [0], splits.spec)
    assert isinstance(shown, np.ndarray)
    assert (shown.shape, shown.dtype) == ((1, MOST_STEPS, 1), np.float32)
    assert np.isnan(shown[0, 130:]).all()
    assert (shown[0, :125] == 2.0).all()


@pytest.mark.parametrize("shown", [[[["a", "1"]]] * 10, np.full((10, 4, 2), np.nan, np.float32)])
def test_other_samples_are_written_and_read(tmp_path: Path, shown: Any) -> None:
    found = replace(measured()[0], pictures=shown)
    folder = PredictionsFolder(tmp_path)
    folder.write(7, found, best_step=7)
    read = folder.read(7)
    assert read is not None
    np.testing.assert_array_equal(read.pictures, shown)

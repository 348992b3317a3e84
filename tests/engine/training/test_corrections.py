"""Corrections: found by content in both splits, never written into the data, exact when a run resumes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.core.errors import DataError, FormatError
from engine.files.journal import read_journal
from engine.io import DataLoader
from engine.training import TrainingConfig, TrainingRun
from engine.training.corrections import (
    Correction,
    apply_corrections,
    as_document,
    data_name,
    read_corrections,
    sample_digest,
    write_corrections,
)
from engine.training.data import DataSplits, load_data
from engine.training.exporting.export import export_run
from engine.training.measuring.predictions import PredictionsFolder
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.prepare import Prepare
from engine.training.sources.preparing.prepared import Prepared
from engine.training.sources.rows import Rows
from engine.training.sources.spec import DataSpec
from resources.settings.export import ExportSettings
from tests.engine.training.number_data import number_splits


class Images(Rows):
    """Images of one colour; number n has the value n."""

    image = True
    shape = (2, 2, 1)

    def __init__(self, labels: list[int], first: int = 0) -> None:
        self.labels, self.first = np.array(labels, np.int64), first

    def read(self, indices: np.ndarray) -> np.ndarray:
        return np.stack([image(self.first + int(index)) for index in indices])

    def where(self, index: int) -> str:
        return f"image {index}"


def image(number: int) -> np.ndarray:
    return np.full((2, 2, 1), number, np.uint8)


def splits(name: str = "mnist") -> DataSplits:
    # Image 3 is in both splits.
    prepare, classes = Prepare(True), ("a", "b", "c")
    train, test = (
        Prepared(rows, np.arange(len(rows)), classes, prepare)
        for rows in (Images([0, 1, 2, 0, 1]), Images([0, 2, 1], 3))
    )
    spec = DataSpec("images", "classes", (1, 2, 2), classes)
    return DataSplits(name, train, test, classes, (1, 2, 2), prepare, spec)


def digests(data: Any) -> list[str]:
    return [sample_digest(sample) for sample in data.rows.read(data.chosen)]


def relabel(number: int, label: int, was: int = 0, data: str = "mnist") -> Correction:
    return Correction(data, sample_digest(image(number)), "relabel", label, was)


def drop(number: int, data: str = "mnist") -> Correction:
    return Correction(data, sample_digest(image(number)), "drop", -1, 0)


def labels_of(data: Any) -> list[int]:
    return [int(data[place][1][0]) for place in range(len(data))]


def test_both_splits_are_corrected_by_content() -> None:
    before = splits()
    after, applied = apply_corrections(before, [relabel(3, 2), drop(1), drop(77), drop(4, "digits")])
    assert labels_of(after.train) == [0, 2, 2, 1]
    assert labels_of(after.test) == [2, 2, 1]
    assert applied["relabelled"] == {"train": 1, "test": 1}
    assert applied["dropped"] == {"train": 1, "test": 0}
    assert (applied["count"], applied["missing"]) == (3, 1)
    held = replace(before, train=before.test, validation=before.train)
    after_held, applied = apply_corrections(held, [relabel(3, 2), drop(1)])
    assert after_held.validation is not None
    assert labels_of(after_held.validation) == labels_of(after.train)
    assert applied["relabelled"]["validation"] == 1
    # The data itself is what it was, and an image stays with its label.
    assert labels_of(before.train) == [0, 1, 2, 0, 1]
    assert float(after.train[1][0][0, 0, 0]) * 255 == pytest.approx(2)


def test_batches_are_corrected_as_single_items_are(bars: Path) -> None:
    plain = load_data(str(bars))
    name, found = data_name(str(bars)), digests(plain.test)
    mine = [Correction(name, found[2], "relabel", 7, 0), Correction(name, found[5], "drop", -1, 0)]
    after, _ = apply_corrections(plain, mine)
    single = labels_of(after.test)
    batched = [
        int(label) for _, labels in DataLoader(after.test, batch_size=8) for label in labels.numpy().ravel()
    ]
    assert single == batched
    assert len(single) == len(plain.test) - 1
    assert single[2] == 7


def test_data_prepared_in_another_way_is_corrected_all_the_same(bars: Path) -> None:
    name = data_name(str(bars))
    mine = [Correction(name, digests(load_data(str(bars)).test)[2], "relabel", 7, 0)]
    other = load_data(str(bars), options=DataOptions(resize=14, normalize="symmetric", shift=2))
    after, applied = apply_corrections(other, mine)
    assert labels_of(after.test)[2] == 7
    assert applied["missing"] == 0


def test_the_file_reads_back_and_refuses_what_has_no_meaning(tmp_path: Path) -> None:
    path = tmp_path / "data" / "corrections.json"
    mine = [relabel(3, 2), replace(drop(1), split="train", index=9, time=1.5)]
    write_corrections(path, mine)
    assert read_corrections(path) == (mine, as_document(mine))
    tree = json.loads(path.read_text())
    for change, words in (
        ({"version": 3}, "another version"),
        ({"format": "x"}, "no file of corrections"),
        ({"corrections": [{**tree["corrections"][0], "sha256": "../x"}]}, "correction 1: a value"),
        ({"corrections": [{**tree["corrections"][0], "label": -1}]}, "a value has no meaning"),
        ({"corrections": [{**tree["corrections"][0], "time": 1e999}]}, "a value has no meaning"),
        ({"corrections": [{**tree["corrections"][0], "command": "rm"}]}, "must have the fields"),
        ({"corrections": 3}, "must be a list"),
    ):
        path.write_text(json.dumps({**tree, **change}))
        with pytest.raises(FormatError, match=words):
            read_corrections(path)
    with pytest.raises(DataError, match=r"gone\.json"):
        read_corrections(tmp_path / "gone.json")


def test_corrections_that_cannot_be_applied_are_refused() -> None:
    with pytest.raises(DataError, match="mnist has no class 3: its classes are 0 to 2"):
        apply_corrections(splits(), [relabel(3, 3)])
    with pytest.raises(DataError, match="no test images would be left: all 3"):
        apply_corrections(splits(), [drop(3), drop(4), drop(5)])


@pytest.fixture
def corrected(bars: Path, tmp_path: Path) -> TrainingConfig:
    """A run on the bars with a relabelled training image and a dropped test image."""
    plain = load_data(str(bars))
    name = data_name(str(bars))
    file = tmp_path / "corrections.json"
    write_corrections(
        file,
        [
            Correction(name, digests(plain.train)[4], "relabel", 9, 0, "train", 4),
            Correction(name, digests(plain.test)[0], "drop", -1, 0, "test", 0),
        ],
    )
    return TrainingConfig(
        str(bars), model="linear", batch_size=50, epochs=2, corrections=str(file), out=str(tmp_path / "run")
    )


def test_a_run_records_what_was_applied(corrected: TrainingConfig, bars: Path) -> None:
    events: list[dict[str, Any]] = []
    TrainingRun(corrected, [events.append]).run()
    plain = load_data(str(bars))
    out = Path(corrected.out)
    copy = (out / "corrections.json").read_bytes()
    assert copy == Path(corrected.corrections).read_bytes()
    started = read_journal(out / "journal.jsonl").events[0]
    reported = started["corrections"]
    assert isinstance(reported, dict)
    assert reported["dropped"] == {"train": 0, "test": 1}
    assert reported["relabelled"]["train"] >= 1
    assert reported["missing"] == 0
    assert started["test_samples"] == len(plain.test) - 1
    predictions = PredictionsFolder(out).read(events[-1]["step"])
    assert predictions is not None
    assert predictions.labels.tolist() == labels_of(plain.test)[1:]
    # The accuracy of an export is that on the corrected images.
    exported = export_run(out, str(out / "inference" / "model"), ExportSettings("last", samples=1000))
    assert exported["samples"] == len(plain.test) - 1


def test_a_run_continues_with_its_own_corrections_bit_equal(
    corrected: TrainingConfig, tmp_path: Path
) -> None:
    whole = TrainingRun(corrected)
    whole.run()
    parted = corrected.changed(out=str(tmp_path / "parted"))
    first = TrainingRun(parted)
    first.listeners.append(lambda event: first.interrupt() if event["event"] == "epoch" else None)
    first.run()
    # Whatever becomes of the file: the run continues as it began.
    Path(corrected.corrections).unlink()
    second = TrainingRun.from_folder(parted.out)
    second.run()
    assert second.progress.step == whole.progress.step
    for name, value in whole.network.state_dict().items():
        assert value.numpy().tobytes() == second.network.state_dict()[name].numpy().tobytes(), name


def numbers(place: int, *target: float, action: Any = "value") -> Correction:
    sample = number_splits().test.rows.read(np.array([place]))[0]
    return Correction("numbers", sample_digest(sample), action, -1, 0, target=target, were=(1.0, 2.0))


def of_numbers(plain: DataSplits, mine: list[Correction]) -> tuple[DataSplits, Any]:
    return apply_corrections(plain, [replace(each, data=data_name(plain.name)) for each in mine])


def test_numbers_to_predict_are_corrected_and_scaled_by_the_corrected_ones() -> None:
    plain = number_splits()
    before = plain.train.targets
    assert before is not None
    after, applied = of_numbers(
        plain, [numbers(3, 9000.0, 0.5), numbers(120, 7.0, 0.25), numbers(5, action="drop")]
    )
    assert (applied["relabelled"], applied["dropped"]) == ({"train": 1, "test": 1}, {"train": 1, "test": 0})
    train, test = after.train.targets, after.test.targets
    assert train is not None
    assert test is not None
    assert (train[3].tolist(), test[20].tolist(), len(train)) == ([9000.0, 0.5], [7.0, 0.25], 99)
    assert np.array_equal(plain.train.targets, before)
    # The scale is that of the corrected training samples, in each split.
    assert after.prepare.target_mean == pytest.approx(train.astype(np.float64).mean(axis=0), rel=1e-6)
    assert after.test.prepare == after.train.prepare == after.prepare
    scaled = after.test.__getitems__([20])[1]
    assert after.prepare.raw_targets(scaled)[0] == pytest.approx([7.0, 0.25], rel=1e-4)
    dropped, _ = of_numbers(plain, [numbers(5, action="drop")])
    assert dropped.prepare == plain.prepare


def test_files_with_numbers_have_version_2_and_others_stay_as_they_were(tmp_path: Path) -> None:
    assert json.loads(as_document([relabel(0, 2)]))["version"] == 1
    assert not {"target", "were"} & json.loads(as_document([relabel(0, 2)]))["corrections"][0].keys()
    mine = [numbers(3, 1.5, -2.0), numbers(5, action="drop"), relabel(0, 2)]
    write_corrections(tmp_path / "c.json", mine)
    assert json.loads((tmp_path / "c.json").read_bytes())["version"] == 2
    assert read_corrections(tmp_path / "c.json")[0] == mine


@pytest.mark.parametrize("target", ["[]", "[true]", "[1e39, 0]", '["1", 2]', "[NaN, 1]", "3"])
def test_a_target_that_is_not_numbers_is_refused(target: str, tmp_path: Path) -> None:
    text = as_document([numbers(3, 1.5, -2.0)]).decode()
    start, end = text.index("[", text.index('"target"')), text.index("]", text.index('"target"')) + 1
    (tmp_path / "c.json").write_text(text[:start] + target + text[end:])
    with pytest.raises(FormatError):
        read_corrections(tmp_path / "c.json")


@pytest.mark.parametrize(
    ("mine", "message"),
    [
        (numbers(3, 1.0), "gives 1 numbers, and numbers has 2 to predict; take"),
        (replace(numbers(3), action="relabel", label=0), "names class 0, and numbers has numbers to predict"),
    ],
)
def test_a_correction_that_does_not_fit_numbers_is_refused(mine: Correction, message: str) -> None:
    with pytest.raises(DataError, match=message):
        of_numbers(number_splits(), [mine])


def test_numbers_for_data_with_classes_are_refused() -> None:
    with pytest.raises(DataError, match="gives numbers to predict, and mnist has classes"):
        apply_corrections(splits(), [replace(relabel(0, -1), action="value", target=(1.0,))])

"""What a quantization is calibrated and measured with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError
from engine.training import TrainingConfig
from engine.training.quantize.data import data_named, data_of_run


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """50 training and 20 test samples of three numbers; their first number is their place."""
    x, t = (np.arange(n, dtype=np.float32)[:, None] * [1, 0, 0] for n in (50, 20))
    np.savez(
        tmp_path / "table.npz",
        x_train=x.astype(np.float32),
        y_train=np.arange(50) % 2,
        x_test=t.astype(np.float32),
        y_test=np.arange(20) % 2,
    )
    return tmp_path / "table.npz"


def test_calibration_samples_are_drawn_from_the_training_data_the_same_each_pass(table: Path) -> None:
    batches = data_named(str(table)).batches(40)
    first, second = (np.concatenate(list(batches)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    places = first[:, 0]
    assert len(set(places)) == 40
    assert len(batches) == 2
    assert places.max() > 40, "the first 40 of a sorted file would be of few classes"


def test_without_a_number_all_of_fewer_than_the_usual_are_taken(table: Path) -> None:
    assert len(np.concatenate(list(data_named(str(table)).batches(None)))) == 50


def test_fewer_samples_than_asked_for_are_an_error(table: Path) -> None:
    with pytest.raises(ArgumentError, match="has 50, asked for 320; give --samples 50, or more data"):
        data_named(str(table)).batches(320)


def test_test_samples_know_their_places(table: Path) -> None:
    tested = data_named(str(table)).tested(10)
    assert tested is not None
    np.testing.assert_array_equal(tested.values[:, 0], tested.places)
    np.testing.assert_array_equal(tested.labels, tested.places % 2)
    assert len(tested.places) == 10


def test_a_run_is_calibrated_with_its_data_before_it_is_varied_or_normalised(table: Path) -> None:
    config = TrainingConfig(data=str(table), normalize="statistics")
    data = data_of_run(config, table.parent)
    assert sorted(np.concatenate(list(data.batches(50)))[:, 0]) == list(range(50))
    config = TrainingConfig(data="digits", shift=5, samples=20)
    data = data_of_run(config, table.parent)
    np.testing.assert_array_equal(*(next(iter(data.batches(4))) for _ in range(2)))


def test_an_array_alone_calibrates_and_does_not_measure(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(12, dtype=np.uint8).reshape(4, 3))
    data = data_named(str(tmp_path / "x.npy"))
    assert next(iter(data.batches(2))).dtype == np.float32
    assert data.tested() is None


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_samples_with_nan_are_an_error_that_names_the_sample(tmp_path: Path, bad: float) -> None:
    values = np.zeros((4, 3), np.float32)
    values[2, 1] = bad
    np.save(tmp_path / "x.npy", values)
    with pytest.raises(DataError, match="sample 2 holds NaN or infinity"):
        list(data_named(str(tmp_path / "x.npy")).batches(4))


@pytest.mark.parametrize("content", [b"", b"no array", b"PK\x03\x04"])
def test_files_that_are_not_arrays_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(DataError, match="not an array"):
        data_named(str(tmp_path / "x.npy"))


def test_objects_are_not_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(DataError, match="not an array"):
        data_named(str(tmp_path / "x.npy"))

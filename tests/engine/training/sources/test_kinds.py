"""What arrays are is found by shape and type; sequences of several lengths have a mask."""

from __future__ import annotations

import numpy as np
import pytest

from engine.core.errors import DataError
from engine.training.data import load_data
from engine.training.sources.options import DataOptions
from tests.engine.training.sources import writing

LABELS = np.arange(20) % 2


def spec_of(tmp_path, values, kind="auto", labels=LABELS, **arrays):
    path = writing.npz(tmp_path / "a.npz", x=values, y=labels, **arrays)
    return load_data(str(path), 0, DataOptions(kind=kind)).spec


@pytest.mark.parametrize(
    ("shape", "dtype", "kind", "found", "fed"),
    [
        ((6, 5), "u1", "auto", "images", (1, 6, 5)),
        ((8, 16), "f4", "auto", "images", (1, 8, 16)),
        ((8, 17), "f4", "auto", "sequences", (8, 17)),
        ((50, 2), "f8", "auto", "sequences", (50, 2)),
        ((7, 7), "f4", "auto", "sequences", (7, 7)),
        ((3, 6, 5), "f4", "auto", "images", (3, 6, 5)),
        ((9,), "f4", "auto", "table", (9,)),
        ((), "f4", "auto", "table", (1,)),
        ((28, 28), "f4", "sequences", "sequences", (28, 28)),
        ((4, 5), "f4", "table", "table", (20,)),
        ((9,), "f4", "sequences", "sequences", (9, 1)),
        ((5, 6), "f4", "images", "images", (1, 5, 6)),
        ((50, 2), "f4", "stored", "images", (1, 50, 2)),
    ],
)
def test_the_kind_follows_from_shape_and_type(tmp_path, shape, dtype, kind, found, fed):
    values = np.random.default_rng(0).integers(0, 9, (20, *shape)).astype(dtype)
    spec = spec_of(tmp_path, values, kind)
    assert (spec.kind, spec.shape) == (found, fed)
    assert spec.kind_reason


@pytest.mark.parametrize(
    ("shape", "kind", "match"),
    [
        ((9,), "images", "samples of 9 can't be images.*choose kind table or sequences"),
        ((3, 6, 5), "sequences", "can't be sequences.*choose kind images or table"),
        ((2, 3, 4, 5), "auto", "of 4 dimensions are neither.*kind table"),
    ],
)
def test_a_kind_that_does_not_fit_is_refused(tmp_path, shape, kind, match):
    with pytest.raises(DataError, match=match):
        spec_of(tmp_path, np.zeros((20, *shape), np.float32), kind)


def test_images_are_no_table(tmp_path):
    folder = writing.image_folder(tmp_path)
    with pytest.raises(DataError, match="kind table does not fit; choose kind auto or images"):
        load_data(str(folder), 0, DataOptions(kind="table"))
    with pytest.raises(DataError, match="task numbers does not fit"):
        load_data("digits", 0, DataOptions(task="numbers"))


@pytest.mark.parametrize(
    ("labels", "task", "targets"),
    [
        (np.arange(20) // 2 * 50, "classes", ()),
        (np.arange(20) / 8, "numbers", ("y",)),
        (np.arange(40).reshape(20, 2), "numbers", ("y[0]", "y[1]")),
        (np.eye(2)[LABELS], "classes", ()),
        (np.array(["a", "b"])[LABELS], "classes", ()),
    ],
)
def test_the_task_follows_from_the_labels(tmp_path, labels, task, targets):
    spec = spec_of(tmp_path, np.random.default_rng(0).random((20, 3)), labels=labels)
    assert (spec.task, spec.targets) == (task, targets)


def test_several_arrays_of_targets(tmp_path):
    path = writing.npz(tmp_path / "a.npz", x=np.ones((20, 3)), u=np.arange(20.0), v=np.arange(20.0) ** 2)
    data = load_data(str(path), 0, DataOptions(label_name="u,v"))
    assert data.spec.targets == ("u", "v")
    assert data.train.rows.targets[4].tolist() == [4, 16]


def test_a_missing_target_is_in_no_split(tmp_path):
    labels = np.arange(20) / 8
    labels[3] = np.nan
    path = writing.npz(tmp_path / "a.npz", x=np.ones((20, 3)), y=labels)
    data = load_data(str(path))
    assert sorted([*data.train.chosen, *data.test.chosen]) == [n for n in range(20) if n != 3]


LENGTHS = np.arange(20) % 4 + 2


@pytest.mark.parametrize("joined", [False, True])
def test_sequences_of_several_lengths_have_a_mask(tmp_path, joined):
    values = np.random.default_rng(0).random((20, 5, 2)).astype(np.float32) + 3
    inside = np.arange(5) < LENGTHS[:, None]
    given = values[inside] if joined else values
    path = writing.npz(tmp_path / "a.npz", x=given, y=LABELS, lengths=LENGTHS)
    data = load_data(str(path), 0, DataOptions(normalize="statistics"))
    assert (data.spec.masked, data.shape) == (True, (5, 3))
    rows = data.train.rows.read(np.array([1, 7]))
    assert np.array_equal(rows[..., :2], np.where(inside[[1, 7], :, None], values[[1, 7]], 0))
    assert np.array_equal(rows[..., 2], inside[[1, 7]])
    of_training = values[data.train.chosen][inside[data.train.chosen]].astype(np.float64)
    assert np.allclose(data.prepare.mean, [*of_training.mean(axis=0), 0])
    assert np.allclose(data.prepare.deviation, [*of_training.std(axis=0), 1])
    fed, _ = data.train.__getitems__([0])
    row = int(data.train.chosen[0])
    expected = (values[row, 0] - of_training.mean(axis=0)) / of_training.std(axis=0)
    assert np.allclose(fed[0, 0, :2], expected, atol=1e-5)
    assert np.array_equal(fed[0, :, 2], inside[row])


@pytest.mark.parametrize(
    ("lengths", "match"),
    [
        (
            np.where(LENGTHS == 3, 0, LENGTHS),
            r"row 1: a sequence has no steps: length 0; remove it \(5 such\)",
        ),
        (LENGTHS + 1, "row 3: a length of 6, over the 5 steps"),
        (LENGTHS[:-1], "don't belong together: 20 rows, 19 lengths"),
        (LENGTHS + 0.5, "not the lengths of sequences"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(tmp_path, lengths, match):
    path = writing.npz(tmp_path / "a.npz", x=np.ones((20, 5, 2)), y=LABELS, lengths=lengths)
    with pytest.raises(DataError, match=match):
        load_data(str(path))


def test_hdf5_has_kinds_and_lengths_too(tmp_path):
    path = writing.hdf5(tmp_path / "a.h5", x=np.ones((20, 5, 2)), y=np.arange(20) / 8, lengths=LENGTHS)
    spec = load_data(str(path)).spec
    assert (spec.kind, spec.task, spec.shape) == ("sequences", "numbers", (5, 3))

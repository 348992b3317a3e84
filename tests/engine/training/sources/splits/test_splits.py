"""How samples are divided: at random, in order, by group, and a validation split of the training samples."""

from __future__ import annotations

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DataError
from engine.training.data import load_data
from engine.training.sources.options import DataOptions
from engine.training.sources.splits.split import grouped
from tests.engine.training.sources import writing


@pytest.fixture
def table(tmp_path):
    rows = [f"{place / 7:.3f},p{place // 5},{'xy'[place % 2]}" for place in range(100)]
    (tmp_path / "t.csv").write_text("size,patient,kind\n" + "\n".join(rows))
    return str(tmp_path / "t.csv")


def split(data):
    parts = (data.train, data.validation, data.test)
    return [sorted(part.chosen.tolist()) if part is not None else [] for part in parts]


def test_order_takes_the_last_rows_for_the_test_and_before_them_for_validation(table):
    data = load_data(table, 0, DataOptions(label_name="kind", split="order", validation_share=0.25))
    assert split(data) == [list(range(60)), list(range(60, 80)), list(range(80, 100))]
    assert data.train.chosen[:9].tolist() != list(range(9))
    assert data.measured is data.validation


def test_order_in_a_folder_takes_the_last_images_of_each_class(tmp_path):
    folder = writing.image_folder(tmp_path, count=10)
    data = load_data(str(folder), 0, DataOptions(split="order"))
    names = [data.test.rows.where(int(place)) for place in data.test.chosen]
    assert names == ["ant/8.png", "ant/9.png", "bee/8.png", "bee/9.png"]


def test_a_group_is_on_one_side_only(table):
    options = DataOptions(label_name="kind", split="group:patient", validation_share=0.2)
    data = load_data(table, 0, options)
    groups = [{place // 5 for place in part} for part in split(data)]
    assert [len(each) for each in groups] == [13, 3, 4]
    assert sorted(group for each in groups for group in each) == list(range(20))
    assert [len(part) for part in split(data)] == [65, 15, 20]
    assert split(load_data(table, 0, options)) == split(data)
    assert split(load_data(table, 0, DataOptions(**{**vars(options), "split_seed": 1}))) != split(data)


def test_groups_of_unequal_size_come_near_the_share():
    groups = np.repeat(np.arange(6), [500, 100, 90, 80, 70, 160])
    for seed in range(20):
        train, test = grouped(groups, np.zeros(1000, np.int64), 0.2, seed, "data x")
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == 1000
        assert 100 <= len(test) <= 300


@pytest.mark.parametrize("share", [0.01, 0.9])
def test_both_sides_have_a_group_whatever_the_share(share):
    groups = np.repeat([0, 1], [30, 70])
    for seed in range(5):
        train, test = grouped(groups, np.zeros(100, np.int64), share, seed, "data x")
        assert {len(train), len(test)} == {30, 70}


def test_a_group_without_another_or_a_split_without_a_meaning_is_refused(table, tmp_path):
    with pytest.raises(DataError, match=r"split: all samples with a target are of one group"):
        grouped(np.zeros(9, np.int64), np.zeros(9, np.int64), 0.2, 0, "data x")
    with pytest.raises(DataError, match=r"split: there is no column 'doctor': size, patient, kind"):
        load_data(table, 0, DataOptions(label_name="kind", split="group:doctor"))
    for wrong in ("ordered", "group:", "group"):
        with pytest.raises(ArgumentError, match="split: must be random, order or group:COLUMN"):
            load_data(table, 0, DataOptions(label_name="kind", split=wrong))
    folder = str(writing.image_folder(tmp_path / "images"))
    with pytest.raises(DataError, match="split: only tables and files with arrays have groups"):
        load_data(folder, 0, DataOptions(split="group:patient"))


def test_validation_samples_are_of_each_class_and_not_varied(tmp_path):
    folder = writing.image_folder(tmp_path, count=20)
    plain = load_data(str(folder), 0, DataOptions(flip="both"))
    data = load_data(str(folder), 0, DataOptions(flip="both", validation_share=0.25))
    assert np.array_equal(data.test.chosen, plain.test.chosen)
    assert np.bincount(data.validation.labels).tolist() == [4, 4]
    assert data.validation.vary is None
    assert not set(data.validation.chosen) & set(data.train.chosen)
    assert len(data.train) + len(data.validation) == len(plain.train)


def test_the_only_sample_of_a_class_is_for_training(tmp_path):
    values, _ = writing.images(41, (4,))
    path = str(writing.npz(tmp_path / "a.npz", x=values, y=np.repeat([0, 1, 2], [20, 20, 1])))
    for options in (DataOptions(validation_share=0.3), DataOptions(validation_share=0.3, split_seed=5)):
        data = load_data(path, 0, options)
        assert [int((part.labels == 2).sum()) for part in (data.train, data.validation, data.test)] == [
            1,
            0,
            0,
        ]

"""Each kind of source is found by what lies at its path, and gives its samples as the model is fed them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.core.errors import ArgumentError, DataError
from engine.training.data import load_data
from engine.training.sources.images.sizes import SizesDiffer
from engine.training.sources.options import DataOptions
from tests.engine.training.sources import writing

OPTIONS = DataOptions(test_share=0.25)
STORED = DataOptions(kind="stored", test_share=0.25)


def batch(split, *indices):
    values, labels = split.__getitems__(list(indices))
    return values, labels[:, 0]


def read_all(data):
    for split in (data.train, data.test):
        split.__getitems__(range(len(split)))


def test_the_built_in_digits_are_fed_as_before():
    from engine.vision.datasets import Digits
    from engine.vision.transforms import ToTensor

    data, before = load_data("digits"), Digits(transform=ToTensor())
    assert (data.shape, data.classes) == ((1, 28, 28), tuple("0123456789"))
    values, labels = data.train.__getitems__([5, 3])
    expected, wanted = before.__getitems__([5, 3])
    assert np.array_equal(values, expected)
    assert np.array_equal(labels, wanted)
    assert len(load_data("digits", 50).train) == 50


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    "names",
    [
        ("x_train", "y_train", "x_test", "y_test"),
        ("train_images", "train_labels", "val_images", "val_labels"),
    ],
)
def test_an_npz_with_two_splits(tmp_path, compressed, names):
    train, test = writing.images(12, (6, 5)), writing.images(6, (6, 5), seed=1)
    path = writing.npz(tmp_path / "a.npz", compressed, **dict(zip(names, (*train, *test), strict=True)))
    data = load_data(str(path))
    assert (data.shape, data.classes, len(data.train), len(data.test)) == ((1, 6, 5), ("0", "1", "2"), 12, 6)
    values, labels = batch(data.test, 4, 1)
    assert np.array_equal(values[:, 0], test[0][[4, 1]].astype(np.float32) * np.float32(1 / 255))
    assert labels.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("shape", "fed"),
    [
        ((6, 5, 3), (3, 6, 5)),
        ((3, 6, 5), (3, 6, 5)),
        ((7, 6, 5), (7, 6, 5)),
        ((9,), (9,)),
        ((), (1,)),
        ((2, 3, 4, 5), (2, 3, 4, 5)),
    ],
)
def test_samples_of_any_form(tmp_path, shape, fed):
    values, labels = writing.images(12, shape)
    data = load_data(str(writing.npz(tmp_path / "a.npz", data=values, target=labels)), 0, STORED)
    assert data.shape == fed
    assert data.train[0][0].shape == fed
    assert data.train[0][0].dtype == np.float32


@pytest.mark.parametrize(("chunks", "pack"), [(None, None), ((4, 3, 5, 1), "gzip"), ((5, 6, 5, 3), None)])
def test_hdf5_is_read_without_libhdf5_in_this_process(tmp_path, chunks, pack):
    values, labels = writing.images(22, (6, 5, 3))
    names = np.array([b"ant", b"bee", b"cow"])[labels]
    path = writing.hdf5(tmp_path / "a.h5", chunks, pack, set__images=values, set__labels=names)
    options = DataOptions(input_name="set/images", label_name="set/labels")
    data = load_data(str(path), 0, options)
    assert data.classes == ("ant", "bee", "cow")
    found = np.concatenate([data.train.chosen, data.test.chosen])
    assert sorted(found) == list(range(22))
    rows = data.train.rows.read(np.arange(22)[::-1])
    assert np.array_equal(rows, values[::-1])


def test_hdf5_arrays_are_found_by_name(tmp_path):
    values, labels = writing.images(9, (4,))
    path = writing.hdf5(tmp_path / "a.hdf5", train__x=values, train__y=labels, test__x=values, test__y=labels)
    assert len(load_data(str(path)).test) == 9


def test_an_image_folder(tmp_path):
    folder = writing.image_folder(tmp_path, ("bee", "ant"), count=8)
    data = load_data(str(folder), 0, OPTIONS)
    assert (data.classes, data.shape) == (("ant", "bee"), (3, 8, 8))
    assert (len(data.train), len(data.test)) == (12, 4)
    place = int(data.test.chosen[0])
    with Image.open(folder / data.test.rows.where(place)) as image:
        expected = np.asarray(image).transpose(2, 0, 1) / 255
    assert np.allclose(data.test[0][0], expected)
    assert data.classes[int(data.test[0][1][0])] == data.test.rows.where(place).partition("/")[0]
    (tmp_path / "classes.txt").write_text("cow\nbee\nant\n")
    assert load_data(str(folder)).classes == ("cow", "bee", "ant")


def test_an_image_folder_with_train_and_val(tmp_path):
    writing.image_folder(tmp_path / "train", count=5)
    writing.image_folder(tmp_path / "val", count=2)
    data = load_data(str(tmp_path))
    assert (len(data.train), len(data.test), data.classes) == (10, 4, ("ant", "bee"))
    # Not class by class, since a run may take the first of them only.
    assert len(set(load_data(str(tmp_path), 6).train.labels.tolist())) == 2


def test_images_of_several_sizes_need_resize(tmp_path):
    folder = writing.image_folder(tmp_path)
    Image.new("L", (30, 20)).save(folder / "bee" / "odd.png")
    with pytest.raises(SizesDiffer, match="images of 2 different sizes, from 8x8 to 30x20: choose Resize"):
        load_data(str(folder))
    data = load_data(str(folder), 0, DataOptions(resize=5, color="grey"))
    assert data.train.__getitems__(range(len(data.train)))[0].shape == (len(data.train), 1, 5, 5)


def test_collected_images_are_such_a_folder(tmp_path):
    from studio.session.data.collected_images import CollectedImages

    collected = CollectedImages(tmp_path)
    values, _ = writing.images(6, (28, 28))
    for number, value in enumerate(values):
        collected.collect(value, 3 if number < 4 else "7", "drawn")
    data = load_data(str(tmp_path))
    assert data.classes == tuple("0123456789")
    assert data.shape == (1, 28, 28)
    assert sorted({*data.train.labels.tolist(), *data.test.labels.tolist()}) == [3, 7]


TABLE = "a;b;kind\n1;2.5;x\n3;;y\n5;6;x\n7;8;y\n9;10;\n11;12;x\n"


def test_a_csv_file(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    data = load_data(str(tmp_path / "t.csv"), 0, STORED)
    assert (data.shape, data.classes) == ((2,), ("x", "y"))
    assert sorted([*data.train.chosen, *data.test.chosen]) == [0, 1, 2, 3, 5]  # row 4 has no label
    rows = data.train.rows.read(np.array([5, 0, 1]))
    assert np.array_equal(rows, [[11, 12], [1, 2.5], [3, np.nan]], equal_nan=True)
    with pytest.raises(DataError, match=r"t\.csv row 1: it holds NaN"):
        read_all(data)


@pytest.mark.parametrize(
    ("text", "label", "inputs", "classes"),
    [
        ("label,p0,p1\n5,1,2\n3,4,5\n4,1,1\n", "", 2, ("0", "1", "2", "3", "4", "5")),
        ("5.1,3.5,setosa\n4.9,3.0,virginica\n", "", 2, ("setosa", "virginica")),
        ("a\tb\tc\n1\t2\t0\n1\t2\t1\n", "a", 2, ("0", "1")),
        ('"a ","b","say ""so"""\n1,2,"u, v"\n2,3,w\n', "", 2, ("u, v", "w")),
    ],
)
def test_the_label_column_is_found_or_chosen(tmp_path, text, label, inputs, classes):
    from engine.training.sources.opening import open_source

    (tmp_path / "t.csv").write_text(text)
    source = open_source(str(tmp_path / "t.csv"), DataOptions(kind="stored", label_name=label))
    assert source.train.shape == (inputs,)
    if label != "a":
        assert source.classes == classes


@pytest.mark.parametrize("limit", [1, 1 << 30])
def test_a_csv_file_that_stays_on_disk_gives_the_same_rows(tmp_path, monkeypatch, limit):
    monkeypatch.setattr("engine.training.sources.tables.table.IN_MEMORY", limit)
    values = np.random.default_rng(0).standard_normal((300, 4)).astype(np.float32)
    lines = [",".join([*map(repr, map(float, row)), str(place % 3)]) for place, row in enumerate(values)]
    (tmp_path / "t.csv").write_text("\ufeffa,b,c,d,y\r\n" + "\r\n\r\n".join(lines), encoding="utf-8")
    data = load_data(str(tmp_path / "t.csv"))
    order = np.random.default_rng(1).permutation(300)
    assert np.array_equal(data.train.rows.read(order), values[order])
    assert np.array_equal(data.train.rows.labels, np.arange(300) % 3)


def test_the_split_is_by_class_and_the_same_every_time(tmp_path):
    values, _ = writing.images(100, (4,))
    labels = np.repeat([0, 1, 2], [80, 19, 1])
    path = str(writing.npz(tmp_path / "a.npz", x=values, y=labels))
    data = load_data(path, 0, OPTIONS)
    assert np.bincount(data.test.labels, minlength=3).tolist() == [20, 5, 0]
    assert sorted([*data.train.chosen, *data.test.chosen]) == list(range(100))
    again, other = load_data(path, 0, OPTIONS), load_data(path, 0, DataOptions(test_share=0.25, split_seed=1))
    assert np.array_equal(again.train.chosen, data.train.chosen)
    assert not np.array_equal(other.test.chosen, data.test.chosen)


def test_normalising_takes_its_numbers_from_the_training_samples(tmp_path):
    values, labels = writing.images(60, (5, 5, 3))
    path = str(writing.npz(tmp_path / "a.npz", x=values, y=labels))
    data = load_data(path, 0, DataOptions(normalize="statistics"))
    fed, _ = data.train.__getitems__(range(len(data.train)))
    assert np.allclose(fed.mean(axis=(0, 2, 3)), 0, atol=1e-4)
    assert np.allclose(fed.std(axis=(0, 2, 3)), 1, atol=1e-4)
    symmetric = load_data(path, 0, DataOptions(normalize="symmetric")).train[0][0]
    assert np.allclose(symmetric, 2 * load_data(path).train[0][0] - 1, atol=1e-6)


@pytest.mark.parametrize("name", ["nothing.npz", "digit", "x.docx", "."])
def test_paths_that_are_not_data_are_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("x.docx").write_text("x")
    with pytest.raises(ArgumentError, match=r"data: (no such|nothing to learn).*(fashion-mnist|sub-folder)"):
        load_data(name)


def test_without_a_network_it_is_said_where_files_go(tmp_path, monkeypatch):
    from engine.training.data import fetch_data
    from engine.vision.datasets import FashionMNIST

    monkeypatch.setenv("MODEL_STUDIO_DATA", str(tmp_path))
    monkeypatch.setattr(FashionMNIST, "MIRRORS", ("http://127.0.0.1:9/",))
    reported = []
    fetch_data("fashion-mnist", reported.append)
    with pytest.raises(
        DataError, match=r"FashionMNIST: .*put train-images-idx3-ubyte.gz .* into .*fashion-mnist"
    ):
        load_data("fashion-mnist")

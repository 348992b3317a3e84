"""Folders of images whose labels are in ``labels.csv`` or ``metadata.csv``, sound and damaged."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.core.errors import ArgumentError, DataError
from engine.training.data import load_data
from engine.training.sources.images.labels import (
    LabelTable,
    UnlabelledImages,
    label_file,
    read_label_table,
)
from engine.training.sources.opening import kind_of, open_source
from engine.training.sources.options import DataOptions
from engine.training.sources.survey import Survey
from tests.engine.training.sources import writing


def flat(folder: Path, count: int = 8, text: str = "", name: str = "labels.csv") -> Path:
    """Images ``0.png`` and so on in the folder itself, dark and bright in turn, and a file of labels."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        Image.new("RGB", (8, 8), (200 * (number % 2),) * 3).save(folder / f"{number}.png")
    if text:
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def labels(count: int, header: str = "file_name,label", classes: tuple[str, ...] = ("dark", "bright")) -> str:
    rows = [f"{number}.png,{classes[number % len(classes)]}" for number in range(count)]
    return "\n".join([header, *rows]) + "\n"


def test_labelled_images_are_the_data_and_the_others_are_counted(tmp_path):
    folder = flat(tmp_path / "own", 10, labels(8) + "8.png,\n")
    assert kind_of(str(folder)) == "images"
    splits = load_data(str(folder), options=DataOptions(test_share=0.25))
    assert splits.classes == ("bright", "dark")
    assert (len(splits.train), len(splits.test)) == (6, 2)
    for image, label in (splits.train[index] for index in range(6)):
        assert (image.mean() > 0.5) == (splits.classes[int(label[0])] == "bright")
    survey = Survey(str(folder), DataOptions())
    facts = survey.facts()
    assert (facts["unlabelled"], facts["label_file"]) == (2, "labels.csv")
    *_, (_, _, problems) = survey.check()
    assert {"kind": "unlabelled", "count": 2, "places": ["8.png", "9.png"]} in problems


@pytest.mark.parametrize(
    "text",
    [
        labels(8, "file,label"),
        labels(8, "File_Name,Label"),
        "\ufeff" + labels(8, "filename,class"),
        labels(8).replace(",", ";").replace("\n", "\r\n"),
        "width,label,image\n" + "".join(f"8,{('dark', 'bright')[n % 2]},{n}.png\n" for n in range(8)),
    ],
)
def test_names_and_order_of_columns_and_separators_may_differ(tmp_path, text):
    source = open_source(str(flat(tmp_path, 8, text)))
    assert np.bincount(source.train.labels).tolist() == [4, 4]


def test_metadata_counts_where_it_has_labels_and_labels_come_first(tmp_path):
    captions = flat(tmp_path / "captions", 4, "file_name,text\n0.png,a cat\n", "metadata.csv")
    assert label_file(captions) is None
    with pytest.raises(UnlabelledImages):
        load_data(str(captions))
    both = flat(tmp_path / "both", 4, labels(4), "metadata.csv")
    assert label_file(both) == both / "metadata.csv"
    assert open_source(str(both)).classes == ("bright", "dark")
    flat(both, 4, labels(4, classes=("a", "b")))
    assert open_source(str(both)).classes == ("a", "b")


def test_numbers_are_ordered_as_numbers_and_classes_txt_orders_names(tmp_path):
    numbers = flat(tmp_path / "numbers", 6, labels(6, classes=("10", "2", "0")))
    assert open_source(str(numbers)).classes == ("0", "2", "10")
    named = flat(tmp_path / "named", 4, labels(4))
    (named / "classes.txt").write_text("dark\nbright\n")
    assert open_source(str(named)).classes == ("dark", "bright")
    (named / "classes.txt").write_text("dark\n")
    with pytest.raises(DataError, match=r"classes\.txt does not list the label 'bright'"):
        load_data(str(named))


def test_excluded_images_are_in_no_split(tmp_path):
    source = open_source(str(flat(tmp_path, 8, labels(6))), DataOptions(exclude=("0.png", "7.png")))
    assert sorted(source.train.files) == [f"{number}.png" for number in range(1, 6)]
    assert source.unlabelled == ("6.png",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,label\n0.png,a\n", r"line 1: no column file_name: 'name, label'; name the columns"),
        ("file_name,breed\n0.png,a\n", r"line 1: no column label: 'file_name, breed'; name"),
        ("", r"line 1: no column file_name: it is empty; name"),
        ("\0\0", r"line 1: no column file_name: '\\x00\\x00'; name"),
        (
            "file_name,label\n0.png,a\n1.png,b\n0.png,b\n",
            r"line 4: '0\.png' appears in line 2 already",
        ),
        ("file_name,label\n0.png,a\n9.png,b\n", r"line 3: no such image in this folder: '9\.png'; fix"),
        ("file_name,label\n../0.png,a\n", r"line 2: not the name of an image in this folder: '\.\./0\.png'"),
        ("file_name,label\ns/../0.png,a\n", r"line 2: not the name of an image in this folder: 's/"),
        ("file_name,label\n/0.png,a\n", r"line 2: not the name of an image in this folder: '/0"),
        ("file_name,label\ns/0.png,a\n", r"line 2: no such image in this folder: 's/0"),
        ("file_name,label\n0.png,a,b\n", r"line 2: 3 columns instead of 2 as in line 1; fix or remove it"),
        ('file_name,label\n0.png,"a\n', r"line 2: not a row of a CSV file: .*; fix or remove it"),
        ("file_name,label\n0.png,\x1b[1m\n", r"line 2: class: not the name of a class: '\\x1b\[1m'"),
        (
            b"file_name,label\n0.png,a\n1.png,\xe9t\xe9\n",
            r"line 3: not UTF-8; save the file",
        ),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, text, said):
    flat(tmp_path, 2)
    (tmp_path / "labels.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=said):
        load_data(str(tmp_path))


def test_links_are_not_followed(tmp_path):
    folder = flat(tmp_path / "own", 2)
    os.symlink(tmp_path / "own" / "0.png", folder / "link.png")
    (folder / "labels.csv").write_text("file_name,label\nlink.png,a\n")
    with pytest.raises(DataError, match=r"no such image in this folder: 'link\.png'"):
        load_data(str(folder))
    (folder / "labels.csv").rename(tmp_path / "elsewhere.csv")
    os.symlink(tmp_path / "elsewhere.csv", folder / "labels.csv")
    with pytest.raises(DataError, match=r"a link to elsewhere"):
        load_data(str(folder))
    with pytest.raises(DataError, match=r"a link to elsewhere"):
        LabelTable.empty(folder).changed({"0.png": "a"}).write()


def test_a_table_that_names_images_in_sub_folders_gives_their_classes(tmp_path):
    folder = flat(tmp_path / "own", 1)
    for name in ("spring/a", "autumn"):
        (folder / name).mkdir(parents=True)
        flat(folder / name, 2)
    rows = "0.png,cat\nspring/a/0.png,dog\nspring/a/1.png,cat\nautumn/1.png,dog\n"
    (folder / "labels.csv").write_text("file_name,label\n" + rows)
    source = open_source(str(folder))
    assert (source.classes, source.label_file) == (("cat", "dog"), "labels.csv")
    assert source.train.files == ["0.png", "spring/a/1.png", "autumn/1.png", "spring/a/0.png"]
    assert source.unlabelled == ("autumn/0.png",)
    os.symlink(folder / "autumn", folder / "spring" / "link")
    (folder / "labels.csv").write_text("file_name,label\n" + rows + "spring/link/0.png,cat\n")
    with pytest.raises(DataError, match=r"line 6: no such image in this folder: 'spring/link/0\.png'"):
        open_source(str(folder))


def test_class_folders_and_labels_contradict_each_other(tmp_path):
    folder = writing.image_folder(tmp_path)
    (folder / "labels.csv").write_text("id,breed\n1,pug\n")  # of something else
    assert open_source(str(folder)).classes == ("ant", "bee")
    (folder / "labels.csv").write_text("file_name,label\n0.png,bee\n")
    with pytest.raises(DataError, match=r"both sub-folders with images and labels\.csv: .*; remove"):
        load_data(str(folder))


def test_without_labels_both_layouts_are_explained(tmp_path):
    folder = flat(tmp_path / "own", 3)
    with pytest.raises(
        ArgumentError,
        match=r"3 images, but no folder for each class and no labels\.csv; .* own/cat and own/dog, "
        r"or list them in own/labels\.csv with the columns file_name and label; Predict takes",
    ) as caught:
        load_data(str(folder))
    assert caught.value.files == ("0.png", "1.png", "2.png")
    flat(folder, 3, "file_name,label\n0.png,\n")
    with pytest.raises(UnlabelledImages, match=r"3 images, but no label in labels\.csv"):
        load_data(str(folder))
    flat(folder, 3, "file_name,label\n0.png,cat\n1.png,cat\n")
    with pytest.raises(DataError, match=r"only one class .* label images of a second class in labels\.csv"):
        load_data(str(folder))


def test_changed_labels_are_written_and_other_columns_stay(tmp_path):
    folder = flat(tmp_path, 4, "file_name;label;by\n0.png;a;me\n1.png;b;you\n", "metadata.csv")
    files = [f"{number}.png" for number in range(4)]
    table = read_label_table(folder / "metadata.csv", files)
    changed = table.changed({"0.png": "", "1.png": "c", "3.png": 'x;"y"'})
    changed.write()
    assert (folder / "metadata.csv").read_text() == (
        'file_name;label;by\n0.png;;me\n1.png;c;you\n3.png;"x;""y""";\n'
    )
    assert read_label_table(folder / "metadata.csv", files).labels == {"1.png": "c", "3.png": 'x;"y"'}
    own = LabelTable.empty(folder).changed({"2.png": "a", "0.png": "b"}).changed({"2.png": ""})
    own.write()
    assert (folder / "labels.csv").read_text() == "file_name,label\n0.png,b\n"


def test_a_new_class_is_appended_to_classes_txt(tmp_path):
    folder = flat(tmp_path, 2)
    (folder / "classes.txt").write_text("b\na\n")
    LabelTable.empty(folder).changed({"0.png": "c", "1.png": "a"}).write()
    assert (folder / "classes.txt").read_text() == "b\na\nc\n"
    assert open_source(str(folder)).classes == ("b", "a", "c")

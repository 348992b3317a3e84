"""Rows of text, CSV files and sequences as a model is fed them, by what an exported file says of its data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import DataError, FormatError
from engine.training.exporting.raw_inputs import RawInputs
from engine.training.sources.spec import Column, DataSpec

COLUMNS = (
    Column("id", "excluded", "number"),
    Column("size (m2)", "input", "number", fill=80.0, unit="m2"),
    Column("colour", "input", "word", words=("blue", "green", "red")),
    Column("price [EUR]", "target", "number", unit="EUR"),
    Column("rooms", "input", "number", fill=3.0),
)
HOUSES = DataSpec("table", "numbers", (3,), (), ("price [EUR]",), COLUMNS)
RED_75 = [75.0, 3.0, 2.0]


def of(spec: DataSpec, **more: object) -> RawInputs:
    found = RawInputs.of({"data_spec": spec.as_plain(), **more})
    assert found is not None
    return found


def csv(text: str, spec: DataSpec = HOUSES) -> list[list[float]]:
    return of(spec).csv(Path("rows"), text).sound().values.tolist()


def test_a_file_without_a_spec_has_no_raw_inputs() -> None:
    assert RawInputs.of({"classes": ["a", "b"]}) is None


def test_named_rows_in_any_order_words_as_indices_missing_numbers_filled() -> None:
    found = of(HOUSES).named(
        [
            {"rooms": "2", "colour": " red ", "size (m2)": "75"},
            {"rooms": "", "colour": "pink", "size (m2)": "n/a"},
            {"rooms": "1", "colour": "", "size (m2)": "60", "not known": "x"},
        ]
    )
    assert found.values.dtype == np.float32
    assert found.values.tolist() == [RED_75, [80.0, 0.0, 3.0], [60.0, 0.0, 1.0]]
    assert found.unknown == {"colour": 1}
    assert found.missing == {"size (m2)": 1, "rooms": 1, "colour": 1}
    assert not found.problems


@pytest.mark.parametrize(
    "text",
    [
        "colour,rooms,size (m2)\nred,2,75\n",
        "rooms,note,size (m2),colour\n2,abc,75,red\n",
        "rooms;size (m2);colour\n2,0;75,0;red\n",
        '"rooms"\t"colour"\t"size (m2)"\n2\t"red"\t75\n',
        "7,75,red,100,2\n",  # as the file of the training
        "7,75,red,2\n",  # without its target
        "75,red,2",  # the inputs alone
        "75,0;red;2,0\n",
    ],
)
def test_a_row_of_a_csv_file_is_matched_by_name_or_by_place(text: str) -> None:
    assert csv(text) == [RED_75]


def test_rows_of_a_csv_file_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_text("colour,rooms,size (m2)\nred,2,75\ngreen,,90\n")
    found = of(HOUSES).csv(path)
    assert found.values.tolist() == [RED_75, [90.0, 2.0, 3.0]]
    assert found.texts == {"size (m2)": "75", "colour": "red", "rooms": "2"}
    path.write_text("75,red,2")
    assert of(HOUSES).csv(path).values.tolist() == [RED_75]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "colour,size (m2)\nred,75\n",
            r"no column 'rooms': the model takes size \(m2\), colour, rooms; add it",
        ),
        ("a,rooms\nred,75\n", r"no column 'size \(m2\)', 'colour'.*add them"),
        ("75,red\n", r"2 values in a row and no names of columns: the model takes 3.*add a header"),
        ("colour,size (m2),rooms\n", "no rows below the header"),
        ("", "no table"),
        ("colour,rooms,size (m2)\nred,2\n", "row 0 has 2 columns instead of 3"),
        ("colour,rooms,size (m2)\nred,2,75\nred,two,75\n", "row 1, column rooms: not a number: 'two'"),
        ("colour,rooms,size (m2)\nred,2,75\nred,1e999,75\n", "row 1, column rooms: not a finite number"),
    ],
)
def test_rows_that_do_not_match_the_columns_are_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises((DataError, FormatError), match=reason):
        csv(text)


def test_a_bad_row_leaves_the_others() -> None:
    found = of(HOUSES).csv(Path("rows"), "colour,rooms,size (m2)\nred,2,75\nred,two,75\nblue,1,50\n")
    assert list(found.problems) == [1]
    assert found.values[[0, 2]].tolist() == [RED_75, [50.0, 1.0, 1.0]]
    assert found.missing == {}


def test_means_of_the_columns_are_known_where_the_file_has_them() -> None:
    assert of(HOUSES).means == ()
    assert of(HOUSES, prepare={"column_mean": [70.5, 0.0, 2.5]}).means == (70.5, 0.0, 2.5)
    for wrong in ([1.0], [1.0, 2.0, "x"], [1.0, 2.0, float("nan")], 3):
        with pytest.raises(FormatError, match="data_spec"):
            of(HOUSES, prepare={"column_mean": wrong})


def test_a_model_that_refused_missing_numbers_still_does() -> None:
    found = of(HOUSES, prepare={"mean": []}).named([{"rooms": "", "colour": "red", "size (m2)": "1"}])
    with pytest.raises(FormatError, match="row 0, column rooms: no value"):
        found.sound()
    filled = of(HOUSES, prepare={"fill": [80.0, 0.0, 3.0]})
    assert filled.named([{"rooms": "", "colour": "red", "size (m2)": "75"}]).values.tolist() == [
        [75.0, 3.0, 3.0]
    ]


def test_columns_without_names_are_taken_in_their_order() -> None:
    plain = DataSpec("table", "classes", (3,), ("a", "b"))
    raw = of(plain, prepare={"fill": [0.0, 5.0, 0.0]})
    assert raw.listed([1, np.nan, 3]).values.tolist() == [[1.0, 5.0, 3.0]]
    assert raw.csv(Path("rows"), "1,2,3\n4,,6\n").values.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    with pytest.raises(DataError, match="2 values in a row: the model takes 3"):
        raw.listed([1, 2])
    assert of(HOUSES).listed([[75, "red", 2]]).values.tolist() == [RED_75]


def test_one_column_needs_no_separator() -> None:
    one = DataSpec("table", "numbers", (1,), (), ("y",), (Column("x", "input", "number"),))
    assert csv("x\n1.5\n2\n", one) == [[1.5], [2.0]]


def test_sequences_are_padded_and_masked() -> None:
    raw = of(DataSpec("sequences", "classes", (4, 3), ("a", "b"), masked=True))
    two = np.array([[1, 2], [3, 4]])
    padded = [[1, 2, 1], [3, 4, 1], [0, 0, 0], [0, 0, 0]]
    assert raw.sequences(two).values.tolist() == [padded]
    assert raw.sequences(np.stack([two, two])).values.tolist() == [padded, padded]
    assert raw.sequences(np.array([padded])).values.tolist() == [padded]  # has its mask
    joined = raw.sequences(np.array([[1, 2], [3, 4], [5, 6]]), np.array([2, 1])).values
    assert joined.tolist() == [padded, [[5, 6, 1], *[[0, 0, 0]] * 3]]
    longer = raw.sequences(np.ones((1, 9, 2)), np.array([2])).values
    assert longer[0, :, 2].tolist() == [1, 1, 0, 0]
    assert raw.csv(Path("rows"), "a,b\n1,2\n3,4\n").values.tolist() == [padded]


def test_sequences_of_one_value_need_no_axis_for_it() -> None:
    raw = of(DataSpec("sequences", "numbers", (3, 1), (), ("y",)))
    assert raw.sequences([1, 2, 3]).values.tolist() == [[[1], [2], [3]]]
    assert raw.sequences([[1, 2, 3], [4, 5, 6]]).values.shape == (2, 3, 1)
    short = raw.sequences([1, 2])
    assert (short.values.tolist(), short.padded) == ([[[1], [2], [0]]], 1)
    assert raw.csv(Path("rows"), "1,2,3\n").values.tolist() == [[[1], [2], [3]]]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (np.zeros((5, 2)), "a sequence of 5 steps: the model takes at most 4"),
        (np.zeros((4, 5)), r"sequences of shape \[4, 5\]: the model takes \[4, 2\]"),
        (np.array([["a", "b"]]), "not numbers"),
        (np.full((4, 2), np.nan), "sequence 0, step 0: not a finite number"),
    ],
)
def test_sequences_that_do_not_fit_are_refused_with_both_sizes(values: np.ndarray, reason: str) -> None:
    raw = of(DataSpec("sequences", "classes", (4, 3), ("a", "b"), masked=True))
    with pytest.raises(DataError, match=reason):
        raw.sequences(values)


def test_files_of_arrays(tmp_path: Path) -> None:
    raw = of(DataSpec("sequences", "classes", (4, 3), ("a", "b"), masked=True))
    values = np.arange(16, dtype=np.float64).reshape(2, 4, 2)
    np.savez(tmp_path / "a.npz", y=np.zeros(2), lengths=np.array([1, 4]), x=values)
    found = raw.file(tmp_path / "a.npz").values
    assert found[0].tolist() == [[0, 1, 1], *[[0, 0, 0]] * 3]
    assert found[1, :, :2].tolist() == values[1].tolist()
    np.save(tmp_path / "b.npy", values[0, :2])
    assert raw.file(tmp_path / "b.npy").values[0, :, 2].tolist() == [1, 1, 0, 0]
    np.save(tmp_path / "b.npy", values[:, :, :1])
    with pytest.raises(DataError, match=r"b\.npy: sequences of shape \[2, 4, 1\]: the model takes \[4, 2\]"):
        raw.file(tmp_path / "b.npy")
    (tmp_path / "b.npy").write_bytes(b"nothing")
    with pytest.raises(FormatError, match="not a sound NPY file"):
        raw.file(tmp_path / "b.npy")
    plain = of(DataSpec("table", "classes", (2,), ("a", "b")))
    np.savez(tmp_path / "c.npz", y=np.zeros(3), features=np.ones((3, 2)))
    assert plain.file(tmp_path / "c.npz").values.tolist() == [[1.0, 1.0]] * 3


def test_numbers_have_their_target_and_unit() -> None:
    assert of(HOUSES).numbers(np.array([[2.5]])) == (("price [EUR]", 2.5, "EUR"),)
    with pytest.raises(FormatError, match="2 numbers for 1 targets"):
        of(HOUSES).numbers(np.zeros(2))


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": [2]},
        {"shape": ["a"]},
        {"columns": [{"name": "x"}]},
        {"columns": 3},
        {"targets": None},
    ],
)
def test_information_that_no_export_wrote_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(FormatError, match="data_spec: not what an export says"):
        RawInputs.of({"data_spec": {**HOUSES.as_plain(), **changes}})


def test_true_numbers_and_classes_are_read_where_a_file_has_them(tmp_path: Path) -> None:
    raw = of(HOUSES)
    found = raw.csv(Path("rows"), "price [EUR];rooms;size (m2);colour\n1,5;2;75;red\n;2;75;red\n")
    assert found.answers[0] == (1.5,)
    assert np.isnan(found.answers[1][0])
    assert raw.csv(Path("rows"), "rooms,size (m2),colour\n2,75,red\n").answers == ()
    assert list(found.chosen(0).answers) == [(1.5,)]
    x, y = np.zeros((2, 4, 1), np.float32), np.array([1, 0])
    np.savez(tmp_path / "w.npz", x=x, labels=y)
    waves = of(DataSpec("sequences", "classes", (4, 1), ("up", "down")))
    assert waves.file(tmp_path / "w.npz").answers == [("1",), ("0",)]

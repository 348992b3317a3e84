"""CSV files as people have them: columns are typed over all rows, and each has its role and the reason."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from engine.core.errors import DataError, FormatError
from engine.training.data import load_data
from engine.training.sources.opening import open_source
from engine.training.sources.options import DataOptions
from engine.training.sources.survey import Survey
from engine.training.sources.tables import table as csv_table
from engine.training.sources.tables.columns import TargetNeeded

COLOURS = ("red", "green", "blue")


@pytest.fixture
def houses(tmp_path):
    """60 houses: an id, a name and a date that say nothing, size and colour that do, and the price."""
    lines = ["id,name,built,size (m2),colour,price"]
    for n in range(60):
        size = "" if n == 7 else str(50 + (37 * n) % 90)
        price = "" if n == 9 else f"{1000 + 10.5 * n}"
        lines.append(
            f"{5000 + n},House {n},2020-{n % 12 + 1:02d}-0{n % 9 + 1},{size},{COLOURS[n % 3]},{price}"
        )
    (tmp_path / "houses.csv").write_text("\n".join(lines) + "\n")
    return str(tmp_path / "houses.csv")


def columns(path, **options):
    return {column.name: column for column in load_data(path, 0, DataOptions(**options)).spec.columns}


def test_without_a_target_all_columns_are_listed(houses):
    with pytest.raises(
        TargetNeeded, match=r"id \(numbers\), name \(words\), built \(dates\).*--target"
    ) as caught:
        load_data(houses)
    assert [column.name for column in caught.value.columns][-1] == "price"


def test_ids_names_and_dates_are_excluded_with_the_reason(houses):
    found = columns(houses, label_name="price")
    roles = {name: column.role for name, column in found.items()}
    assert roles == {
        "id": "excluded",
        "name": "excluded",
        "built": "excluded",
        "size (m2)": "input",
        "colour": "input",
        "price": "target",
    }
    assert found["id"].reason == "differs in nearly every row, as ids do: 60 different values in 60 rows"
    assert found["size (m2)"].unit == "m2"
    assert found["colour"].words == ("blue", "green", "red")
    assert (found["size (m2)"].missing, found["price"].missing) == (1, 1)


def test_a_row_of_a_table_is_one_vector_with_filled_and_scaled_numbers(houses):
    data = load_data(houses, 0, DataOptions(label_name="price", normalize="statistics"))
    assert (data.shape, data.classes, data.spec.targets) == ((2,), (), ("price",))
    assert len(data.train) + len(data.test) == 59  # row 9 has no price
    sizes = np.array([np.nan if n == 7 else 50 + (37 * n) % 90 for n in range(60)])
    rows = data.train.chosen
    fill = np.float32(np.nanmedian(sizes[rows]))
    filled = np.where(np.isnan(sizes), fill, sizes)
    assert data.spec.inputs[0].fill == fill
    mean, deviation = filled[rows].mean(), filled[rows].std()
    values, targets = data.train.__getitems__(range(len(data.train)))
    assert np.allclose(values[:, 0], (filled[rows] - mean) / deviation, atol=1e-5)
    assert np.array_equal(values[:, 1], [("blue", "green", "red").index(COLOURS[n % 3]) + 1 for n in rows])
    price = 1000 + 10.5 * rows
    assert np.allclose(targets[:, 0], (price - price.mean()) / price.std(), atol=1e-5)
    assert np.allclose(data.prepare.raw_targets(targets)[:, 0], price, rtol=1e-5)


def test_columns_are_excluded_and_included_by_pattern(houses):
    found = columns(houses, label_name="price", exclude=("col*",), include=("id", "built"))
    assert (found["colour"].role, found["id"].role, found["built"].role) == ("excluded", "input", "input")
    data = load_data(houses, 0, DataOptions(label_name="price", exclude=("col*",), include=("built",)))
    assert data.train.rows.read(np.array([0]))[0, 0] == (
        np.datetime64("2020-01-01") - np.datetime64(0, "D")
    ).astype(int)
    with pytest.raises(DataError, match="exclude: no column is called 'colr'"):
        load_data(houses, 0, DataOptions(label_name="price", exclude=("colr",)))


@pytest.mark.parametrize(
    ("dates", "order", "first"),
    [
        (("3/4/2026", "1/31/2026"), "month first", "2026-03-04"),
        (("3/4/2026", "31/1/2026"), "day first", "2026-04-03"),
        (("3.4.2026", "5.6.2026"), "taken as day first: 3/4 is 3 April", "2026-04-03"),
        (("2026-04-03", "2026-01-31"), "", "2026-04-03"),
    ],
)
def test_the_order_of_day_and_month_is_said(tmp_path, dates, order, first):
    path = tmp_path / "t.csv"
    rows = [f"{dates[n % 2]},{n % 7},{n * n % 11 + 0.5}" for n in range(30)]
    path.write_text("\n".join(["when,size,price", *rows]) + "\n")
    ending = f", {order}" if order else ""
    assert columns(str(path), label_name="price")["when"].reason == f"holds dates{ending}"
    assert (
        columns(str(path), label_name="price", include=("when",))["when"].reason == f"included by you{ending}"
    )
    data = load_data(str(path), 0, DataOptions(label_name="price", include=("when",)))
    days = (np.datetime64(first) - np.datetime64(0, "D")).astype(int)
    assert data.train.rows.read(np.array([0]))[0, 0] == days


@pytest.mark.parametrize(("order", "first"), [("day", "2026-04-03"), ("month", "2026-03-04")])
def test_the_order_of_day_and_month_can_be_chosen(tmp_path, order, first):
    path = tmp_path / "t.csv"
    path.write_text(
        "when,size,price\n" + "".join(f"3/4/2026,{n % 7},{n * n % 11 + 0.5}\n" for n in range(30))
    )
    options = DataOptions(label_name="price", include=("when",), date_order=order)
    data = load_data(str(path), 0, options)
    assert data.spec.columns[0].reason == f"included by you, {order} first, as you chose"
    days = (np.datetime64(first) - np.datetime64(0, "D")).astype(int)
    assert data.train.rows.read(np.array([0]))[0, 0] == days


@pytest.mark.parametrize(("how", "fill"), [("median", 2.5), ("mean", 5.75), ("zero", 0.0)])
def test_missing_numbers(tmp_path, how, fill):
    from engine.training.sources.preparing.prepare import preparation

    (tmp_path / "t.csv").write_text("a;y\n1;0\n2;1\n3;0\n17;1\n;0\n")
    source = open_source(str(tmp_path / "t.csv"))
    prepare = preparation(source.train, np.arange(5), DataOptions(missing=how), source.spec)
    assert prepare.fill == (fill,)
    assert prepare.scaled(source.train.read(np.array([4])))[0, 0] == fill


def test_a_missing_number_is_refused_where_asked(tmp_path):
    (tmp_path / "t.csv").write_text("a;y\n1;0\n2;1\n3;0\n17;1\n;0\n")
    data = load_data(str(tmp_path / "t.csv"), 0, DataOptions(missing="refuse"))
    split = data.train if 4 in data.train.chosen else data.test
    with pytest.raises(DataError, match=r"t\.csv row 4: it holds NaN"):
        split.__getitems__(range(len(split)))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a;b;y\n1,5;1.000,25;0\n2,25;3;1\n", [[1.5, 1000.25], [2.25, 3]]),
        ("a\tb\ty\n1.5\t2\t0\n2.25\t3\t1\n", [[1.5, 2], [2.25, 3]]),
        ("a|b|y\n1|2|0\n2|3|1\n", [[1, 2], [2, 3]]),
        ('"a","b, c","y"\n"1","2","no\nline"\n"2","3","yes"\n', [[1, 2], [2, 3]]),
        ("1,5;2;x\n2,5;3;y\n", [[1.5, 2], [2.5, 3]]),
    ],
)
def test_separators_quotes_and_decimal_commas(tmp_path, text, rows):
    (tmp_path / "t.csv").write_text(text)
    label = "" if "y" in text.splitlines()[0] else "2"
    source = open_source(str(tmp_path / "t.csv"), DataOptions(label_name=label))
    assert np.array_equal(source.train.read(np.arange(2)), np.float32(rows))
    assert len(source.classes) == 2


def test_rows_that_stay_on_disk_are_the_same(tmp_path, monkeypatch):
    text = "word,a,y\n" + "".join(f'"w,{n % 4}\n",{n / 8},{n % 3}\n\n' for n in range(400))
    (tmp_path / "t.csv").write_text(text)
    whole = open_source(str(tmp_path / "t.csv"))
    monkeypatch.setattr("engine.training.sources.tables.table.IN_MEMORY", 1)
    monkeypatch.setattr("engine.training.sources.tables.lines._CHUNK", 200)
    order = np.random.default_rng(0).permutation(400)
    assert np.array_equal(open_source(str(tmp_path / "t.csv")).train.read(order), whole.train.read(order))
    assert whole.spec.columns[0].words == ("w,0", "w,1", "w,2", "w,3")


@pytest.mark.parametrize(
    ("target", "task", "found", "classes"),
    [
        ([n % 3 for n in range(300)], "auto", "classes", 3),
        (list(range(300)), "auto", "numbers", 0),
        ([n % 3 + 0.5 for n in range(300)], "auto", "numbers", 0),
        ([n % 3 for n in range(300)], "numbers", "numbers", 0),
        (list(range(150)) * 2, "classes", "classes", 150),
        (["a", "b", ""] * 100, "auto", "classes", 2),
    ],
)
def test_the_task_follows_from_the_target(tmp_path, target, task, found, classes):
    lines = "".join(f"{n % 7},{value}\n" for n, value in enumerate(target))
    (tmp_path / "t.csv").write_text("a,target\n" + lines)
    spec = load_data(str(tmp_path / "t.csv"), 0, DataOptions(task=task)).spec
    assert (spec.kind, spec.task, len(spec.classes)) == ("table", found, classes)
    assert spec.task_reason


def test_several_targets_are_one_vector(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n" + "".join(f"{n % 5},{n},{2 * n}\n" for n in range(40)))
    data = load_data(str(tmp_path / "t.csv"), 0, DataOptions(label_name="b, c"))
    assert (data.spec.targets, data.shape) == (("b", "c"), (1,))
    assert np.array_equal(data.train.rows.targets[[3, 8]], [[3, 6], [8, 16]])


@pytest.mark.parametrize(
    ("text", "options", "match"),
    [
        ("a,y\n" + "1,5\n" * 9, {}, "the target is the same in all samples: '5'"),
        ("a,y\n" + "1,5.5\n" * 9, {}, "the target y is the same in all samples: 5.5"),
        ("a,y\n1,x\n2,z\n", {"task": "numbers"}, "can't be numbers: it holds words such as 'x'"),
        ("a,y\n" + "1,5.5\n2,6\n" * 9 + "1,cheap\n", {}, "row 18, column y: not a number: 'cheap'"),
        ("a,y\n1,x\n2,z\n", {"kind": "images"}, "can't be images; choose kind table or sequences"),
        ("a,b,y\n1,u,0\n2,v,1\n", {"kind": "sequences"}, "can't be steps of a sequence: b"),
        ('"a\nb",z\n1,x\n2,z\n', {}, r"which column is the target\? There are a b \(numbers\), z \(words\)"),
        ("a,y\n1,x\n2,z\n", {"label_name": "price"}, r"no column 'price': a \(numbers\), y \(words\)"),
    ],
)
def test_invalid_tables_and_options_are_refused(tmp_path, text, options, match):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises((DataError, FormatError), match=match):
        load_data(str(tmp_path / "t.csv"), 0, DataOptions(**options))


def test_a_table_can_be_sequences(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n" + "".join(f"{n % 5},{n % 3},{n % 2}\n" for n in range(40)))
    spec = load_data(str(tmp_path / "t.csv"), 0, DataOptions(kind="sequences")).spec
    assert (spec.kind, spec.shape) == ("sequences", (2, 1))


def test_a_class_with_one_sample_stays_in_training(tmp_path):
    (tmp_path / "t.csv").write_text(
        "a,y\n" + "".join(f"{n % 5},{'uv'[n % 2]}\n" for n in range(20)) + "3,rare\n"
    )
    survey = Survey(str(tmp_path / "t.csv"), DataOptions())
    assert survey.facts()["train_balance"][0] == 1
    assert survey.facts()["test_balance"][0] == 0
    *_, (_, _, found) = survey.check()
    assert {"kind": "single", "count": 1, "places": ["rare"]} in found


def test_a_survey_of_numbers_shows_them(houses):
    survey = Survey(houses, DataOptions(label_name="price"))
    facts = survey.facts()
    assert (facts["unlabelled"], facts["columns"]) == (1, ["size (m2)", "colour"])
    assert facts["spec"]["columns"][0]["role"] == "excluded"
    (price,) = facts["targets"]
    assert sum(price["counts"]) == facts["train"]
    assert (facts["train_balance"], facts["test_balance"]) == ([], [])
    shown = survey.samples("train", -1, 0, 5)
    rows = [int(place.split()[-1]) for place in shown["places"]]
    assert shown["targets"] == [[1000 + 10.5 * row] for row in rows]
    *_, (_, _, found) = survey.check()
    assert {each["kind"] for each in found} == {"unlabelled"}  # the missing size is filled


def test_groups_are_rows_with_the_same_text(houses):
    source = open_source(houses, DataOptions(label_name="price", split="group:colour"))
    assert source.groups("colour")[:5].tolist() == [0, 1, 2, 0, 1]
    assert [column.name for column in source.spec.inputs] == ["size (m2)"]


def test_the_table_that_was_read_last_is_read_again_only_where_it_changed(houses, monkeypatch):
    reads = []
    anew = csv_table._read_anew
    monkeypatch.setattr(csv_table, "_read_anew", lambda *given: (reads.append(given), anew(*given))[1])
    monkeypatch.setattr(csv_table, "_last_read", None)

    def opened(target="price"):
        csv_table.open_csv(Path(houses), DataOptions(label_name=target))
        return len(reads)

    assert [opened(), opened()] == [1, 2]  # too small to be retained
    monkeypatch.setattr(csv_table, "RETAINED", 1)
    assert [opened(), opened()] == [3, 4]  # changed just now
    os.utime(houses, (1e9, 1e9))
    assert [opened(), opened()] == [5, 5]
    assert load_data(houses, 0, DataOptions(label_name="price", test_share=0.5)).spec.samples == 29
    assert len(reads) == 5  # the same columns, divided in another way
    assert [opened("size (m2)"), opened("size (m2)")] == [6, 6]
    text = Path(houses).read_text()
    Path(houses).write_text(text.replace("House 1,", "House X,"))
    os.utime(houses, (1e9 + 1, 1e9 + 1))
    assert [opened("size (m2)"), opened("size (m2)")] == [7, 7]

"""The settings form: values, wrong entries, names, and what its owner can change."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.param_form import Field, ParamForm
from widgets.param_form.fields import Problem, parse, write

FIELDS = [
    Field("data", "Data", "choice", "digits", choices=(("digits", "Built in"), ("mnist", "MNIST"))),
    Field("rate", "Rate", "float", 0.001, minimum=1e-8, maximum=10.0, help="Step size"),
    Field("batch", "Batch", "int", 64, minimum=1, maximum=4096, unit="img"),
    Field("static", "Static", "bool", True),
    Field("name", "Name", "text", "lenet", required=True),
    Field("folder", "Folder", "path", ""),
]


@pytest.fixture
def form(qtbot: QtBot) -> ParamForm:
    widget = ParamForm(FIELDS)
    qtbot.addWidget(widget)
    widget.show()
    return widget


def line(form: ParamForm, key: str) -> QLineEdit:
    control = form.control(key)
    assert isinstance(control, QLineEdit)
    return control


def test_defaults_are_the_values(form: ParamForm) -> None:
    assert form.values() == {
        "data": "digits",
        "rate": 0.001,
        "batch": 64,
        "static": True,
        "name": "lenet",
        "folder": "",
    }


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("int", " 12 ", 12),
        ("int", "1\u2009024", 1024),
        ("int", "1.5", Problem("whole")),
        ("int", "0", Problem("bounds", (("minimum", 1), ("maximum", 4096)))),
        ("float", "1e-3", 0.001),
        ("float", "nan", Problem("number")),
        ("float", "inf", Problem("number")),
        ("float", "", Problem("number")),
        ("float", "5000", Problem("bounds", (("minimum", 1), ("maximum", 4096)))),
    ],
)
def test_parse(kind: str, text: str, value: object) -> None:
    assert parse(Field("f", "F", kind, 1, minimum=1 if value != 0.001 else 0, maximum=4096), text) == value


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("float", "1", Problem("bounds", (("above", 0), ("below", 1)))),
        ("float", "0", Problem("bounds", (("above", 0), ("below", 1)))),
        ("float", "0.5", 0.5),
        ("numbers", "0.5, 0.25 0.125", (0.5, 0.25, 0.125)),
        ("numbers", "0.5, 2", Problem("bounds", (("above", 0), ("below", 1)))),
        ("integers", "x, 2", Problem("whole")),
        ("numbers", " ", Problem("empty")),
    ],
)
def test_parse_open_bounds_and_lists(kind: str, text: str, value: object) -> None:
    assert parse(Field("f", "F", kind, 1, above=0, below=1), text) == value


@pytest.mark.parametrize("value", [0.001, 1e-8, 0.1 + 0.2, 3.0, 2026])
def test_written_values_read_back(value: float) -> None:
    assert float(write(value)) == value


def test_typing_emits_new_values_once(form: ParamForm, qtbot: QtBot) -> None:
    seen: list[tuple[str, object]] = []
    form.changed.connect(lambda key, value: seen.append((key, value)))
    edit = line(form, "batch")
    edit.selectAll()
    qtbot.keyClicks(edit, "128")
    assert seen == [("batch", 1), ("batch", 12), ("batch", 128)]
    edit.setText("128 ")
    form.set_value("batch", 128)
    assert len(seen) == 3
    form.set_value("data", "mnist")
    form.set_value("static", False)
    assert seen[3:] == [("data", "mnist"), ("static", False)]


def test_a_wrong_entry_says_why_below_it(form: ParamForm, qtbot: QtBot) -> None:
    with qtbot.waitSignal(form.validity_changed) as signal:
        line(form, "batch").setText("0")
    assert signal.args == [False]
    reason = "Enter a number from 1 to 4\u2009096"
    assert form.errors() == {"batch": reason}
    message = next(label for label in form.findChildren(QLabel) if label.text() == reason)
    assert message.isVisible()
    assert message.geometry().top() >= line(form, "batch").parentWidget().geometry().bottom()
    assert line(form, "batch").property("invalid")
    assert reason in line(form, "batch").accessibleDescription()
    assert form.value("batch") == 64
    with pytest.raises(ValueError, match=f"batch: {reason}"):
        form.values()
    with qtbot.waitSignal(form.validity_changed) as signal:
        line(form, "batch").setText("32")
    assert signal.args == [True]
    assert form.values()["batch"] == 32
    line(form, "name").setText("  ")
    assert form.errors() == {"name": "Must not be empty"}


@pytest.mark.parametrize(
    ("maximum", "words"),
    [(1_000_000, "1\u2009000\u2009000"), (0.25, "0.25"), (1e30, "1e+30")],
)
def test_bounds_are_written_in_full(qtbot: QtBot, maximum: float, words: str) -> None:
    widget = ParamForm([Field("rate", "Rate", "float", 0.1, minimum=0, maximum=maximum)])
    qtbot.addWidget(widget)
    line(widget, "rate").setText("-1")
    assert widget.errors() == {"rate": f"Enter a number from 0 to {words}"}


def test_an_entry_that_is_no_value_stays_until_another_value_comes(form: ParamForm) -> None:
    line(form, "batch").setText("many")
    form.set_value("batch", 64)
    assert line(form, "batch").text() == "many"
    form.set_value("batch", 32)
    assert line(form, "batch").text() == "32"
    line(form, "batch").setText("many")
    form.drop_entries()
    assert line(form, "batch").text() == "32"
    assert form.is_valid()


def test_the_owner_can_mark_a_field(form: ParamForm) -> None:
    form.set_error("folder", "Holds no IDX files")
    assert not form.is_valid()
    line(form, "folder").setText("/data")
    assert form.is_valid()


def test_names_and_buddies(form: ParamForm) -> None:
    labels = {label.text(): label for label in form.findChildren(QLabel)}
    for field in FIELDS:
        assert labels[field.label].buddy() is form.control(field.key)
    assert form.control("batch").accessibleName() == "Batch (img)"
    assert form.control("rate").accessibleDescription() == "Step size"
    form.set_text("batch", "Stapel", "Bilder je Schritt")
    assert form.control("batch").accessibleName() == "Stapel (img)"
    assert form.control("batch").toolTip() == "Bilder je Schritt"


def test_only_named_keys_can_be_edited(form: ParamForm) -> None:
    form.set_enabled_keys(["rate"])
    assert [key for key in form.keys() if form.control(key).isEnabled()] == ["rate"]  # noqa: SIM118
    with pytest.raises(KeyError, match="'nothing'"):
        form.set_enabled_keys(["nothing"])


def test_rows_hide(form: ParamForm) -> None:
    before = form.sizeHint().height()
    form.set_row_visible("folder", False)
    assert not form.control("folder").isVisible()
    assert form.sizeHint().height() < before
    assert "folder" in form.values()


def test_dependents_stand_below_their_row_and_are_replaced(form: ParamForm) -> None:
    fields = [
        Field("data.beta", "Beta", "float", 0.9, minimum=0, below=1),
        Field("data.steps", "Steps", "integers", (2, 4)),
    ]
    form.set_dependents("data", fields)
    assert form.keys()[:4] == ["data", "data.beta", "data.steps", "rate"]
    QApplication.processEvents()
    tops = [form.control(key).mapTo(form, QPoint()).y() for key in form.keys()]  # noqa: SIM118
    assert tops == sorted(tops)
    assert form.control("data").nextInFocusChain() is form.control("data.beta")
    line(form, "data.beta").setText("1")
    assert form.errors() == {"data.beta": "At least 0, Below 1"}
    seen: list[tuple[str, object]] = []
    form.changed.connect(lambda key, value: seen.append((key, value)))
    line(form, "data.steps").setText("1, 3")
    assert seen == [("data.steps", (1, 3))]
    form.set_dependents("data", [Field("data.gamma", "Gamma", "float", 0.5)])
    assert form.keys()[:3] == ["data", "data.gamma", "rate"]
    assert form.is_valid()
    assert form.value("data.gamma") == 0.5


def test_choices_change_and_keep_the_chosen(form: ParamForm) -> None:
    form.set_value("data", "mnist")
    form.set_choices("data", (("mnist", "MNIST-Ziffern"), ("idx", "IDX-Ordner")))
    box = form.control("data")
    assert isinstance(box, QComboBox)
    assert box.currentText() == "MNIST-Ziffern"
    assert form.value("data") == "mnist"
    with pytest.raises(ValueError, match="not one of the choices: 'digits'"):
        form.set_value("data", "digits")
    with pytest.raises(ValueError, match="not 'choice'"):
        form.set_choices("rate", ())


def test_arrow_keys_step_within_the_range(form: ParamForm, qtbot: QtBot) -> None:
    edit = line(form, "batch")
    qtbot.keyClick(edit, Qt.Key.Key_Up)
    assert form.value("batch") == 65
    form.set_value("batch", 5)
    qtbot.keyClick(edit, Qt.Key.Key_PageDown)
    assert form.value("batch") == 1


def test_the_wheel_scrolls_the_page_not_the_setting(form: ParamForm) -> None:
    box = form.control("data")
    box.clearFocus()
    at = QPointF(5, 5)
    down, none = QPoint(0, -120), Qt.MouseButton.NoButton
    event = QWheelEvent(
        at,
        box.mapToGlobal(at),
        QPoint(),
        down,
        none,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(box, event)
    assert form.value("data") == "digits"


def test_a_path_is_picked(form: ParamForm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *args: "/data/mnist")
    form._row("folder").editor.browse.click()
    assert form.value("folder") == "/data/mnist"


def test_wrong_forms_are_refused() -> None:
    with pytest.raises(ValueError, match="two fields have the key 'a'"):
        ParamForm([Field("a", "A", "int", 1), Field("a", "A", "int", 1)])


def test_dots_of_runs_change_their_colour_with_the_theme(form: ParamForm, qapp: QApplication) -> None:
    box = form.control("data")
    assert isinstance(box, QComboBox)
    form.set_choice_colors("data", {"mnist": 2})

    def dot() -> str:
        image = box.itemIcon(1).pixmap(16, 16).toImage()
        return image.pixelColor(image.width() // 2, image.height() // 2).name()

    seen = set[str]()
    for mode in ("light", "dark"):
        theme.apply_theme(qapp, mode)  # type: ignore[arg-type]
        assert dot() == theme.run_color(2).lower()
        seen.add(dot())
    assert len(seen) == 2

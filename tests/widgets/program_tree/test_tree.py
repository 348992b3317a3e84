"""The tree of a Program: its structure, fetching, filter, selection and speed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from widgets import theme
from widgets.program_tree import BlockData, Later, OperatorData, ProgramData, ProgramTree, VariableData
from widgets.program_tree.data import shape_text, value_text
from widgets.program_tree.filtering import spans
from widgets.program_tree.model import CHUNK, OPERATORS, VARIABLES, WHY, ProgramModel

CONV = OperatorData(
    "conv2d",
    {"Input": ("x",), "Filter": ("w",)},
    {"Output": ("y",)},
    {"strides": [1, 1], "format": "NCHW"},
    "/home/me/lenet.py",
    14,
)
RELU = OperatorData("relu", {"X": ("y",)}, {"Out": ("z",)}, {}, "/home/me/lenet.py", 15)
COND = OperatorData("cond", {"Cond": ("c",)}, {"Out": ("q",)}, {}, "/home/me/lenet.py", 14, sub_blocks=(1,))
MAIN = (
    VariableData("x", (-1, 1, 28, 28), "float32", stop_gradient=True),
    VariableData("w", (6, 1, 3, 3), "float32", persistable=True, parameter=True),
    VariableData("y", (-1, 6, 28, 28), "float32"),
)
INNER = OperatorData("scale", {"X": ("x",)}, {"Out": ("y",)}, {"scale": 2.0})
PROGRAM = ProgramData("lenet", (BlockData(0, (CONV, RELU, COND), MAIN), BlockData(1, (INNER,), (), parent=0)))


@pytest.fixture
def tree(qtbot: QtBot) -> ProgramTree:
    widget = ProgramTree()
    qtbot.addWidget(widget)
    widget.resize(500, 400)
    widget.set_program(PROGRAM)
    widget.show()
    return widget


def big(count: int) -> ProgramData:
    operators = tuple(OperatorData("relu", {"X": (f"t{i}",)}, {"Out": (f"t{i + 1}",)}) for i in range(count))
    return ProgramData("big", (BlockData(0, operators, tuple(VariableData(f"t{i}") for i in range(count))),))


def section(model: ProgramModel, block: int, which: int) -> QModelIndex:
    return model.index(which, 0, model.index(block, 0, model.index(0, 0)))


def words(model: ProgramModel, parent: QModelIndex) -> list[list[str]]:
    while model.canFetchMore(parent):
        model.fetchMore(parent)
    return [
        [model.index(row, column, parent).data() or "" for column in range(4)]
        for row in range(model.rowCount(parent))
    ]


@pytest.mark.parametrize("text", ["", "t1 relu"])
@pytest.mark.parametrize(
    "program", [PROGRAM, ProgramData(), big(2 * CHUNK + 7)], ids=["small", "empty", "big"]
)
def test_model_keeps_qts_rules(program: ProgramData, text: str, qtmodeltester: ModelTester) -> None:
    model = ProgramModel()
    model.set_program(program)
    model.set_filter(text)
    qtmodeltester.check(model, force_py=True)


def test_rows_say_what_the_program_is(tree: ProgramTree) -> None:
    model = tree._model
    root = model.index(0, 0)
    assert words(model, QModelIndex()) == [["lenet", "", "", ""]]
    assert words(model, root) == [["block 0", "3 ops", "", ""], ["block 1", "1 ops", "", ""]]
    operators = section(model, 0, OPERATORS)
    assert words(model, operators) == [
        ["conv2d", "[?, 6, 28, 28]", "float32", "lenet.py:14"],
        ["relu", "", "", "lenet.py:15"],
        ["cond", "", "", "lenet.py:14"],
    ]
    assert words(model, model.index(0, 0, operators)) == [
        ["\u2190 Input", "x", "", ""],
        ["\u2190 Filter", "w", "", ""],
        ["\u2192 Output", "y", "", ""],
        ["strides", "[1, 1]", "", ""],
        ["format", "'NCHW'", "", ""],
    ]
    assert words(model, model.index(2, 0, operators))[-1][:2] == ["sub-block", "1"]
    model.fetchMore(section(model, 0, VARIABLES))
    assert words(model, section(model, 0, VARIABLES))[:2] == [
        ["x", "[?, 1, 28, 28]", "float32", "no gradient"],
        ["w", "[6, 1, 3, 3]", "float32", "parameter"],
    ]
    # A name that the inner block doesn't hold is looked up around it.
    model.fetchMore(section(model, 1, OPERATORS))
    assert words(model, section(model, 1, OPERATORS)) == [["scale", "[?, 6, 28, 28]", "float32", ""]]


def test_rows_are_fetched_in_pieces() -> None:
    model = ProgramModel()
    model.set_program(big(CHUNK + 3))
    operators = section(model, 0, OPERATORS)
    assert model.rowCount(operators) == 0
    assert model.hasChildren(operators)
    model.fetchMore(operators)
    assert model.rowCount(operators) == CHUNK
    model.fetchMore(operators)
    assert model.rowCount(operators) == CHUNK + 3
    assert not model.canFetchMore(operators)


def test_selection_is_emitted(tree: ProgramTree, qtbot: QtBot) -> None:
    with qtbot.waitSignal(tree.operator_selected) as signal:
        tree.select_operator(0, 1)
    assert signal.args == [(0, 1, RELU)]
    assert tree.selected_operator() == (0, 1)
    tree._model.fetchMore(section(tree._model, 0, VARIABLES))
    with qtbot.waitSignal(tree.variable_selected) as signal:
        tree.view.setCurrentIndex(tree._model.index_of(0, VARIABLES, 1))
    assert signal.args == [(0, MAIN[1])]
    assert tree.selected_operator() is None
    with pytest.raises(IndexError, match="no operator 7 in block 0"):
        tree.select_operator(0, 7)


def test_operators_of_a_line(tree: ProgramTree) -> None:
    assert tree.operators_at_line("/home/me/lenet.py", 14) == [(0, 0), (0, 2)]
    assert tree.operators_at_line("/home/me/lenet.py", 99) == []


def test_filter_leaves_what_contains_every_word(tree: ProgramTree) -> None:
    model = tree._model
    tree.set_filter("STRIDES=[1 conv")
    assert [row[0] for row in words(model, section(model, 0, OPERATORS))] == ["conv2d"]
    assert model.filter.count == 1
    tree.set_filter("parameter")
    assert words(model, section(model, 0, OPERATORS)) == []
    assert [row[0] for row in words(model, section(model, 0, VARIABLES))] == ["w"]
    tree.set_filter("nothing like it")
    assert tree._nothing.isVisible()
    assert not tree.view.isVisible()
    tree.set_filter("")
    assert model.filter.count == 7
    assert tree.view.isVisible()


def test_a_filtered_row_keeps_its_number(tree: ProgramTree) -> None:
    tree.set_filter("cond")
    QApplication.processEvents()
    tree.view.setCurrentIndex(tree._model.index(0, 0, section(tree._model, 0, OPERATORS)))
    assert tree.selected_operator() == (0, 2)
    tree.set_filter("")
    assert tree.selected_operator() == (0, 2)


def test_selecting_a_hidden_operator_takes_the_filter_back(tree: ProgramTree) -> None:
    tree.set_filter("relu")
    tree.select_operator(0, 0)
    assert tree.filter_box.text() == ""
    assert tree.selected_operator() == (0, 0)


def test_typing_filters_and_return_goes_to_the_first_match(tree: ProgramTree, qtbot: QtBot) -> None:
    qtbot.keyClicks(tree.filter_box, "relu")
    qtbot.keyClick(tree.filter_box, Qt.Key.Key_Return)
    assert tree.selected_operator() == (0, 1)


def test_far_operators_are_fetched_when_selected(tree: ProgramTree) -> None:
    tree.set_program(big(3 * CHUNK))
    tree.select_operator(0, 2 * CHUNK + 5)
    assert tree.selected_operator() == (0, 2 * CHUNK + 5)
    assert tree.view.visualRect(tree.view.currentIndex()).isValid()


def test_of_a_hundred_thousand_operators_only_the_first_are_made(tree: ProgramTree) -> None:
    tree.set_program(big(100_000))
    operators = section(tree._model, 0, OPERATORS)
    tree.view.expand(operators)
    QApplication.processEvents()
    assert 0 < tree._model.rowCount(operators) <= 2 * CHUNK
    assert tree._model.canFetchMore(operators)


def test_a_very_far_operator_is_listed_without_all_before_it(tree: ProgramTree, qtbot: QtBot) -> None:
    tree.set_program(big(100_000))
    model: ProgramModel = tree._model
    tree.mark_operators({(0, 60_000): ("breakpoint", "bad")})
    tree.select_operator(0, 60_000)
    assert tree.selected_operator() == (0, 60_000)
    listed = section(model, 0, OPERATORS)
    assert model.rowCount(listed) <= 2 * CHUNK + 1
    row = tree.view.currentIndex()
    assert row.data(Qt.ItemDataRole.DecorationRole) is not None
    assert tree.view.viewport().rect().intersects(tree.view.visualRect(row))
    assert listed.siblingAtColumn(1).data() == theme.format_number(100_000)
    tree.select_operator(0, 60_050)  # near it: nothing is listed anew
    assert model.operator_at(row) == (0, 60_000)
    tree.view.verticalScrollBar().setValue(tree.view.verticalScrollBar().minimum())
    first = model.operator_at(model.index(0, 0, section(model, 0, OPERATORS)))
    assert first is not None
    assert first[1] < 60_000 - CHUNK  # those before are listed as one scrolls up
    tree.select_operator(0, 3)
    assert tree.selected_operator() == (0, 3)
    tree.set_filter("t99999")
    assert [row[0] for row in words(model, section(model, 0, OPERATORS))] == ["relu", "relu"]


def test_the_only_block_stays_the_root_after_a_far_selection(tree: ProgramTree) -> None:
    tree.set_program(big(50_000))
    program = tree._model.index(0, 0)
    tree.view.setRootIndex(tree._model.index(0, 0, program))
    tree.select_operator(0, 40_000)
    assert tree.view.rootIndex() == tree._model.index(0, 0, tree._model.index(0, 0))
    assert tree.view.isExpanded(section(tree._model, 0, OPERATORS))


def test_texts_of_values() -> None:
    assert shape_text((-1, 6)) == "[?, 6]"
    assert value_text("NCHW") == "'NCHW'"
    long = value_text(list(range(1000)))
    assert len(long) < 210
    assert long.startswith("[0, 1,")
    assert long.endswith("999]")


def test_long_names_get_the_free_space(tree: ProgramTree, qtbot: QtBot) -> None:
    long = OperatorData(
        "fused_softmax_mask_upper_triangle_with_dropout", {"X": ("x",)}, {"Out": ("y",)}, {}, ""
    )
    tree.resize(900, 400)
    tree.set_program(ProgramData("long", (BlockData(0, (long,), MAIN),)))
    row = tree._model.index_of(0, OPERATORS, 0)

    def wide_enough() -> bool:
        rect, hint = tree.view.visualRect(row), tree.view.fontMetrics().horizontalAdvance(long.type)
        return bool(rect.width() > hint)

    qtbot.waitUntil(wide_enough)
    # What was dragged by hand stays.
    tree.view.header().resizeSection(0, 120)
    tree.resize(950, 400)
    tree._fit()
    assert tree.view.columnWidth(0) == 120


def test_a_hit_in_a_child_is_shown_in_its_row(tree: ProgramTree) -> None:
    tree.set_filter("w conv")
    row = tree._model.index_of(0, OPERATORS, 0)
    assert row.data(WHY) == "Filter: w"
    assert row.data(Qt.ItemDataRole.ToolTipRole).endswith("\nFilter: w")
    tree.set_filter("conv2d")
    assert tree._model.index_of(0, OPERATORS, 0).data(WHY) == ""
    tree.set_filter("parameter")
    row = tree._model.index_of(0, VARIABLES, 1)
    assert row.data(WHY) == ""  # the row itself says so, in its last column
    tree.set_compact(True)
    assert row.data(WHY) == "parameter"
    assert row.data(Qt.ItemDataRole.AccessibleTextRole) == "w, [6, 1, 3, 3], parameter"


def test_matches_of_the_filter_are_highlighted(tree: ProgramTree, qapp: QApplication) -> None:
    assert spans("conv2d_conv", ["conv", "nv2"]) == [(0, 5), (7, 4)]
    mark = theme.mix(theme.current().panel, theme.current().warn, 0.35).name()

    def marked() -> bool:
        QApplication.processEvents()
        image = tree.view.viewport().grab().toImage()
        colors = (
            image.pixelColor(x, y).name() for x in range(image.width()) for y in range(0, image.height(), 2)
        )
        return mark in colors

    assert not marked()
    tree.set_filter("strides")
    assert marked()
    tree.set_filter("")
    tree.set_compact(True)
    assert not marked()
    tree.set_filter("relu")
    assert marked()
    tree.resize(150, 400)  # where the name is cut
    assert marked()


def test_items_that_are_made_later() -> None:
    made: list[int] = []

    def make(plain: dict[str, object]) -> VariableData:
        made.append(1)
        return VariableData(str(plain["name"]))

    later = Later([{"name": f"t{i}"} for i in range(1000)], make)
    model = ProgramModel()
    model.set_program(ProgramData("later", (BlockData(0, (), later), BlockData(1, (), MAIN, parent=0))))
    assert (len(later), len(made)) == (1000, 0)
    assert model.variable(1, "t998") == VariableData("t998")
    assert model.variable(1, "absent") is None
    assert model.variable(0, "t3") == later[3] == later[-997]
    assert len(made) == 2
    assert [each.name for each in later[1:3]] == ["t1", "t2"]


def test_operators_are_lit_without_being_chosen(tree: ProgramTree) -> None:
    tree.light_operators([(0, 0), (1, 0), (7, 7)])
    assert tree.lit_operators() == [(0, 0), (1, 0)]
    assert tree.selected_operator() is None
    ground = tree._model.index_of(0, OPERATORS, 0).data(Qt.ItemDataRole.BackgroundRole)
    assert ground.name().upper() == theme.current().selection
    assert tree._model.index_of(0, OPERATORS, 1).data(Qt.ItemDataRole.BackgroundRole) is None
    tree.set_program(PROGRAM)
    assert tree.lit_operators() == []

"""The curve plot as its users meet it: chips, smoothing, zoom, read-out, words, export."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from resources import quantities
from widgets import theme
from widgets.cards import Chip
from widgets.plot import CurvePlot, chart
from widgets.plot.legend import MOST_CHIPS
from widgets.plot.ticks import nice_ticks


@pytest.fixture
def plot(qtbot: QtBot) -> CurvePlot:
    widget = CurvePlot("Loss", "step")
    qtbot.addWidget(widget)
    widget.resize(640, 400)
    widget.show()
    return widget


def drawn(plot: CurvePlot) -> None:
    plot.chart.redraw()
    QApplication.processEvents()


def x_range(plot: CurvePlot) -> tuple[float, float]:
    return tuple(plot.chart.plotItem.getViewBox().viewRange()[0])


def test_colours_are_rendered_once_however_often_a_curve_is_drawn(plot: CurvePlot) -> None:
    plot.add_series("a", "a", 0)
    for step in range(10):
        plot.append("a", np.array([float(step)]), np.array([1.0]))
        plot.append("a", np.array([step + 0.5]), np.array([np.nan]))
        plot.set_best("a", step)
        drawn(plot)
    items = plot.chart._lines["a"]
    assert [len(item.fragmentAtlas) for item in (items.bad, items.dots, items.best)] == [1, 1, 1]


def test_every_point_is_kept(plot: CurvePlot) -> None:
    plot.add_series("a", "train")
    values = np.random.default_rng(0).normal(size=10_000)
    values[7] = np.nan
    for start in range(0, 10_000, 100):
        plot.append("a", np.arange(start, start + 100), values[start : start + 100])
    xs, ys = plot.series_data("a")
    np.testing.assert_array_equal(xs, np.arange(10_000))
    np.testing.assert_array_equal(ys, values)
    ys[0] = 99
    assert plot.series_data("a")[1][0] == values[0]


def test_wrong_calls_are_named(plot: CurvePlot) -> None:
    plot.add_series("a", "train")
    with pytest.raises(ValueError, match="already there: 'a'"):
        plot.add_series("a", "again")
    with pytest.raises(KeyError, match="no such series: 'b'"):
        plot.append("b", [1], [1])
    with pytest.raises(ValueError, match="equally long"):
        plot.append("a", [1, 2], [1])
    with pytest.raises(ValueError, match=r"between 0 and 0\.2"):
        plot.set_smoothing(1.0)


def test_redraws_are_batched(plot: CurvePlot, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    plot.add_series("a", "train")
    drawn(plot)
    count = 0
    whole = plot.chart._draw_visible

    def counted() -> None:
        nonlocal count
        count += 1
        whole()

    monkeypatch.setattr(plot.chart, "_draw_visible", counted)
    start = time.perf_counter()
    step = 0
    while (elapsed := time.perf_counter() - start) < 0.4 or step <= 20:
        plot.append("a", [step], [1.0])
        step += 1
        QApplication.processEvents()
    assert 1 <= count <= 25 * elapsed


def test_follows_until_zoomed_and_again_on_demand(plot: CurvePlot, qtbot: QtBot) -> None:
    plot.add_series("a", "train")
    plot.append("a", np.arange(101.0), np.ones(101))
    drawn(plot)
    assert x_range(plot) == pytest.approx((0, 100))
    qtbot.keyClick(plot.chart, Qt.Key.Key_Plus)
    assert x_range(plot) == pytest.approx((10, 90))
    plot.append("a", [500.0], [1.0])
    drawn(plot)
    assert x_range(plot) == pytest.approx((10, 90))
    qtbot.keyClick(plot.chart, Qt.Key.Key_Home)
    assert x_range(plot) == pytest.approx((0, 500))


def test_dragging_pans_and_a_double_click_shows_all(plot: CurvePlot, qtbot: QtBot) -> None:
    plot.add_series("a", "train")
    plot.append("a", np.arange(101.0), np.ones(101))
    drawn(plot)
    port = plot.chart.viewport()
    middle = port.rect().center()
    qtbot.mousePress(port, Qt.MouseButton.LeftButton, pos=middle)
    for shift in (10, 60, 120):
        qtbot.mouseMove(port, middle - QPoint(shift, 0))
    qtbot.mouseRelease(port, Qt.MouseButton.LeftButton, pos=middle - QPoint(120, 0))
    low, high = x_range(plot)
    assert low > 5
    assert high - low == pytest.approx(100)
    assert not plot.chart.follows
    qtbot.mouseDClick(port, Qt.MouseButton.LeftButton, pos=middle)
    assert x_range(plot) == pytest.approx((0, 100))


def test_y_fits_what_is_visible(plot: CurvePlot) -> None:
    plot.add_series("a", "train")
    plot.append("a", [0, 1, 2, 3], [1000.0, 5.0, 6.0, 7.0])
    drawn(plot)
    view = plot.chart.plotItem.getViewBox()
    assert view.viewRange()[1][1] > 1000
    plot.chart.set_view(1.9, 3)
    low, high = view.viewRange()[1]
    assert 4 < low < 5
    assert 7 < high < 8


def test_chip_toggles_its_curve(plot: CurvePlot, qtbot: QtBot) -> None:
    for key, scale in (("a", 1), ("b", 100)):
        plot.add_series(key, key)
        plot.append(key, np.arange(10), scale * np.arange(10))
    drawn(plot)
    view = plot.chart.plotItem.getViewBox()
    assert view.viewRange()[1][1] > 900
    qtbot.mouseClick(plot._legend.chips["b"], Qt.MouseButton.LeftButton)
    drawn(plot)
    assert view.viewRange()[1][1] < 10
    plot.set_series_visible("b", True)
    assert plot._legend.chips["b"].isChecked()


def test_smoothing_draws_both_and_zero_is_off(plot: CurvePlot) -> None:
    plot.add_series("a", "train")
    plot.add_series("v", "validation", 1, dashed=True)
    plot.append("a", np.arange(100), np.random.default_rng(0).normal(size=100))
    plot.append("v", [10, 20], [1.0, 3.0])
    drawn(plot)
    items = plot.chart._lines["a"]
    assert not items.raw.isVisible()
    assert items.line.isVisible()
    plot.set_smoothing(0.1)
    drawn(plot)
    assert items.raw.isVisible()
    assert not np.array_equal(items.raw.getData()[1], items.line.getData()[1])
    np.testing.assert_array_equal(items.raw.getData()[1], plot.series_data("a")[1])
    np.testing.assert_array_equal(items.line.getData()[1], plot.smoothed_data("a"))
    np.testing.assert_array_equal(plot.smoothed_data("v"), [1.0, 3.0])
    assert "a\u207f" in plot._control.slider.toolTip()
    plot._control.slider.setValue(0)
    drawn(plot)
    assert plot.smoothing() == 0
    np.testing.assert_array_equal(items.line.getData()[1], plot.series_data("a")[1])


def test_values_that_are_not_finite_show(plot: CurvePlot) -> None:
    plot.add_series("a", "train")
    plot.append("a", np.arange(6), [1, np.nan, 2, np.inf, 3, 4])
    drawn(plot)
    assert plot._legend.chips["a"].text() == "train · 2 not finite"
    bad = plot.chart._lines["a"].bad
    assert bad.isVisible()
    np.testing.assert_array_equal(bad.getData()[0], [1, 3])
    assert "2 not finite" in plot.summary()


def test_log_axis_writes_values_not_exponents(plot: CurvePlot) -> None:
    plot.add_series("a", "train")
    plot.append("a", np.arange(5), [1e-3, 1e-2, 0.1, 1, 10])
    plot.set_log(True)
    drawn(plot)
    axis = plot.chart._left
    low, high = plot.chart.plotItem.getViewBox().viewRange()[1]
    ticks = axis.tickValues(low, high, 300)[0][1]
    texts = axis.tickStrings(ticks, 1, 1)
    assert texts == ["0.001", "0.01", "0.1", "1", "10"]


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (0, 1, 6, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0, 400, 5, [0, 100, 200, 300, 400]),
        (-3, 7, 3, [-2.5, 0, 2.5, 5]),
        (0, 210, 3, [0, 100, 200]),
        (0, 1.05, 3, [0, 0.5, 1.0]),
        (1, 1, 5, []),
    ],
)
def test_nice_ticks(low: float, high: float, most: int, ticks: list[float]) -> None:
    assert nice_ticks(low, high, most)[1] == pytest.approx(ticks)


def test_shares_are_percentages_on_the_axis(plot: CurvePlot) -> None:
    plot.set_format(quantities.percent, percent=True)
    plot.add_series("a", "a")
    plot.append("a", [0, 1], [0.25, 0.995])
    plot.chart.redraw()
    axis = plot.chart.plotItem.getAxis("left")
    assert axis.tickStrings([0.25, 0.5, 1.0], 1, 0.25) == ["25\u2009%", "50\u2009%", "100\u2009%"]
    assert axis.tickStrings([0.975, 0.98], 1, 0.005) == ["97.5\u2009%", "98.0\u2009%"]
    plot.set_format(quantities.loss)
    assert axis.tickStrings([0.25, 0.5], 1, 0.25) == ["0.25", "0.50"]


def test_a_low_chart_has_three_to_six_numbers(plot: CurvePlot) -> None:
    plot.chart.setFixedHeight(150)
    axis, view = plot.chart._left, plot.chart.plotItem.getViewBox()
    ranges = ([0.1, 2.3], [0.4, 0.98], [1e-5, 300.0], [0.3, 20.0], [2.301, 2.304], [0.0021, 0.0079])
    for place, log in [(place, log) for place in range(len(ranges)) for log in (False, True)]:
        plot.clear()
        plot.add_series("a", "train")
        plot.append("a", [0, 1], ranges[place])
        plot.set_log(log)
        drawn(plot)
        ((step, ticks),) = axis.tickValues(*view.viewRange()[1], view.height())
        texts = axis.tickStrings(ticks, 1, step)
        assert 3 <= len(set(texts)) == len(ticks) <= 6, texts


def test_read_out_names_nearest_values(plot: CurvePlot, qtbot: QtBot) -> None:
    plot.add_series("a", "train")
    plot.append("a", [0, 10, 20], [5.0, 0.25, 7.0])
    drawn(plot)
    plot.chart.read_at(11.0)
    assert plot.chart.cursor_x == 10
    text = plot.chart._readout.label.text()
    assert "step 10" in text
    assert "0.25" in text
    assert plot.chart.rect().contains(plot.chart._readout.geometry())
    qtbot.keyClick(plot.chart, Qt.Key.Key_Escape)
    assert plot.chart._readout.isHidden()


def test_table_holds_all_points(plot: CurvePlot, qtbot: QtBot) -> None:
    for key, label, xs in (("a", "train", [0, 1, 2]), ("e", "empty", []), ("b", "validation", [7])):
        plot.add_series(key, label)
        plot.append(key, xs, [x / 2 for x in xs])
    plot.actions_bar.table.click()
    assert plot._table.isVisible()
    model = plot._points
    rows = [[model.index(row, column).data() for column in range(3)] for row in range(model.rowCount())]
    assert rows == [
        ["train", "0", "0"],
        ["train", "1", "0.5"],
        ["train", "2", "1"],
        ["validation", "7", "3.5"],
    ]
    plot.append("a", [3], [9])
    model.refresh()
    assert model.index(3, 2).data() == "9"
    assert model.index(4, 0).data() == "validation"
    plot.set_table_visible(False)
    assert plot.chart.isVisible()
    assert not plot._table_timer.isActive()


def test_the_table_keeps_qts_rules(plot: CurvePlot, qtmodeltester: ModelTester) -> None:
    plot.add_series("a", "train")
    plot.append("a", np.arange(20), np.arange(20))
    plot._points.refresh()
    qtmodeltester.check(plot._points, force_py=True)


def test_csv_holds_all_points(plot: CurvePlot, tmp_path: Path) -> None:
    plot.add_series("a", "train, first")
    plot.append("a", [0, 1, 2.5], [0.1, np.nan, 1e-9])
    plot.add_series("b", "validation")
    plot.append("b", [7], [3])
    path = tmp_path / "curves.csv"
    plot.export_csv(path)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["series", "step", "value"],
        ["train, first", "0", "0.1"],
        ["train, first", "1", "nan"],
        ["train, first", "2.5", "1e-09"],
        ["validation", "7", "3.0"],
    ]
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_export_is_reported(
    plot: CurvePlot, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = str(tmp_path / "missing" / "curves.csv")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args: (missing, ""))
    with qtbot.waitSignal(plot.export_failed) as failed:
        plot.actions_bar.kinds["csv"].trigger()
    assert missing in failed.args[0]


def test_clear_and_remove(plot: CurvePlot) -> None:
    plot.add_series("a", "train")
    plot.append("a", [0], [1])
    plot.clear()
    drawn(plot)
    assert plot.series_keys() == []
    assert plot.chart._lines == {}
    assert plot._placeholder.isVisible()
    plot.add_series("a", "again")


def test_colours_follow_the_theme(plot: CurvePlot, qapp: QApplication) -> None:
    plot.add_series("a", "train", 1)
    plot.append("a", [0, 1], [1, 2])
    drawn(plot)
    theme.apply_theme(qapp, "dark")
    drawn(plot)
    assert plot.chart._lines["a"].line.opts["pen"].color() == QColor(theme.DARK.runs[1])
    assert plot.grab().toImage().pixelColor(150, 395).name().upper() in (theme.DARK.panel, theme.DARK.ground)


def test_of_a_million_points_two_a_pixel_are_drawn(plot: CurvePlot) -> None:
    count = 1_000_000
    plot.resize(1200, 600)
    plot.add_series("a", "train")
    plot.append("a", np.arange(count), np.random.default_rng(0).normal(size=count))
    plot.set_smoothing(0.02)
    drawn(plot)
    for shift in range(3):
        plot.chart.set_view(1000 * shift, 500_000 + 9000 * shift)
        plot.chart.viewport().repaint()
        for curve in (plot.chart._lines["a"].raw, plot.chart._lines["a"].line):
            points = len(curve.getData()[0])
            assert 100 < points <= 2 * plot.chart.viewport().width() + 8


def test_extreme_values_are_left_out_said_and_brought_back_by_a_click(plot: CurvePlot, qtbot: QtBot) -> None:
    plot.add_series("a", "train")
    plot.append("a", np.arange(102), [*np.linspace(2, 0.1, 100), 1e6, 5e9])
    drawn(plot)
    view = plot.chart.plotItem.getViewBox()
    assert view.viewRange()[1][1] < 10
    chip = plot._left_out
    assert chip.isVisible()
    assert chip.text() == "2 omitted, up to 5e9 \u00b7 whole range"
    assert "2 omitted" in plot.summary()
    qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    drawn(plot)
    assert view.viewRange()[1][1] > 5e9
    assert chip.text() == "whole range"
    plot.set_whole_range(False)
    plot.set_robust(False)
    drawn(plot)
    assert view.viewRange()[1][1] > 5e9
    assert not chip.isVisible()


@pytest.mark.parametrize(("kind", "head"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_images_are_saved_from_the_menu(
    plot: CurvePlot, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, kind: str, head: bytes
) -> None:
    plot.add_series("a", "train", 1)
    plot.append("a", np.arange(50), np.arange(50))
    drawn(plot)
    target = tmp_path / f"loss.{kind}"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args: (str(target), ""))
    with qtbot.waitSignal(plot.exported) as saved:
        plot.actions_bar.kinds[kind].trigger()
    assert saved.args == [str(target)]
    data = target.read_bytes()
    assert data.startswith(head)
    if kind == "png":
        image = QImage(str(target))
        colors = {
            image.pixelColor(x, y).name()
            for x in range(0, image.width(), 2)
            for y in range(0, image.height(), 2)
        }
        assert QColor(theme.run_color(1)).name() in colors
    else:
        assert b"Loss" in data
        assert data.count(b"<polyline") + data.count(b"<path") > 10


def test_the_axes_have_titles(plot: CurvePlot) -> None:
    assert (plot.chart._bottom.labelText, plot.chart._left.labelText) == ("step", "Loss")
    plot.set_title("Rate", "epoch", "learning rate")
    assert (plot.chart._bottom.labelText, plot.chart._left.labelText) == ("epoch", "learning rate")


def test_the_best_point_has_a_ring(plot: CurvePlot) -> None:
    plot.add_series("v", "validation", dashed=True)
    plot.append("v", [10, 20, 30], [0.5, 0.9, 0.8])
    plot.set_best("v", 20)
    drawn(plot)
    ring = plot.chart._lines["v"].best
    assert ring.isVisible()
    assert [values.tolist() for values in ring.getData()] == [[20.0], [0.9]]
    assert "best 0.9 at 20" in plot.summary()
    plot.chart.read_at(21)
    assert "best" in plot.chart._readout.label.text()
    plot.set_best("v", None)
    drawn(plot)
    assert not ring.isVisible()


@pytest.mark.parametrize(("at", "beyond"), [(30, QPoint(5, 0)), (10, QPoint(-5, 0)), (20, QPoint(0, 5))])
def test_a_ring_at_the_edge_of_the_chart_is_drawn_whole(plot: CurvePlot, at: int, beyond: QPoint) -> None:
    plot.add_series("v", "validation", color="#ff0000")
    plot.append("v", [10, 20, 30], [0.5, 0.0, 1.0])
    plot.set_best("v", at)
    drawn(plot)
    view = plot.chart.plotItem.getViewBox()
    y = dict(zip(*map(list, plot.series_data("v")), strict=True))[at]
    place = plot.chart.mapFromScene(view.mapViewToScene(QPointF(at, y))) + beyond
    assert not view.sceneBoundingRect().contains(plot.chart.mapToScene(place))
    image = plot.chart.grab().toImage().copy(QRect(place - QPoint(1, 1), QSize(3, 3)))
    greens = [QColor(image.pixel(x, y)).green() for x in range(3) for y in range(3)]
    assert min(greens) < 100, "the outline, which is red, lies here"


def test_chips_of_a_few_curves_have_the_middle_of_the_title(plot: CurvePlot, qtbot: QtBot) -> None:
    for name in "ab":
        plot.add_series(name, name)

    def middle(widget: QWidget) -> int:
        return widget.mapTo(plot, widget.rect().center()).y()

    chips = [chip for chip in plot.findChildren(Chip) if chip.text() in ("a", "b")]
    qtbot.waitUntil(lambda: all(chip.isVisible() and chip.visibleRegion().boundingRect() for chip in chips))
    assert [abs(middle(chip) - middle(plot._title)) <= 1 for chip in chips] == [True, True]


def test_a_companion_curve_is_shown_and_hidden_by_its_chip(plot: CurvePlot, qtbot: QtBot) -> None:
    plot.add_series("a", "run")
    plot.add_series("v", "run, validation", dashed=True, companion_of="a")
    with pytest.raises(KeyError, match="'none'"):
        plot.add_series("b", "b", companion_of="none")
    plot.append("a", [0, 1], [1.0, 2.0])
    plot.append("v", [0, 1], [3.0, np.nan])
    drawn(plot)
    assert list(plot._legend.chips) == ["a"]
    qtbot.mouseClick(plot._legend.chips["a"], Qt.MouseButton.LeftButton)
    drawn(plot)
    assert not plot.chart._lines["v"].line.isVisible()
    plot.set_series_visible("a", True)
    drawn(plot)
    assert plot.chart._lines["v"].line.isVisible()
    plot.remove_series("a")
    assert plot.series_keys() == []


def test_the_largest_numbers_can_be_drawn(plot: CurvePlot) -> None:
    plot.add_series("a", "train")
    plot.append("a", np.arange(3), [-1.7e308, 0.0, 1.7e308])
    plot.set_robust(False)
    drawn(plot)
    bottom, top = plot.chart.plotItem.getViewBox().viewRange()[1]
    assert -1.2e300 < bottom < -1e300 < 1e300 < top < 1.2e300


@pytest.mark.parametrize("values", [[np.nan, np.inf], [0.0, -1.0]])
def test_points_without_a_place_are_drawn_without_a_warning(plot: CurvePlot, values: list[float]) -> None:
    plot.add_series("a", "train")
    plot.set_log(True)
    plot.append("a", [1, 2], values)
    plot.set_best("a", 1)
    drawn(plot)
    plot.grab()
    items = plot.chart._lines["a"]
    assert not items.dots.isVisible()
    assert not items.best.isVisible()


def test_a_hidden_plot_is_drawn_when_it_is_shown(qtbot: QtBot) -> None:
    hidden = CurvePlot("Loss", "step")
    qtbot.addWidget(hidden)
    drawn: list[bool] = []
    redraw = hidden.chart._draw_visible
    hidden.chart._draw_visible = lambda: drawn.append(True) or redraw()  # type: ignore[method-assign, func-returns-value]
    hidden.add_series("a", "train")
    hidden.append("a", [1, 2, 3], [3.0, 2.0, 1.0])
    hidden.chart.schedule()
    qtbot.wait(80)
    assert drawn == []
    hidden.show()
    qtbot.waitUntil(lambda: drawn != [])


def test_a_chart_redraws_at_once_after_a_pause_and_waits_after_a_redraw(
    plot: CurvePlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn(plot)
    plot.chart._timer.stop()
    redraws: list[bool] = []
    redraw = plot.chart._draw_visible
    monkeypatch.setattr(plot.chart, "_draw_visible", lambda: (redraws.append(True), redraw()))
    monkeypatch.setattr(chart, "REDRAW_MS", 0)  # the last redraw is long ago
    plot.chart.schedule()
    QApplication.processEvents()
    assert redraws == [True]
    monkeypatch.setattr(chart, "REDRAW_MS", 60_000)
    plot.chart.schedule()
    QApplication.processEvents()
    assert redraws == [True]
    assert plot.chart._timer.isActive()
    plot.chart._timer.stop()


def test_chips_of_many_curves_leave_the_height_to_the_chart(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(400, 400)
    plot = CurvePlot("Loss", "step", window)
    plot.resize(340, 320)
    window.show()
    for number in range(24):
        plot.add_series(f"run {number}", f"lr 0.0003, batch {number}", number)
    legend = plot._legend
    qtbot.waitUntil(lambda: legend.width() == 340 and legend.height() == legend.heightForWidth(340) > 40)
    assert plot.chart.height() > 200
    last = plot._legend.chips["run 23"]
    last.setFocus(Qt.FocusReason.TabFocusReason)
    plot._legend.ensureWidgetVisible(last)
    qtbot.mouseClick(last, Qt.MouseButton.LeftButton)
    assert not last.isChecked()
    for number in range(3, 24):
        plot.remove_series(f"run {number}")
    assert plot._legend.y() < plot._title.height() + 8  # next to the title again


def chips_in(plot: CurvePlot) -> list[str]:
    """The texts of the chips of curves, in the order in which they are shown."""
    flow = plot._legend.widget().layout()
    return [flow.itemAt(at).widget().text() for at in range(flow.count() - 1)]


def test_200_curves_make_few_chips_and_the_others_are_in_a_menu(plot: CurvePlot, qtbot: QtBot) -> None:
    made = len(plot.findChildren(Chip))
    for at in range(200):
        plot.add_series(f"run {at}", f"run {at}", at)
    legend = plot._legend
    assert len(plot.findChildren(Chip)) == made + MOST_CHIPS
    assert chips_in(plot) == [f"run {at}" for at in range(MOST_CHIPS)]
    assert legend.more.isVisibleTo(legend)
    assert legend.more.text() == "\u2026 176 more"
    assert not legend.findChildren(QMenu), "its entries are made when it opens"
    qtbot.mouseClick(legend.more, Qt.MouseButton.LeftButton)
    (menu,) = legend.findChildren(QMenu)
    assert [each.text() for each in menu.actions()] == [f"run {at}" for at in range(MOST_CHIPS, 200)]
    entry = menu.actions()[-1]
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(entry).center())
    assert not plot._series["run 199"].visible
    menu.close()

    plot.set_front(["run 199"])
    assert chips_in(plot) == [*(f"run {at}" for at in range(MOST_CHIPS - 1)), "run 199"]
    assert not legend.chips["run 199"].isChecked()
    qtbot.mouseClick(legend.chips["run 199"], Qt.MouseButton.LeftButton)
    assert plot._series["run 199"].visible
    plot.set_front([])
    for at in range(3, 179):
        plot.remove_series(f"run {at}")
    assert chips_in(plot) == [f"run {at}" for at in (0, 1, 2, *range(179, 200))]
    assert not legend.more.isVisibleTo(legend)

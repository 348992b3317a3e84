"""Pages in a window of 960 by 650: nothing is cut off, and no page is higher than what it shows."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from studio.windows.controls import Scroll
from widgets import theme
from widgets.cards import Chip, KeyFigure

pytestmark = pytest.mark.styled


@pytest.fixture
def narrow(shared_stage: Any) -> Any:
    shared_stage.window.resize(960, 650)
    QApplication.processEvents()
    return shared_stage


def test_the_first_page_is_as_high_as_what_it_shows(narrow: Any, qapp: QApplication) -> None:
    narrow.studio.frame.show_page("train")
    narrow.studio.train_page.curves.make_plots()
    theme.apply_theme(qapp, "dark")  # asks for the size of what is behind, too
    theme.apply_theme(qapp, "light")
    QApplication.processEvents()
    welcome = narrow.studio.train_page.welcome
    assert welcome.isVisible()
    scroll = next(each for each in narrow.window.findChildren(Scroll) if each.isAncestorOf(welcome))
    assert (scroll.verticalScrollBar().maximum(), scroll.horizontalScrollBar().maximum()) == (0, 0)


def test_chips_and_figures_are_not_cut_off(narrow: Any) -> None:
    for page, kind, widget in (
        ("train", Chip, narrow.studio.train_page.curves),
        ("data", KeyFigure, narrow.studio.data_page),
    ):
        narrow.studio.frame.show_page(page)
        narrow.studio.train_page.show_welcome(False)
        narrow.studio.data_page.show_data()
        for figure in narrow.studio.data_page.figures.values():
            figure.set_value("1 × 28 × 28")
        QApplication.processEvents()
        shown = [each for each in widget.findChildren(kind) if each.isVisible()]
        assert len(shown) >= 4
        for each in shown:
            right = each.mapTo(widget, each.rect().topRight()).x()
            assert each.width() >= each.minimumSizeHint().width()
            assert right < widget.width(), each.text()
    narrow.studio.train_page.show_welcome(True)

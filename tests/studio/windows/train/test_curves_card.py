"""The card of the curves makes its plots when they are first needed."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from studio.windows.train.curves_card import CurvesCard


def test_plots_are_made_when_the_card_is_first_seen(qtbot: QtBot) -> None:
    card = CurvesCard()
    qtbot.addWidget(card)
    outcome: list[str] = []
    card.plot_added.connect(outcome.append)
    card.log.click()
    assert not card.plots
    card.show()
    assert outcome == ["loss", "accuracy"]
    assert card.plots["loss"].isVisible()
    assert card.plots["accuracy"].isVisible()
    assert card.plots["loss"].chart.log
    card.hide()
    card.show()
    assert outcome == ["loss", "accuracy"]


def test_another_quantity_comes_with_the_first_two(qtbot: QtBot) -> None:
    card = CurvesCard()
    qtbot.addWidget(card)
    card.show_quantity("rate")
    assert list(card.plots) == ["loss", "accuracy", "rate"]
    card.show()
    assert card.plots["rate"].isVisible()
    assert not card.plots["accuracy"].isVisible()

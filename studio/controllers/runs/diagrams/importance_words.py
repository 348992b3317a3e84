"""The importance of settings in words: a row for each setting, and what the numbers are."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication

from resources import installing, quantities
from studio.session.runs.diagrams.importance import FEWEST_FOR_FOREST, FEWEST_RUNS
from studio.session.runs.diagrams.importance_view import ImportanceView
from widgets.bars import MeasuredRow

ARROWS = {1: "↑\u2009", -1: "↓\u2009", 0: ""}


def _tr(text: str) -> str:
    return QCoreApplication.translate("Importance", text)


def importance_rows(view: ImportanceView, title: Callable[[str], str]) -> list[MeasuredRow]:
    """A row for each setting, the most important first."""
    tips = {
        1: _tr("Larger values go with larger values of the metric"),
        -1: _tr("Larger values go with smaller values of the metric"),
        0: _tr("Categories"),
    }
    rows: list[MeasuredRow] = []
    for each in view.rows:
        arrow = ARROWS[each.direction] if each.value > each.error else ""  # else it may be noise
        text = arrow + quantities.number(float(each.value), digits=2)
        if view.method == "forest":
            text += f" ± {quantities.number(float(each.error), digits=1)}"
        rows.append(MeasuredRow(each.name, title(each.name), (each.value,), text, tip=tips[each.direction]))
    return rows


def importance_notes(view: ImportanceView) -> list[str]:
    """The method, how certain it is, and what gives the other one; a line each."""
    if not view.rows:
        words = _tr("At least {0} runs are needed whose settings and results differ")
        return [words.format(quantities.count(FEWEST_RUNS))]
    runs = quantities.count(view.runs)
    if view.method == "forest":
        notes = [
            _tr(
                "Permutation importance of a random forest over {0} runs: how much its error on held-out "
                "runs grows when a setting is shuffled, as a share of the variance"
            ).format(runs)
        ]
    else:
        notes = [
            _tr(
                "Rank correlation over {0} runs, from 0 to 1; of categories the correlation ratio of ranks"
            ).format(runs)
        ]
        if view.computing:
            notes.append(_tr("Computing the permutation importance of a random forest…"))
        elif not view.has_forest:
            notes.append(
                _tr("A random forest also finds peaks and interactions: {0}").format(
                    installing.extra("sweep")
                )
            )
    if view.runs < FEWEST_FOR_FOREST:
        notes.append(
            _tr("With fewer than {0} runs it is uncertain").format(quantities.count(FEWEST_FOR_FOREST))
        )
    return notes

"""The small plot of the schedule below its row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core.errors import ArgumentError
from engine.training.rules.schedule_preview import planned_rates
from resources.settings import Settings


def test_it_follows_the_form(stage: Any, qtbot: Any) -> None:
    panel, form = stage.studio.settings_panel, stage.studio.settings_panel.form
    assert not panel.schedule.isVisible()
    form.set_value("schedule", "step_decay")
    form.control("schedule_params.step_size").setText("2")
    form.control("schedule_params.gamma").setText("0.5")
    form.control("samples").setText("640")

    qtbot.waitUntil(lambda: len(panel.schedule.points()[0]) == 10, timeout=20_000)
    assert panel.schedule.isVisible()
    steps, rates = panel.schedule.points()
    np.testing.assert_array_equal(steps, [0, 10, 10, 20, 20, 30, 30, 40, 40, 50])
    np.testing.assert_allclose(rates, np.repeat([1e-3, 1e-3, 5e-4, 5e-4, 2.5e-4], 2))
    form.set_value("schedule", "reduce_on_plateau")
    qtbot.waitUntil(lambda: "gets no better" in panel.schedule.words(), timeout=20_000)
    form.set_value("schedule", "constant")
    qtbot.waitUntil(lambda: not panel.schedule.isVisible(), timeout=20_000)


def test_the_rates_of_a_run_that_moves_each_batch() -> None:
    settings = Settings(
        schedule="exponential_decay",
        schedule_params={"gamma": 0.5},
        schedule_each="batch",
        epochs=2,
        learning_rate=0.8,
    )
    planned = planned_rates(settings, 2)
    np.testing.assert_allclose(planned.rates, [0.8, 0.4, 0.2, 0.1])
    np.testing.assert_array_equal(planned.steps, [0, 1, 2, 3])
    with pytest.raises(ArgumentError, match="not known before its data was read"):
        planned_rates(settings, 0)


def test_a_long_run_is_cut() -> None:
    settings = Settings(
        schedule="exponential_decay", schedule_params={"gamma": 0.9}, schedule_each="batch", epochs=1000
    )
    planned = planned_rates(settings, 1000)
    assert (len(planned.rates), planned.whole) == (20_000, False)

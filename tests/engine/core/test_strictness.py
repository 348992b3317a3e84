"""Arguments that Paddle silently ignores: a warning, or an error under strict()."""

from __future__ import annotations

import pytest

import engine
from engine.core.errors import GradientError
from engine.core.strictness import LeniencyWarning, tolerate


def test_warns_at_the_users_line() -> None:
    with pytest.warns(LeniencyWarning, match="where: what") as seen:
        tolerate(GradientError("where: what"))
    assert seen[0].filename == __file__


def test_raises_within_strict_only() -> None:
    with engine.strict():
        with pytest.raises(GradientError, match="where: what"):
            tolerate(GradientError("where: what"))
        with engine.strict(False), pytest.warns(LeniencyWarning):
            tolerate(GradientError("where: what"))
    with pytest.warns(LeniencyWarning):
        tolerate(GradientError("where: what"))

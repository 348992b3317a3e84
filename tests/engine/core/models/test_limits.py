"""Limits of models that this installation did not write: texts, blocks, the environment."""

from __future__ import annotations

import pytest

import engine
from engine.core.errors import ArgumentError, LimitError
from engine.core.models import limits as model_limits
from engine.core.models.limits import ENVIRONMENT, ModelLimits, current, parse


def test_a_text_states_limits_and_is_read_again():
    limits = parse("memory=2 GB, seconds=0.5,steps=1e6")
    assert limits == ModelLimits(memory=2 * 10**9, seconds=0.5, steps=10**6)
    assert parse(str(limits)) == limits
    large = ModelLimits(memory=10**15, seconds=1e17 / 3, steps=10**12)
    assert parse(str(large)) == large
    assert parse("seconds=1e+06").seconds == 1e6
    assert parse("memory=512 MiB").memory == 512 << 20
    assert parse("", limits) == limits


@pytest.mark.parametrize(
    "text",
    [
        "memory",
        "memory=",
        "memory=-1",
        "memory=1 XB",
        "seconds=nan",
        "seconds=0",
        "steps=1 MB",
        "time=3",
        "memory=1e99",
    ],
)
def test_other_texts_are_refused(text):
    with pytest.raises(ArgumentError, match="model_limits"):
        parse(text)


def test_a_block_changes_them_within():
    before = current()
    with engine.model_limits(memory="1 GB"):
        assert current() == before.raised(memory=10**9)
        with engine.model_limits(steps=7):
            assert (current().memory, current().steps) == (10**9, 7)
    assert current() == before


def test_the_environment_states_them_for_a_process(monkeypatch):
    monkeypatch.setenv(ENVIRONMENT, "seconds=60")
    assert current() == ModelLimits().raised(seconds=60)


def test_weights_and_inputs_explain_a_part():
    limits = ModelLimits(memory=100, seconds=1.0, steps=10)
    assert limits.for_bytes(1_000_000) == ModelLimits(16_000_100, 2.0, 10_010)


def test_an_exhausted_limit_is_a_memory_error_too():
    error = LimitError(f"run: 2 GB; {model_limits.how_to_raise('memory', '4 GB')}")
    assert isinstance(error, MemoryError)
    assert "engine.model_limits(memory='4 GB')" in str(error)
    assert "(ResourceExhausted)" in str(error)

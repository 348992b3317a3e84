"""What is shown of saved files whose model can't be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine as paddle
from engine import jit, nn
from engine.files.untrusted import guarded
from studio.session.predict.saved_files import describe_model
from tests.robust.hostile_models import attribute, forge_files


def test_a_model_over_its_bounds_is_described_with_the_refusal_of_loading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded, "check", lambda suspects: None)  # the guarded reader has its own tests
    prefix = tmp_path / "model"
    net = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    jit.save(jit.to_static(net, input_spec=[paddle.static.InputSpec([None, 2, 2])]), str(prefix))
    assert describe_model(str(prefix))["refusal"] is None
    forge_files(prefix, attribute("flatten_contiguous_range", stop_axis=2**41))
    described = describe_model(str(prefix))
    assert "stop_axis is 2199023255552; it should be an integer of at most 65536" in described["refusal"]
    assert described["operators"][0]["type"] == "flatten_contiguous_range"
    with pytest.raises(paddle.core.errors.FormatError) as caught:
        jit.load(str(prefix))
    assert str(caught.value) == described["refusal"]

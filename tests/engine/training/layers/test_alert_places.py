"""Alerts name the user's line that calls the layer."""

from __future__ import annotations

from engine.training.config import TrainingConfig
from engine.training.layers.alerts import place_of
from engine.training.setup import build_parts

PLACES = {"a.conv": ("net.py", 4), "act": ("net.py", 9)}


def test_a_parameter_is_at_the_line_of_its_layer() -> None:
    names = ("a.conv", "a.conv.weight", "act #2", "other.weight", "")
    assert [place_of(name, PLACES)[1] for name in names] == [4, 4, 9, 0, 0]


def test_a_static_step_knows_the_lines_of_its_layers() -> None:
    parts = build_parts(TrainingConfig.from_dict({"data": "digits", "model": "lenet", "samples": 200}))
    places = parts.stepper._layer_places
    file, line = places["conv1"]
    assert file.endswith("lenet.py")
    assert line < places["linear3"][1]
    eager = build_parts(
        TrainingConfig.from_dict({"data": "digits", "model": "lenet", "samples": 200, "static": False})
    )
    assert eager.stepper._layer_places == {}

"""The templates of own models: their text fits the data that they are made for."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.training.network.models import build_model, find_model, load_model
from resources.families import FAMILIES, ModelSpec
from studio.session.code.templates import ALL, Template, with_defaults

SPECS = {
    "images": ModelSpec("images", (3, 40, 36), 5),
    "table": ModelSpec("table", (4,), 3, words=(0, 6, 0, 2)),
    "sequences": ModelSpec("sequences", (12, 3), 2, masked=True),
}


@pytest.mark.parametrize("template", ALL, ids=lambda each: each.id)
def test_the_text_builds_the_network_for_the_data(template: Template, tmp_path: Path) -> None:
    family = FAMILIES[template.id]
    for kind in family.kinds:
        spec = SPECS[kind]
        file = tmp_path / f"{kind}.py"
        file.write_text(template.text(spec))
        own = build_model(load_model(find_model(f"{file}:{template.class_name()}")))
        ours = build_model(load_model(find_model(template.id)), family.arguments(spec))
        own_shapes = [(name, weight.shape) for name, weight in own.named_parameters()]
        assert own_shapes == [(name, weight.shape) for name, weight in ours.named_parameters()]


def test_data_that_the_network_does_not_take_leaves_its_arguments() -> None:
    text = next(each for each in ALL if each.id == "gru").text(SPECS["table"])
    assert 'values=1, outputs=10, cell="gru", hidden=64' in text


def test_defaults_on_several_lines_are_replaced() -> None:
    source = 'class A:\n    def __init__(\n        self, a=1, b="x", c=(),\n        d=None,\n    ): ...\n'
    text = with_defaults(source, "A", {"a": 10, "c": [3, 4], "d": True})
    assert 'self, a=10, b="x", c=(3, 4),\n        d=True,' in text

"""Programs print as Paddle 2.6.2 prints them, but for what docs/decisions lists."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import engine as paddle
from tests.engine.static.networks import NETWORKS, build

RECORDED = json.loads((Path(__file__).parent / "recorded" / "programs.json").read_text("utf-8"))["programs"]

# Paddle collects these in Python sets, whose order is different in every process.
_UNORDERED = re.compile(
    r"(?<=Input=)\[.*?\](?=\}, is_scalar)|(?<=X=)\[.*?\](?=\}, is_test)|(?<=Out=)\[.*?\](?=, S)"
)

# Name scopes are numbered through a whole process: the number depends on what was built before.
_NUMBERED = re.compile(r"(?<=op_namescope = /)(optimizer|gradient_clip|regularization)(?:_\d+)?/")


def _ordered(text: str) -> str:
    text = _NUMBERED.sub(r"\1/", text)
    return "\n".join(
        _UNORDERED.sub(lambda found: str(sorted(re.findall(r"'(.*?)'", found[0]))), line)
        if " while(" in line or " conditional_block(" in line
        else line
        for line in text.split("\n")
    )


def test_the_recorded_networks_are_these():
    assert {name: entry["code"] for name, entry in RECORDED.items()} == NETWORKS


@pytest.mark.parametrize("name", NETWORKS)
def test_text(name):
    recorded = {key: text for key, text in RECORDED[name].items() if key != "code"}
    texts = build(paddle, np, NETWORKS[name])
    assert texts.keys() == recorded.keys()
    for key, text in texts.items():
        assert _ordered(text).split("\n") == _ordered(recorded[key]).split("\n"), key

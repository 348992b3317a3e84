"""Public names of nn have the parameters and defaults that inspect prints for PaddlePaddle 2.6.2."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from engine import nn

LINES = Path(__file__).with_name("signatures.txt").read_text().splitlines()
ROOMS = {"nn": nn, "functional": nn.functional, "initializer": nn.initializer, "Layer": nn.Layer}


def written(thing: Any) -> str:
    """The signature without annotations."""
    parameters = inspect.signature(thing.__init__ if inspect.isclass(thing) else thing).parameters.values()
    bare = [p.replace(annotation=p.empty) for p in parameters]
    return str(inspect.Signature(bare))


LATER = {"nn.LSTM": ", proj_size=0", "nn.LSTMCell": ", proj_size=0"}
"""What Paddle 3 added at the end."""


@pytest.mark.parametrize("line", LINES)
def test_signature(line: str) -> None:
    path = line.partition("(")[0]
    room, name = path.split(".")
    assert path + written(getattr(ROOMS[room], name)) == f"{line[:-1]}{LATER.get(path, '')})"

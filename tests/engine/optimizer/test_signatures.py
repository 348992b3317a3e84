"""Optimizers, schedules and metrics have the signatures that inspect prints for PaddlePaddle 2.6.2."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from engine import metric, optimizer

LINES = Path(__file__).with_name("signatures.txt").read_text().splitlines()
ROOMS: dict[str, Any] = {"optimizer": optimizer, "lr": optimizer.lr, "metric": metric}


@pytest.mark.parametrize("line", LINES)
def test_signature(line: str) -> None:
    path = line.partition("(")[0]
    room, *rest = path.split(".")
    thing = ROOMS[room]
    for name in rest:
        thing = getattr(thing, name)
    parameters = inspect.signature(thing.__init__ if inspect.isclass(thing) else thing).parameters.values()
    assert path + str(inspect.Signature([p.replace(annotation=p.empty) for p in parameters])) == line

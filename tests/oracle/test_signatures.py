"""Every public function, class and method takes Paddle 2.6.2's parameters: names, order and defaults.

Ours may have further optional parameters behind Paddle's, and defaults where Paddle has none. What else
differs stands in ``OTHERWISE`` with its reason.
"""

from __future__ import annotations

import inspect
import json
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from docs.api import find
from tests.oracle.otherwise import OTHERWISE
from tests.oracle.scope import written_signature

PATH = Path(__file__).with_name("recorded") / "public_signatures.json"
RECORDED: dict[str, str] = json.loads(PATH.read_text(encoding="utf-8"))["signatures"]
OWNERS = sorted({name.rpartition(".")[0] for name in RECORDED})


def parts(text: str) -> list[str]:
    """The parameters of a written signature."""
    found, depth, start = [], 0, 1
    for place, character in enumerate(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if (character == "," and depth == 1) or (character == ")" and depth == 0):
            found.append(text[start:place].strip())
            start = place + 1
    return [each for each in found if each]


def extends(ours: str, theirs: str) -> bool:
    """Whether a call of Paddle's is one of ours too: the same parameters, and optional ones behind them.

    What is required there may be optional here.
    """
    mine, recorded = parts(ours), parts(theirs)
    if recorded and recorded[-1].startswith("**") and mine and mine[-1].startswith("**"):
        mine, recorded = mine[:-1], recorded[:-1]
    further = mine[len(recorded) :]
    same = all(m == r or m.partition("=")[0] == r for m, r in zip(mine, recorded, strict=False))
    return len(mine) >= len(recorded) and same and all("=" in p or p.startswith("*") for p in further)


def ours(name: str) -> str | None:
    """The signature here; None where the name is absent, which docs/api.md says, and for an enumeration,
    whose call is Python's own and differs between its versions."""
    owner, _, last = name.rpartition(".")
    try:
        value, holder = find(name), find(owner)
    except LookupError:
        return None
    if inspect.isclass(value) and issubclass(value, Enum):
        return None
    method = inspect.isclass(holder) and inspect.isfunction(inspect.getattr_static(holder, last))
    return written_signature(value, method)


@pytest.mark.parametrize("owner", OWNERS)
def test_parameters(owner: str) -> None:
    wrong: list[Any] = []
    for name, theirs in RECORDED.items():
        if name.rpartition(".")[0] != owner or name in OTHERWISE:
            continue
        here = ours(name)
        if here is not None and not extends(here, theirs):
            wrong.append(f"{name}: {here}, Paddle: {theirs}")
    assert not wrong, "\n".join(wrong)


def test_enumerations_are_those_of_paddle() -> None:
    of_python = "(value, names=None, *, module=None, qualname=None, type=None, start=1, boundary=None)"
    names = [name for name, theirs in RECORDED.items() if theirs == of_python]
    assert len(names) == 5
    assert [name for name in names if not issubclass(find(name), Enum)] == []


def test_each_exception_has_a_reason_and_still_differs() -> None:
    for name, reason in OTHERWISE.items():
        here = ours(name)
        assert len(reason) > 15, name
        assert here is not None, name
        assert not extends(here, RECORDED[name]), f"{name}: differs no more: remove it"


def test_extends_accepts_only_additional_parameters() -> None:
    assert parts("(x, a=[1, 2], b=<f>, *, c=(1))") == ["x", "a=[1, 2]", "b=<f>", "*", "c=(1)"]
    assert extends("(x, axis=None, more=1)", "(x, axis=None)")
    assert extends("(*inputs, more=1, **kwargs)", "(*inputs, **kwargs)")
    assert extends("(x=None)", "(x)")
    assert not extends("(x)", "(x=None)")
    assert not extends("(x, more, axis=None)", "(x, axis=None)")
    assert not extends("(x, axis=-1)", "(x, axis=None)")
    assert not extends("(x, axis=None, more)", "(x, axis=None)")
    assert not extends("(x)", "(x, name=None)")

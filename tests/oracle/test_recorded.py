"""Every recorded call of Paddle 2.6.2, made with the engine: values, dtypes, shapes, texts, exceptions.

Cases stand in ``cases/FAMILY.py`` as ``CALLS`` (name -> code) and perhaps ``TOLERANCES`` (name -> relative).
``record.py`` records them. What differs on purpose stands in ``deviations.py``.
"""

from __future__ import annotations

import importlib
import json
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.core import names
from tests.each import each
from tests.oracle.compare import accepted, difference
from tests.oracle.deviations import DEVIATIONS
from tests.oracle.scope import Scope

HERE = Path(__file__).parent
FAMILIES = sorted(p.stem for p in (HERE / "cases").glob("*.py"))


@lru_cache(1)  # all families together take 30 MB
def _recorded(family: str) -> Any:
    path = HERE / "recorded" / f"{family}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"paddle": "", "calls": {}}


def _cases(family: str) -> Any:
    return importlib.import_module(f"tests.oracle.cases.{family}")


CALLS = {f"{family}:{name}": (family, name) for family in FAMILIES for name in _cases(family).CALLS}
# Several calls a test, since pytest takes longer around a test than most of them do.
TOGETHER = 100
GROUPS = {
    f"{family}-{first // TOGETHER}": [f"{family}:{name}" for name in names[first : first + TOGETHER]]
    for family in FAMILIES
    for names in [list(_cases(family).CALLS)]
    for first in range(0, len(names), TOGETHER)
}


@pytest.mark.parametrize("family", FAMILIES)
def test_recordings_match_the_code_of_their_cases(family: str) -> None:
    recorded = _recorded(family)
    assert recorded["paddle"] == "2.6.2"
    codes = {name: entry["code"] for name, entry in recorded["calls"].items()}
    assert codes == _cases(family).CALLS, "record this family again"
    assert set(getattr(_cases(family), "TOLERANCES", {})) <= set(codes)


def test_deviations_are_recorded_calls_with_reasons() -> None:
    assert DEVIATIONS.keys() - CALLS.keys() == set()
    assert [name for name, reason in DEVIATIONS.items() if len(reason) < 15] == []


def _compare(family: str, name: str) -> str:
    entry = _recorded(family)["calls"][name]
    want = entry["result"]
    raised: list[BaseException] = []
    with names.guard(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the engine warns where Paddle does
        got = Scope(engine, raised).run(entry["code"])
    if isinstance(want, dict) and "raises" in want:
        if not raised:
            return f"Paddle raises {want['raises']}, the engine gives {str(got)[:300]}"
        said = f"Paddle raises {want['raises']}, the engine {raised[0]!r}"
        return "" if accepted(want["raises"], raised[0]) else said
    if raised:
        raise raised[0]
    return difference(want, got, tolerance=getattr(_cases(family), "TOLERANCES", {}).get(name))


@pytest.mark.parametrize("group", GROUPS)
def test_recorded(group: str) -> None:
    each(GROUPS[group], lambda call: call, _check)


def _check(call: str) -> None:
    family, name = CALLS[call]
    code = _recorded(family)["calls"][name]["code"]
    if call not in DEVIATIONS:
        said = _compare(family, name)
        assert not said, f"{code}\n{said}"
        return
    try:
        said = _compare(family, name)
    except Exception as error:
        said = repr(error)
    assert said, f"no longer differs, take it off the list: {code}"

"""Every number of every operator of an untrusted Program, at sizes that no memory holds and at infinities.

Each case ends within 5 s of processor time and 512 MB above the imported program, with a result or an error
of the engine; an attribute over its bound is named with its operator and the bound. ``--deep`` walks over one
base of each operator with the values that most often went wrong, ``--long`` over all rows of the operator
table with all values.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from engine.core.errors import FormatError
from engine.core.operators import traits
from engine.core.operators.bounds import bounds_of
from engine.core.operators.opdef import OPS
from engine.jit import load
from tests.robust.attribute_walk import (
    FLOATS,
    VALUES,
    Base,
    Step,
    bases,
    failures,
    float_steps,
    in_children,
    steps,
)
from tests.robust.hostile_models import attribute
from tests.robust.untabled_bases import WITHOUT
from tests.robust.untrusted_models import Parts, edited, saved

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of forked processes")

LONG = bool(os.environ.get("MODEL_STUDIO_LONG"))
PARTS = 4  # tests, so that several workers share the walk
INTEGERS, REALS = (VALUES, FLOATS) if LONG else ((-1, 2**31, 2**40), (1e30, math.nan))


@cache
def _bases() -> dict[str, list[Base]]:
    return bases(None if LONG else 1)


def test_every_operator_has_a_base_or_a_reason() -> None:
    defined = {n for n, o in OPS.items() if o.kernel.__module__.startswith("engine.ops.")}
    wrappers = {"gradient", "with_values"}  # those of PROGRAMS
    opaque = {n for n in defined if OPS[n] in traits.opaque}  # which no file may hold
    assert defined - opaque - wrappers - _bases().keys() == WITHOUT.keys()


def _unnamed(step: Step, base: Base, said: str) -> bool:
    """Whether an attribute is over its bound, and the error does not name operator, attribute and bound."""
    bound = bounds_of(OPS[base.op])[str(step.place[0])] if step.kind == "attribute" else None
    if bound is None or bound.most is None or abs(step.value) <= bound.most:
        return False
    limit = "0 or 1" if bound.most == 1 else "at most"
    return f"({base.op}): {step.place[0]} is " not in said or limit not in said


@pytest.mark.timeout(3600 if LONG else 240)
@pytest.mark.parametrize("part", range(PARTS))
def test_every_number_gives_a_result_or_an_error(part: int) -> None:
    found = _bases()
    ops = sorted(found)[part::PARTS]
    todo = [
        step for op in ops for step in (*steps(op, found[op], INTEGERS), *float_steps(op, found[op], REALS))
    ]
    answers = list(in_children(todo, found))
    assert len(answers) == len(todo) > 100
    assert not list(failures(answers))
    kinds = Counter(answer["kind"] for _, answer in answers)
    assert kinds["result"] > 50
    assert kinds["FormatError"] > 200


def test_attributes_over_their_bounds_are_named() -> None:
    found = {op: each for op, each in _bases().items() if op in OPS}
    todo = [s for op, each in found.items() for s in steps(op, each[:1], (2**63,)) if s.kind == "attribute"]
    unnamed = [
        f"{step}: {answer['said'][:200]}"
        for step, answer in in_children(todo, found)
        if _unnamed(step, found[step.op][step.base], answer["said"])
    ]
    assert not unnamed


def _command(*words: object) -> subprocess.CompletedProcess[str]:
    """``model-studio`` in a process that has little more memory than the program takes."""
    import resource

    return subprocess.run(
        [sys.executable, "-m", "studio", *words],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)),
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_commands_refuse_such_a_file_or_show_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    prefix = edited(saved(Parts(), tmp_path / "model"), attribute("split", axis=0, sections=10**9))
    fault = "(split): sections is 1000000000; it should be an integer of at most 2"
    with pytest.raises(FormatError, match=re.escape(fault)) as caught:
        load(str(prefix))
    assert "\n" not in str(caught.value)
    predicted = _command("predict", prefix, Path(__file__).with_name("corpus") / "digit.png")
    assert predicted.returncode == 1
    assert fault in " ".join(predicted.stderr.split())
    assert "Traceback" not in predicted.stderr
    drawn = _command("graph", prefix, "--svg", tmp_path / "model.svg")  # runs and builds nothing
    assert (drawn.returncode, drawn.stderr) == (0, "")
    assert ">split<" in (tmp_path / "model.svg").read_text()
    shown = _command("inspect", prefix)  # lists the operators of any Program, and then says the refusal
    assert shown.returncode == 1
    assert "split" in shown.stdout
    assert fault in " ".join(shown.stderr.split())
    assert "Traceback" not in shown.stderr

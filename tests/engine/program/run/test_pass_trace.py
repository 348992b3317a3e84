"""The trace of the passes: each one's text, and its counts of removed, created, moved and changed
operators."""

from __future__ import annotations

import itertools

import pytest

import engine as paddle
from engine import nn
from engine.core.errors import ArgumentError
from engine.program.passes import pipeline
from engine.program.passes.pipeline import EXACT, INFERENCE, Pass, optimize
from engine.program.run.listing import listing
from engine.program.run.pass_trace import BUILT, pass_trace


def _program():
    conv = nn.Conv2D(1, 2, 3)

    def forward(x):
        unused = x * 3.0  # noqa: F841
        a = paddle.exp(x) + paddle.exp(x)
        if paddle.mean(a) > 0:
            a = a * 2.0
        return nn.functional.relu(conv(a))

    spec = paddle.static.InputSpec([2, 1, 6, 6], "float32", "x")
    return paddle.jit.to_static(forward, input_spec=[spec]).concrete_program.main_program


def test_each_pass_reports_its_changes_and_the_last_text_is_that_of_optimize() -> None:
    program = _program()
    found = pass_trace(program)
    assert found[0].name == BUILT
    assert [line for _, line in found[0].difference] == list(found[0].lines)
    assert not any(mark for mark, _ in found[0].difference)
    did = {each.name: each for each in found[1:4]}
    assert dict(did["remove_dead_code"].gone)["scale"] == 1
    assert did["remove_dead_code"].did().startswith("removed scale")
    merged = did["merge_common_subexpressions"]
    assert (merged.gone, merged.changed) == ((), 1)
    assert "exp" in dict(found[-1].gone)  # no operator reads it any more
    assert ["elementwise_add" in line.text for mark, line in merged.difference if mark] == [True, True]
    fused = next(each for each in found if each.name == "fuse_convolutions")
    assert fused.made == (("conv2d_fusion", 1),)
    assert {"conv2d", "relu"} <= {name for name, _ in fused.gone}
    assert "relu became conv2d_fusion" in fused.did()
    marks = {mark: [line.text for m, line in fused.difference if m == mark] for mark in ("-", "+")}
    assert any("= relu(" in text for text in marks["-"])
    assert any("= conv2d_fusion(" in text for text in marks["+"])
    for before, each in itertools.pairwise(found):
        assert [line for mark, line in each.difference if mark != "+"] == list(before.lines)
        assert [line for mark, line in each.difference if mark != "-"] == list(each.lines)
    assert f"+ {fused.lines[-1].written()}\n" in fused.text()
    names = [line.text.partition(" = ")[2].partition("(")[0] for line in found[-1].lines]
    made = optimize(program, EXACT)
    texts = [text.strip().partition(" = ")[2] for text in listing(made.global_block().ops).splitlines()]
    assert names == [text.partition("(")[0] for text in texts]


def test_operators_in_branches_are_indented() -> None:
    deep = [line for line in pass_trace(_program())[0].lines if line.depth]
    assert any("= scale(" in line.text for line in deep)
    assert deep[0].written().startswith("    ")


def test_moved_operators_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def turn(program):
        ops = program.global_block().ops
        ops[0], ops[1] = ops[1], ops[0]
        program.changed()

    monkeypatch.setattr(pipeline, "PIPELINE", (Pass(turn, EXACT),))
    last = pass_trace(_program())[-1]
    assert (last.name, last.moved, last.changed, last.gone) == ("turn", 1, 0, ())
    assert sorted(mark for mark, _ in last.difference if mark) == ["+", "-"]
    assert last.did() == "moved 1"


def test_levels_and_outputs_are_those_of_optimize() -> None:
    program = _program()
    assert len(pass_trace(program, INFERENCE)) > len(pass_trace(program, EXACT))
    assert len(pass_trace(program, 0)) == 1
    with pytest.raises(ArgumentError, match="level 7 is unknown"):
        pass_trace(program, 7)
    with pytest.raises(ArgumentError, match="no outputs"):
        pass_trace(program, EXACT, [])

"""The debugger over plain functions: steps, stops, values that are computed again, changes."""

import json
import random

import numpy as np
import pytest

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.debugger import Above, AllZero, Breakpoint, Debugger, NotFinite, ShapeIs, Stop
from tests.engine.debugger.fake import FakeSubject


def chain(count=6, bad=None, size=4, fail=None):
    """``y1 = x + 1``, ``y2 = y1 + 1``, ...; operator ``bad`` takes the logarithm of zeros."""

    def of(n):
        if n == fail:
            return lambda x: x.no_such_method()
        return (lambda x: np.log(x * 0)) if n == bad else (lambda x: x + np.float32(1))

    half = count // 4 * 2
    steps = [
        (
            "forward" if n < half else "backward",
            "log" if n == bad else "add",
            of(n),
            ("x" if n == 0 else f"y{n}",),
            f"y{n + 1}",
            f"block.{n // 2}",
            10 + 3 * (n // 2),
        )
        for n in range(count)
    ]
    return FakeSubject(steps, {"x": np.zeros(size, np.float32)})


def test_steps_one_operator_at_a_time_and_back():
    debugger = Debugger(chain())
    assert debugger.stop.reason == "begin"
    assert debugger.position == 0
    first = debugger.step()
    assert (first.operator, first.layer, first.line, first.position) == ("add", "block.0", 10, 1)
    assert [row["name"] for row in first.inputs] == ["x"]
    assert first.outputs[0]["maximum"] == 1.0
    assert debugger.step().outputs[0]["minimum"] == 2.0
    assert debugger.step_back() == first
    assert debugger.step_back().reason == "begin"
    assert debugger.step_back().reason == "begin"
    assert debugger.resume().reason == "end"
    assert debugger.position == 6


def test_a_stop_is_plain():
    debugger = Debugger(chain())
    stop = debugger.step()
    again = json.loads(json.dumps(stop.plain()))
    assert Stop.of_plain(again) == stop


@pytest.mark.parametrize("seed", range(5))
def test_until_nan_ends_at_the_very_operator(seed):
    bad = random.Random(seed).randrange(20)
    debugger = Debugger(chain(20, bad))
    stop = debugger.until_nan()
    assert (stop.reason, stop.operator, stop.position) == ("not finite", "log", bad + 1)
    assert stop.value == f"y{bad + 1}"
    assert "infinity" in stop.message
    assert stop.outputs[0]["negative_infinite"] == 4
    assert stop.inputs[0]["maximum"] == bad
    assert stop.found


def test_until_nan_says_that_all_is_finite():
    stop = Debugger(chain(6)).until_nan()
    assert (stop.reason, stop.found) == ("finite", False)
    assert stop.message == "batch 1 is finite: 2 operators forward, 4 operators backward"


def test_until_nan_ignores_what_it_shall():
    assert Debugger(chain(6, 2)).until_nan(ignore=["log"]).reason == "finite"
    assert Debugger(chain(6, 2)).until_nan(ignore=["block.1"]).reason == "finite"
    assert Debugger(chain(6, 2)).until_nan(ignore=["backward:2"]).reason == "finite"


def test_nan_that_the_batch_begins_with_is_named():
    subject = chain(4)
    subject._initial["x"][2] = np.nan
    stop = Debugger(subject).until_nan()
    assert (stop.reason, stop.value, stop.position) == ("not finite", "x", 0)


def test_a_nan_from_before_the_search_is_not_called_finite():
    debugger = Debugger(chain(6))
    debugger.go_to(2)
    debugger.change("y2", "fill", float("nan"))
    stop = debugger.until_nan()
    assert (stop.reason, stop.value, stop.position) == ("not finite", "y3", 3)
    assert stop.message == "its input y2 has NaN from before the search"


def test_a_mask_of_infinities_is_none_but_what_makes_nan_of_it_is():
    mask = ("forward", "fill", lambda: np.float32([0, -np.inf]), (), "mask", "", 0)
    masked = ("forward", "add", lambda m, x: m + x, ("mask", "x"), "scores", "", 0)
    softmax = ("forward", "exp", np.exp, ("scores",), "out", "", 0)
    x = {"x": np.zeros(2, np.float32)}
    assert Debugger(FakeSubject([mask, masked, softmax], x)).until_nan().reason == "finite"
    minus = ("forward", "minus", lambda s: s - s, ("scores",), "out", "", 0)
    stop = Debugger(FakeSubject([mask, masked, minus], x)).until_nan()
    assert (stop.reason, stop.operator, stop.position) == ("not finite", "minus", 3)


def test_a_failing_operator_stops_there_and_values_until_then_stay():
    debugger = Debugger(chain(20, fail=12))
    stop = debugger.resume()
    assert (stop.reason, stop.where, stop.position) == ("failed", [[0, 12]], 12)
    assert "no_such_method" in stop.message
    assert stop.inputs[0]["name"] == "y12"
    assert debugger.view("y12")["mean"] == 12.0
    assert debugger.step().reason == "failed"
    assert debugger.step_back().position == 11


@pytest.mark.parametrize(
    ("wanted", "positions"),
    [
        (Breakpoint("operator", operator="add"), [1, 2, 3, 4, 5, 6]),
        (Breakpoint("operator", part="backward", where=((0, 4),)), [5]),
        (Breakpoint("layer", layer="block.1"), [3]),
        (Breakpoint("layer", layer="block"), [1, 3]),  # forward, backward
        (Breakpoint("line", file="net.py", line=13), [3]),
        (Breakpoint("line", file="net.py", line=11), [3]),
        (Breakpoint("line", file="user/net.py", line=16), [5]),
        (Breakpoint("operator", operator="add", hits=5), [5, 6]),
        (Breakpoint("operator", operator="add", condition=Above(3.5)), [4, 5, 6]),
        (Breakpoint("layer", layer="block.2", condition=Above(5.5)), [6]),
    ],
)
def test_breakpoints(wanted, positions):
    debugger = Debugger(chain())
    debugger.add_breakpoint(Breakpoint.of_plain(json.loads(json.dumps(wanted.plain()))))
    found = []
    while (stop := debugger.resume()).reason == "breakpoint":
        found.append(stop.position)
    assert found == positions


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Breakpoint("line", file="net.py", line=17), "the last line with operators is 16"),
        (Breakpoint("line", file="other.py", line=1), "they come from net.py"),
        (Breakpoint("layer", layer="fc"), "there are block.0, block.1, block.2"),
        (Breakpoint("operator", operator="conv2d"), "there are add"),
        (Breakpoint("operator", operator="add", hits=0), "got 0"),
    ],
)
def test_a_breakpoint_that_can_never_hit_is_refused(wanted, words):
    with pytest.raises(ArgumentError, match=words):
        Debugger(chain()).add_breakpoint(wanted)


def test_conditions():
    debugger = Debugger(chain(6, 4))
    debugger.conditions = [Above(2.5)]
    assert debugger.resume().position == 3
    debugger.conditions = [NotFinite()]
    assert debugger.resume().position == 5
    debugger = Debugger(chain())
    debugger.conditions = [ShapeIs((4,))]
    assert debugger.resume().position == 1
    debugger.conditions = [ShapeIs((-1, 4)), AllZero()]
    assert debugger.resume().reason == "end"


def test_values_stay_within_the_limit_and_older_ones_are_computed_again():
    size, kept = 1000, 4
    debugger = Debugger(chain(30, size=size), keep_bytes=kept * 4 * size)
    subject = debugger._subject
    debugger.resume()
    assert debugger.kept_bytes <= debugger.keep_bytes
    assert subject.runs == 1
    rows = {row["name"]: row["kept"] for row in debugger.values()}
    assert rows["x"]
    assert rows["y30"]
    assert not rows["y3"]
    assert len(rows) == 31
    assert debugger.view("y3")["maximum"] == 3.0
    assert subject.runs == 2
    assert debugger.view("y3")["minimum"] == 3.0
    assert subject.runs == 2
    assert debugger.kept_bytes <= debugger.keep_bytes
    debugger.go_to(5)
    assert debugger.stop.outputs[0]["maximum"] == 5.0
    assert debugger.kept_bytes <= debugger.keep_bytes


def test_one_value_larger_than_the_limit_is_kept():
    debugger = Debugger(chain(3, size=1000), keep_bytes=10)
    assert debugger.step().outputs[0]["maximum"] == 1.0
    assert debugger.resume().reason == "end"
    assert debugger.view("y3")["maximum"] == 3.0


def test_a_replay_gives_the_same_bits():
    draw = ("forward", "uniform", lambda: np.random.random(5), (), "key", "", 0)
    debugger = Debugger(FakeSubject([draw, *chain(6).steps], {"x": np.zeros(4, np.float32)}), keep_bytes=1)
    debugger.step()
    first = debugger.array("key").copy()
    debugger.resume()
    before = np.random.get_state()[1].copy()
    np.testing.assert_array_equal(debugger.array("key"), first)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_a_change_goes_on_and_is_taken_back_by_restart():
    debugger = Debugger(chain())
    debugger.go_to(2)
    debugger.change("y2", "number", 10, [1])
    assert debugger.step().outputs[0]["maximum"] == 11.0
    debugger.change("x", "fill", 1)
    assert debugger.position == 3
    np.testing.assert_array_equal(debugger.array("y3"), np.float32([4, 11, 4, 4]))
    debugger.change("y1", "scale", 0)
    np.testing.assert_array_equal(debugger.array("y3"), np.float32([2, 11, 2, 2]))
    assert [(c["position"], c["name"], c["how"], c["value"]) for c in debugger.changes] == [
        (2, "y2", "number", 10),
        (0, "x", "fill", 1),
        (1, "y1", "scale", 0),
    ]
    debugger.restart()
    assert debugger.changes == []
    debugger.resume()
    np.testing.assert_array_equal(debugger.array("y6"), np.full(4, 6, np.float32))


def test_a_change_that_does_not_fit_is_refused_and_both_are_named():
    debugger = Debugger(chain())
    debugger.step()
    with pytest.raises(ShapeError, match=r"shape \[4\], and the new value \[2\]"):
        debugger.change("y1", "array", np.zeros(2, np.float32))
    with pytest.raises(DTypeError, match="is float32, and the new value int64"):
        debugger.change("y1", "array", np.zeros(4, np.int64))
    with pytest.raises(ShapeError, match=r"index \[4\] is not one of shape \[4\]"):
        debugger.change("y1", "number", 1, [4])
    with pytest.raises(ArgumentError, match="not a number"):
        debugger.change("y1", "fill", "much")
    with pytest.raises(ArgumentError, match="no value 'y5' here"):
        debugger.change("y5", "fill", 1)
    assert debugger.changes == []
    assert debugger.step().outputs[0]["maximum"] == 2.0


def test_watches_and_the_next_batch():
    subject = chain()
    subject.batches = 2
    debugger = Debugger(subject)
    debugger.watch("y2")
    assert debugger.step().watches[0]["shape"] is None
    assert debugger.step().watches[0]["maximum"] == 2.0
    assert debugger.next_batch().batch == 2
    assert debugger.until_nan().message.startswith("batch 2 is finite")
    assert debugger.next_batch().message == "there are no more batches"
    assert debugger.restart().batch == 1


def test_more_batches_than_there_are_end_with_the_last_one():
    subject = chain()
    subject.batches = 2
    found = Debugger(subject).until_nan(batches=5)
    assert (found.reason, found.found) == ("finite", False)
    assert found.message.startswith("2 batches are finite, and there are no more: ")


def test_it_can_be_interrupted():
    debugger = Debugger(chain())
    steps = debugger._subject.steps
    steps[2] = (*steps[2][:2], lambda x: debugger.interrupt() or x, *steps[2][3:])
    assert (debugger.resume().reason, debugger.position) == ("interrupted", 3)
    assert debugger.resume().reason == "end"


def test_an_interrupt_between_two_batches_is_not_lost():
    subject = chain()
    subject.batches = 3
    debugger = Debugger(subject)
    advance = subject.advance
    subject.advance = lambda: debugger.interrupt() or advance()
    stop = debugger.until_nan(batches=3)
    assert (stop.reason, stop.batch, debugger.position) == ("interrupted", 2, 1)
    debugger.interrupt()
    debugger.forget_interrupt()
    assert debugger.step().reason == "step"


def test_operands_of_operators_before_are_there():
    debugger = Debugger(chain())
    for _ in range(3):
        debugger.step()
    given, made = debugger.operands(1)
    assert [row["name"] for row in (*given, *made)] == ["x", "y1"]
    assert made[0]["maximum"] == given[0]["maximum"] + 1
    for position in (0, 4):
        with pytest.raises(ArgumentError, match=f"operator {position} has not computed: 3 have"):
            debugger.operands(position)

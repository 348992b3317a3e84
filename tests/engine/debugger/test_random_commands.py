"""Random commands: whatever was stepped, changed and forgotten, each value is what a plain run gives."""

import random

import numpy as np
import pytest

from engine.debugger import Debugger
from tests.engine.debugger.fake import FakeSubject

COUNT = 12


def steps(draw):
    """A graph of sums and products of earlier values; some write the same name again."""
    found, names = [], ["x"]
    for n in range(COUNT):
        one, other = draw.choice(names), draw.choice(names)
        name = draw.choice(names[1:]) if n > 3 and draw.random() < 0.2 else f"y{n}"
        factor = np.float32(draw.choice([0.5, 1.0, -1.0]))
        part = "forward" if n < 6 else "backward"
        found.append((part, "mix", lambda a, b, f=factor: f * a + b / 2, (one, other), name, f"l{n}", n + 1))
        names.append(name)
    return found


def reference(graph, changes, upto):
    """The values by name after ``upto`` operators, with changes by number of the operator (0: the start)."""
    values = {"x": np.arange(4, dtype=np.float32)}
    for number in range(upto + 1):
        if number:
            _, _, function, read, made, _, _ = graph[number - 1]
            values[made] = function(*[values[name] for name in read])
        for position, name, how, value, index in changes:
            if position == number:
                array = values[name].copy()
                if how == "fill":
                    array[...] = value
                elif how == "scale":
                    array *= np.float32(value)
                else:
                    array[index] = value
                values[name] = array
    return values


@pytest.mark.parametrize("seed", range(10))
def test_values_are_those_of_a_plain_run(seed):
    draw = random.Random(seed)
    graph = steps(draw)
    debugger = Debugger(FakeSubject(graph, reference(graph, [], 0)), keep_bytes=draw.choice([16, 64, 10**6]))
    changes = []
    for _ in range(40):
        command = draw.choice(["step", "step", "back", "go", "resume", "change", "view", "restart"])
        if command == "step" and debugger.position < COUNT:
            debugger.step()
        elif command == "back":
            debugger.step_back()
        elif command == "go":
            debugger.go_to(draw.randrange(COUNT + 1))
        elif command == "resume" and debugger.position < COUNT:
            debugger.resume()
        elif command == "restart" and draw.random() < 0.3:
            debugger.restart()
            changes.clear()
        elif command == "change":
            name = draw.choice([row["name"] for row in debugger.values()])
            position = next(row["position"] for row in debugger.values() if row["name"] == name)
            how, index = draw.choice(["fill", "scale", "number"]), (draw.randrange(4),)
            value = draw.choice([2.0, -1.0, 0.25])
            before = debugger.position
            debugger.change(name, how, value, index if how == "number" else ())
            changes.append((position, name, how, value, index))
            assert debugger.position == before
        wanted = reference(graph, changes, debugger.position)
        assert {row["name"] for row in debugger.values()} == wanted.keys()
        for name, array in wanted.items():
            np.testing.assert_array_equal(
                debugger.array(name), array, err_msg=f"{name} at {debugger.position}"
            )
        assert len(debugger.changes) == len(changes)
        if debugger.position:
            stop, made = debugger.stop, graph[debugger.position - 1][4]
            if stop.position == debugger.position and stop.outputs:
                assert stop.outputs[0]["name"] == made
                assert stop.outputs[0]["maximum"] == float(wanted[made].max())

"""Programs that older builds wrote are read, and train as they did there."""

import json
from pathlib import Path

import numpy as np
import pytest

import engine as paddle
from engine.core.errors import FormatError
from engine.program.graph.check import problems
from engine.program.saved.serialize import from_plain, to_plain

# A branch with dropout in a loop, in training with SGD: the Program, its state, and the losses of three steps
# as the build recorded them that wrote version 1.
RECORDED = json.loads((Path(__file__).parent / "version_1.json").read_text())


def test_a_file_of_an_older_build_trains_the_same(static):
    program = from_plain(RECORDED["program"], "here", training=True)
    assert problems(program) == []
    state = {k: np.array(v, "float32") for k, v in RECORDED["state"].items()}
    rng = np.random.RandomState(0)
    feed = {"x": rng.uniform(-1, 1, (4, 6)).astype("float32")}
    program.set_state_dict(state)
    paddle.seed(4, "philox")
    run = static.Executor().run
    losses = [run(program, feed, [RECORDED["loss"]])[0].item() for _ in range(3)]
    paddle.seed(4)
    np.testing.assert_allclose(losses, RECORDED["losses"], rtol=1e-5)
    assert to_plain(program)["version"] == 2


def test_names_in_attributes_must_exist():
    plain = json.loads(json.dumps(RECORDED["program"]))
    loop = next(o for block in plain["blocks"] for o in block["ops"] if o["type"] == "while")
    loop["attrs"]["body_results"][0] = "nowhere"
    with pytest.raises(FormatError, match="nowhere"):
        from_plain(plain, "here", training=True)

"""Records the networks of vision.models from PaddlePaddle 2.6.2: run with an interpreter that has it.

    python tests/engine/vision/models/record.py

It writes ``recorded.json``: for each way of making a network a digest of the names and shapes of its state
dict, and of its two Programs; and what it computes in evaluation with weights from a formula.
"""

import json
import sys
from pathlib import Path

import paddle
from paddle.vision import models

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "networks")]

import table  # noqa: E402
from formulas import inputs, scattered  # noqa: E402


def built(call):
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, startup):
        network = table.made(models, call)
        side, channels = (28, 1) if call.startswith("LeNet") else (299 if "nception" in call else 224, 3)
        network(paddle.static.data("x", [None, channels, side, side]))
    return [*table.parameters(network), table.digest(table.comparable(main)), table.digest(str(startup))]


def run(call, side):
    network = table.made(models, call)
    network.eval()
    table.filled(network, scattered)
    return table.shown(network(paddle.to_tensor(inputs(2, 3, side, side).astype("float32"))))


paddle.enable_static()
found = {"built": {call: built(call) for call in table.BUILT}}
paddle.disable_static()
found["run"] = {call: run(call, side) for call, side in table.RUN.items()}
groups = [
    f' "{group}": {{\n' + ",\n".join(f"  {json.dumps(c)}: {json.dumps(v)}" for c, v in rows.items()) + "\n }"
    for group, rows in found.items()
]
(HERE / "recorded.json").write_text("{\n" + ",\n".join(groups) + "\n}\n", encoding="utf-8")

"""`python -m widgets.program_tree.demo`: the Program of a small LeNet."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QWidget

from widgets.cards import Card
from widgets.demo import run_demo
from widgets.program_tree import BlockData, OperatorData, ProgramData, ProgramTree, VariableData

LAYERS = [
    ("conv2d", "conv2d_0.tmp_0", (-1, 6, 28, 28)),
    ("relu", "relu_0.tmp_0", (-1, 6, 28, 28)),
    ("pool2d", "pool2d_0.tmp_0", (-1, 6, 14, 14)),
    ("conv2d", "conv2d_1.tmp_0", (-1, 16, 10, 10)),
    ("pool2d", "pool2d_1.tmp_0", (-1, 16, 5, 5)),
    ("flatten_contiguous_range", "flatten_0.tmp_0", (-1, 400)),
    ("matmul_v2", "linear_0.tmp_0", (-1, 120)),
    ("elementwise_add", "linear_0.tmp_1", (-1, 120)),
    ("matmul_v2", "linear_1.tmp_0", (-1, 84)),
]


def lenet(repeats: int = 1) -> ProgramData:
    """A Program of one block with the layers above, as often as asked for."""
    operators, variables = [], [VariableData("x", (-1, 1, 28, 28), "float32", stop_gradient=True)]
    last = "x"
    for number in range(repeats):
        for line, (kind, name, shape) in enumerate(LAYERS, 14):
            output = name if not number else f"{name}.{number}"
            attrs = {"strides": [1, 1], "paddings": [0, 0], "data_format": "NCHW"} if kind == "conv2d" else {}
            inputs, outputs = {"Input": (last,)}, {"Output": (output,)}
            operators.append(OperatorData(kind, inputs, outputs, attrs, "/home/me/lenet.py", line))
            variables.append(VariableData(output, shape, "float32"))
            last = output
    variables.append(VariableData("conv2d_0.w_0", (6, 1, 3, 3), "float32", persistable=True, parameter=True))
    return ProgramData("lenet", (BlockData(0, tuple(operators), tuple(variables)),))


def make() -> QWidget:
    """The tree with an operator chosen and its attributes open."""
    card, tree = Card("Program"), ProgramTree()
    tree.set_program(lenet())
    tree.select_operator(0, 3)
    tree.view.expand(tree.view.currentIndex())
    card.body.addWidget(tree)
    return card


if __name__ == "__main__":
    sys.exit(run_demo(make, "Program", (560, 560)))

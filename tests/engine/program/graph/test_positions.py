"""An operator that a pass creates from several has the user's lines of all of them."""

from __future__ import annotations

from typing import Any

from engine import jit, nn
from engine.nn import functional as F
from engine.program.graph.positions import positions
from engine.program.passes.pipeline import optimize
from engine.static import InputSpec


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(1, 4, 3)

    def forward(self, x: Any) -> Any:
        x = self.conv(x)
        return F.relu(x)


def test_a_fused_convolution_has_the_lines_of_convolution_and_relu() -> None:
    forward = jit.to_static(Net().forward, input_spec=[InputSpec([None, 1, 8, 8], "float32", "x")])
    program = forward.concrete_program.main_program
    first = Net.forward.__code__.co_firstlineno
    for made in (optimize(program), optimize(optimize(program))):  # a copy has them too
        (operator,) = made.global_block().ops
        assert operator.opdef.name == "conv2d_fusion"
        assert [line for _, line in positions(operator)] == [first + 1, first + 2]
        assert {file for file, _ in positions(operator)} == {__file__}

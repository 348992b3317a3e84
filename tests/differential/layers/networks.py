"""Networks of several layers for the cases, over one implementation of Paddle's API.

Classes are in a file because to_static reads their source.
"""

from __future__ import annotations

from typing import Any


def networks(paddle: Any) -> dict[str, Any]:
    """The classes by name."""
    nn = paddle.nn

    class Listed(nn.Layer):
        """Layers in a LayerList, applied in a loop."""

        def __init__(self, layers: Any) -> None:
            super().__init__()
            self.layers = nn.LayerList(layers)

        def forward(self, x: Any) -> Any:
            for layer in self.layers:
                x = layer(x)
            return x

    class Named(nn.Layer):
        """Layers in a LayerDict, applied in its order."""

        def __init__(self, layers: Any) -> None:
            super().__init__()
            self.layers = nn.LayerDict(layers)

        def forward(self, x: Any) -> Any:
            for name in self.layers:
                x = self.layers[name](x)
            return x

    class Scaled(nn.Layer):
        """Parameters in a ParameterList."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.scales = nn.ParameterList([paddle.create_parameter([3], "float32") for _ in range(count)])

        def forward(self, x: Any) -> Any:
            for scale in self.scales:
                x = x * scale
            return x

    class Counted(nn.Layer):
        """A buffer that changes in each call, and one that is not saved."""

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", paddle.zeros([1]))
            self.register_buffer("offset", paddle.ones([3]), persistable=False)

        def forward(self, x: Any) -> Any:
            self.count.set_value(self.count + 1.0)
            return x * self.count + self.offset

    class Residual(nn.Layer):
        """A shared layer, a parameter of the layer itself, several results."""

        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(3, 3)
            self.again = self.first
            self.scale = self.create_parameter([3], default_initializer=nn.initializer.Constant(0.5))
            self.add_parameter("shift", self.create_parameter([3], is_bias=True))
            self.none = None

        def forward(self, x: Any) -> Any:
            y = paddle.nn.functional.relu(self.first(x))
            return self.again(y) * self.scale + self.shift, y

    class Frozen(nn.Layer):
        """A layer without training before one with it."""

        def __init__(self) -> None:
            super().__init__()
            self.fixed = nn.Linear(3, 3)
            for parameter in self.fixed.parameters():
                parameter.stop_gradient = True
            self.free = nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return self.free(self.fixed(x))

    class Mapped(nn.Layer):
        """A dict in, a dict out."""

        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 2)

        def forward(self, inputs: Any) -> Any:
            return {"out": self.linear(inputs["x"]) + inputs["y"], "x": inputs["x"]}

    class Deciding(nn.Layer):
        """A branch on a value."""

        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            y = self.linear(x)
            if y.sum() > 0:
                z = y * 2
            else:
                z = y - 1
            return z

    class Tied(nn.Layer):
        """One weight in two layers."""

        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(5, 3)
            self.project = nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            return paddle.matmul(self.project(self.embedding(x)), self.embedding.weight, transpose_y=True)

    class Halved(nn.Layer):
        """Stacks of layers with a learned token."""

        def __init__(self) -> None:
            super().__init__()
            self.token = self.create_parameter([1, 1, 4])
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, 0.0), 1)
            self.norm = nn.LayerNorm(4)

        def forward(self, x: Any) -> Any:
            x = paddle.concat([self.token.expand([x.shape[0], -1, -1]), x], axis=1)
            return self.norm(self.encoder(x))[:, 0]

    class OwnCell(nn.RNNCellBase):
        """A cell of the user's."""

        def __init__(self, size: int, hidden: int) -> None:
            super().__init__()
            self.hidden = hidden
            self.inner = nn.Linear(size, hidden)
            self.state = nn.Linear(hidden, hidden, bias_attr=False)

        @property
        def state_shape(self) -> Any:
            return (self.hidden,)

        def forward(self, inputs: Any, states: Any = None) -> Any:
            if states is None:
                states = self.get_initial_states(inputs, self.state_shape)
            made = paddle.tanh(self.inner(inputs) + self.state(states))
            return made, made

    class Decoded(nn.Layer):
        """Beam search with a cell of its own."""

        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(5, 4)
            self.cell = nn.GRUCell(4, 4)
            self.out = nn.Linear(4, 5)

        def forward(self, x: Any) -> Any:
            decoder = nn.BeamSearchDecoder(self.cell, 0, 1, 2, self.embedding, self.out)
            outputs, _ = nn.dynamic_decode(decoder, inits=self.cell.get_initial_states(x), max_step_num=3)
            return outputs

    def hooked(layer: Any, before: bool = False, after: bool = False) -> Any:
        if before:
            layer.register_forward_pre_hook(lambda layer, inputs: tuple(each * 2 for each in inputs))
        if after:
            layer.register_forward_post_hook(lambda layer, inputs, outputs: outputs + 1)
        return layer

    def evaluated(layer: Any) -> Any:
        layer.eval()
        return layer

    return {name: value for name, value in locals().items() if name not in ("paddle", "nn")}

"""Calls of summary and flops whose printed text and result are recorded from Paddle: ``paddle`` is either."""

from __future__ import annotations

from typing import Any


def cases(paddle: Any) -> dict[str, Any]:
    """Name -> a call that prints and returns something."""
    nn, models = paddle.nn, paddle.vision.models

    class Block(nn.Layer):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(3, 3)
            self.weight = self.create_parameter([7])
            self.others = nn.LayerList([nn.Linear(3, 3)])

        def forward(self, x: Any, scale: int = 2) -> Any:
            return self.others[0](self.first(x) * scale), None

    class Everything(nn.Layer):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.block = Block()
            self.linear = nn.Linear(3, 5)
            self.linear.weight.stop_gradient = True
            self.lstm = nn.LSTM(5, 4)
            self.norm = nn.BatchNorm1D(5)
            self.last = nn.Sequential(nn.ReLU(), nn.Sequential(nn.Linear(5, 2)))

        def forward(self, x: Any) -> Any:
            y, _ = self.block(x, scale=3)
            z = self.linear(y)
            z = self.linear(paddle.concat([y, y]))
            state = paddle.zeros([1, 1, 4])
            self.lstm(z.reshape([1, -1, 5]), (state, state))
            return self.last(self.norm(z))

    class Sum(nn.Layer):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(3, 4)

        def forward(self, x: Any, y: Any) -> Any:
            return self.linear(x) + self.linear(y)

    def counted(layer: Any, inputs: Any, made: Any) -> None:
        layer.total_ops += inputs[0].shape[0] * 100

    def kinds() -> Any:
        return nn.Sequential(
            nn.Conv2D(4, 8, 3, groups=2, bias_attr=False), nn.BatchNorm2D(8), nn.LeakyReLU(), nn.AvgPool2D(2),
            nn.Conv2DTranspose(8, 4, 3), nn.Sigmoid(), nn.AdaptiveAvgPool2D((2, None)), nn.Dropout(),
            nn.Flatten(), nn.Linear(40, 3), nn.PReLU()
        )

    spec = paddle.static.InputSpec
    return {
        "LeNet": lambda: paddle.summary(models.LeNet(), (1, 1, 28, 28)),
        "ResNet-18": lambda: paddle.summary(models.resnet18(), (2, 3, 64, 64)),
        "all kinds of layers": lambda: paddle.summary(Everything(), (400, 3)),
        "LSTM": lambda: paddle.summary(nn.LSTM(30, 70), (64, 128, 30)),
        "two inputs": lambda: paddle.summary(Sum(), [(-1, 3), (None, 3)]),
        "specs": lambda: paddle.summary(Sum(), [spec([None, 3], "float32"), spec([2, 3], "float32")]),
        "an input": lambda: paddle.summary(nn.Embedding(9, 4), input=paddle.zeros([2, 7], "int64")),
        "a dtype": lambda: paddle.summary(nn.Embedding(9, 4), (2, 7), dtypes="int64"),
        "a whole number": lambda: paddle.summary(nn.Linear(3, 4), 3),
        "flops of LeNet": lambda: paddle.flops(models.LeNet(), [1, 1, 28, 28]),
        "flops of LeNet in detail": lambda: paddle.flops(models.LeNet(), [1, 1, 28, 28], print_detail=True),
        "flops of ResNet-18": lambda: paddle.flops(models.resnet18(), [1, 3, 64, 64], print_detail=True),
        "flops of kinds": lambda: paddle.flops(kinds(), [2, 4, 9, 9], print_detail=True),
        "flops counted by a function": lambda: paddle.flops(
            nn.Sequential(nn.Sigmoid(), nn.Linear(3, 4)), [2, 3], {nn.Sigmoid: counted}, True
        ),
        "flops of one layer": lambda: paddle.flops(nn.Linear(3, 4), [2, 3], print_detail=True),
    }

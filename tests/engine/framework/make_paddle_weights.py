"""Makes the files of Paddle in ``recorded``: run it with paddlepaddle 2.6.2, and again with 3.3.1.

Run as ``python tests/engine/framework/make_paddle_weights.py``; the name of each file ends with the version.
"""

import inspect
from pathlib import Path

import numpy as np
import paddle
from paddle.framework import io, io_utils

FOLDER = Path(__file__).with_name("recorded")
VERSION = paddle.__version__


class LeNet(paddle.nn.Layer):
    """A narrow one, of test_paddle_weights.py too."""

    def __init__(self):
        super().__init__()
        nn = paddle.nn
        self.features = nn.Sequential(
            nn.Conv2D(1, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2), nn.Conv2D(3, 4, 3), nn.BatchNorm2D(4)
        )
        self.fc = nn.Sequential(nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x):
        return self.fc(paddle.flatten(self.features(x), 1))


def train(paddle, net, optimizer, schedule, steps):
    """The losses of some steps on drawn data that depend on nothing else."""
    losses = []
    for step in steps:
        draw = np.random.RandomState(step)
        x, y = draw.rand(8, 1, 12, 12).astype("float32"), draw.randint(0, 3, [8, 1])
        loss = paddle.nn.functional.cross_entropy(net(paddle.to_tensor(x)), paddle.to_tensor(y))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        schedule.step()
        losses.append(float(loss))
    return losses


def main() -> None:
    paddle.seed(1)
    net = LeNet()
    schedule = paddle.optimizer.lr.StepDecay(0.01, step_size=2, gamma=0.5)
    optimizer = paddle.optimizer.Adam(schedule, parameters=net.parameters())
    train(paddle, net, optimizer, schedule, range(3))
    paddle.save(net.state_dict(), str(FOLDER / f"lenet-{VERSION}.pdparams"))
    paddle.save(optimizer.state_dict(), str(FOLDER / f"lenet-{VERSION}.pdopt"))
    losses = train(paddle, net, optimizer, schedule, range(3, 6))
    np.savez(FOLDER / f"lenet-{VERSION}-losses.npz", losses=losses)

    nest = {
        "list": [paddle.arange(3), 2.5, None, True, "é"],
        "tuple": (paddle.ones([2, 2], "bfloat16"), {"deeper": paddle.full([], 7, "int8")}),
        "array": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "number": np.float32(2.5),
    }
    for protocol in (2, 3, 4):
        paddle.save(nest, str(FOLDER / f"nest-{VERSION}-p{protocol}.pd"), protocol=protocol)

    paddle.save(paddle.ones([2]), str(FOLDER / f"tensor-{VERSION}.pd"))

    # The library's own code, with a limit of 2^6 - 1 instead of 2^30 - 1 bytes, cuts into slices.
    source = inspect.getsource(io_utils._unpack_saved_dict).replace("2**30", "2**6")
    names = vars(io_utils).copy()
    exec(source, names)
    io._unpack_saved_dict = names["_unpack_saved_dict"]
    layer = paddle.nn.Linear(9, 2)
    layer.weight.set_value(np.arange(18.0, dtype="float32").reshape(9, 2))
    layer.bias.set_value(np.ones(2, "float32"))
    paddle.save(layer.state_dict(), str(FOLDER / f"slices-{VERSION}.pdparams"), protocol=2)

    paddle.enable_static()
    main_program = paddle.static.Program()
    with paddle.static.program_guard(main_program, paddle.static.Program()):
        x = paddle.static.data("x", [None, 2])
        attr = paddle.ParamAttr("w", initializer=paddle.nn.initializer.Constant(3.0))
        paddle.static.nn.fc(x, 2, weight_attr=attr, bias_attr=False)
        executor = paddle.static.Executor()
        if hasattr(main_program, "state_dict"):
            executor.run(paddle.static.default_startup_program())
            paddle.save(main_program.state_dict("param"), str(FOLDER / f"static-{VERSION}.pdparams"))


if __name__ == "__main__":
    main()

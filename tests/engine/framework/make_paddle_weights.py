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
    program, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(program, startup), paddle.utils.unique_name.guard():
        loss = line(paddle)
    executor = paddle.static.Executor()
    executor.run(startup)
    losses = [run(executor, program, loss, step) for step in range(3)]
    paddle.static.save(program, str(FOLDER / f"static-{VERSION}"))
    for path in FOLDER.glob(f"static-{VERSION}.*"):
        if path.suffix not in (".pdparams", ".pdopt"):
            path.unlink()
    losses = [run(executor, program, loss, step) for step in range(3, 6)]
    np.savez(FOLDER / f"static-{VERSION}-losses.npz", losses=losses)


def line(paddle):
    """The loss of a linear regression; its optimizer is part of the Program."""
    x, y = paddle.static.data("x", [None, 4]), paddle.static.data("y", [None, 1])
    loss = paddle.mean(paddle.square(paddle.static.nn.fc(x, 1) - y))
    paddle.optimizer.Adam(0.1).minimize(loss)
    return loss


def run(executor, program, loss, step):
    draw = np.random.RandomState(step)
    feed = {"x": draw.rand(8, 4).astype("float32"), "y": draw.rand(8, 1).astype("float32")}
    return float(np.asarray(executor.run(program, feed=feed, fetch_list=[loss])[0]).reshape(()))


if __name__ == "__main__":
    main()

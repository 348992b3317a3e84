"""Worker: steps of a network in the engine with some of its passes.

``python -m bench.peers.engine_passes LEVEL NETWORK KIND BATCH [PASS]``: LEVEL of the passes, NETWORK and KIND
as in ``bench.passes``; PASS is the function that is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import engine as paddle
from bench.peers.paddle_lenet import lenet
from bench.peers.paddle_resnet import resnet
from bench.peers.protocol import lenet_batch, resnet_batch, serve
from engine import static
from engine.program.passes import level, pipeline

KINDS = ("train", "program", "predict")


def _vgg() -> Any:
    nn = paddle.nn
    layers: list[Any] = []
    for before, after in ((3, 32), (32, 32), (32, 64), (64, 64)):
        layers += [nn.Conv2D(before, after, 3, padding=1), nn.ReLU()]
        layers += [nn.MaxPool2D(2, stride=2)] if before == after else []
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 8 * 8, 128), nn.ReLU(), nn.Linear(128, 10))


def _mlp() -> Any:
    nn = paddle.nn
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )


# Name -> what makes the network, and a batch for it.
NETWORKS: dict[str, tuple[Callable[[], Any], Callable[[int], Any]]] = {
    "lenet": (lambda: lenet(paddle), lenet_batch),
    "vgg": (_vgg, resnet_batch),
    "resnet": (lambda: resnet(paddle, "cifar"), resnet_batch),
    "mlp": (_mlp, lenet_batch),
}


def _program(make: Callable[[], Any], images: Any, labels: Any) -> Callable[[], Any]:
    """One step of a static Program; gives its loss."""
    paddle.enable_static()
    main, startup = static.Program(), static.Program()
    main.random_seed = startup.random_seed = 1
    with static.program_guard(main, startup):
        x = static.data("x", [None, *images.shape[1:]], "float32")
        y = static.data("y", [None, 1], "int64")
        loss = paddle.nn.functional.cross_entropy(make()(x), y)
        paddle.optimizer.Adam(learning_rate=0.001).minimize(loss)
    executor = static.Executor()
    executor.run(startup)
    return lambda: executor.run(main, {"x": images, "y": labels}, [loss])[0]


def _converted(make: Callable[[], Any], images: Any, labels: Any, training: bool) -> Callable[[], Any]:
    """One step of a converted network; gives its loss, or when it predicts the sum of its results."""
    paddle.seed(1)
    model = make()
    x, y = paddle.to_tensor(images), paddle.to_tensor(labels)
    if not training:
        model.eval()
        forward = paddle.jit.to_static(model)

        def predict() -> Any:
            with paddle.no_grad():
                return forward(x).sum()

        return predict
    optimizer = paddle.optimizer.Adam(learning_rate=0.001, parameters=model.parameters())
    forward = paddle.jit.to_static(model)

    def step() -> Any:
        loss = paddle.nn.functional.cross_entropy(forward(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return step


def main(passes: str, name: str, kind: str, batch: str, without: str = "") -> None:
    """Serve steps."""
    level.set(int(passes))
    if without and without not in [each.rewrite.__name__ for each in pipeline.PIPELINE]:
        raise SystemExit(f"bench.passes: there is no pass {without!r}")
    pipeline.PIPELINE = tuple(each for each in pipeline.PIPELINE if each.rewrite.__name__ != without)
    make, samples = NETWORKS[name]
    images, labels = samples(int(batch))
    labels = labels.reshape(-1, 1)
    if kind == "program":
        step = _program(make, images, labels)
    else:
        step = _converted(make, images, labels, kind == "train")

    def repeat(count: int, _job: str) -> dict[str, float]:
        for _ in range(count):
            result = step()
        return {"loss": float(result)}

    serve(f"engine {paddle.__version__}", repeat)


if __name__ == "__main__":
    main(*sys.argv[1:])

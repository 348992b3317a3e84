"""What quantization costs: accuracy, size, calibration time and latency on MNIST, for every algorithm.

``python -m bench.quantization [--part algorithms|bits|training|mobilenet] [--steps 600] [--seeds 3]``.

``algorithms``: LeNet after ``--steps`` Adam steps, calibrated on 320 images, on the 5,000 test digits, for
each algorithm at 8 bits. ``bits``: weights of 8, 4 and 3 bits with each way of rounding them. ``training``:
over ``--seeds`` seeds, LeNet trained on for 600 steps in float and with quantization at 8, 4 and 3 bits.
``mobilenet``: PaddleSlim's MobileNetV1 after ``--passes`` over the 10,000 training digits. Latency is that of
one image, timed in alternation with the float model's.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import engine as paddle
from bench.timing import paired_ratio, table, take_turns
from engine import nn, static
from engine.quantization import QAT, QuantConfig
from engine.quantization.options import QuantizeOptions
from engine.quantization.post_training import quantize_program
from engine.quantization.quanters import FakeQuanterWithAbsMaxObserver
from engine.quantization.quantize_model import quantize_layer
from engine.quantization.weight_quanter import WeightQuanter
from engine.slim.models import MobileNet
from engine.vision.datasets import MNIST
from engine.vision.models import LeNet

BATCH, TEST, CALIBRATION, MORE = 64, 5000, 320, 600
SPEC = [static.InputSpec([None, 1, 28, 28], "float32", "x")]
ALGORITHMS = ("abs_max", "avg", "hist", "KL", "mse", "emd", "min_max")
WAYS: dict[str, dict[str, Any]] = {
    "nearest": {},
    "bias correction": {"bias_correction": True},
    "equalized": {"equalize": True},
    "mse": {"weight_type": "channel_wise_mse"},
    "adaptive": {"rounding": "adaptive"},
    "mse, adaptive": {"weight_type": "channel_wise_mse", "rounding": "adaptive"},
}
Data = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


@cache
def digits(mode: str) -> Data:
    """Images [N, 1, 28, 28] in [-1, 1] and labels [N, 1] of int64."""
    data = MNIST(mode=mode)
    count = min(len(data), TEST) if mode == "test" else len(data)
    pairs = [data[i] for i in range(count)]
    images = np.stack([np.asarray(p, np.float32).reshape(1, 28, 28) for p, _ in pairs])
    return images / 127.5 - 1.0, np.array([label for _, label in pairs], np.int64).reshape(-1, 1)


def batches(seed: int, size: int = BATCH) -> Iterator[Data]:
    """Batches of training digits without end, each epoch in a new order."""
    images, labels = digits("train")
    random = np.random.default_rng(seed)
    while True:
        order = random.permutation(len(images))
        for start in range(0, len(order) - size + 1, size):
            chosen = order[start : start + size]
            yield images[chosen], labels[chosen]


def calibration() -> list[Any]:
    """320 training digits in batches of 32."""
    return np.split(digits("train")[0][:CALIBRATION], 10)


def train(net: nn.Layer, feed: Iterator[Data], steps: int, falls: bool = False) -> None:
    """So many steps of Adam(0.001); with ``falls`` the learning rate goes down to 0."""
    net.train()
    adam = paddle.optimizer.Adam(0.001, parameters=net.parameters())
    for step in range(steps):
        if falls:
            adam.set_lr(0.001 * (1.0 - step / steps))
        images, labels = map(paddle.to_tensor, next(feed))
        nn.functional.cross_entropy(net(images), labels).backward()
        adam.step()
        adam.clear_grad()
    net.eval()


def trained(seed: int, steps: int) -> tuple[LeNet, Iterator[Data]]:
    """LeNet after so many steps, and the batches that come next."""
    paddle.seed(seed)
    net, feed = LeNet(), batches(seed)
    train(net, feed, steps)
    return net, feed


def accuracy(predict: Callable[[Any], Any], size: int = 250) -> float:
    """The share of right test digits, in percent."""
    images, labels = digits("test")
    found = [predict(images[i : i + size]).argmax(1) for i in range(0, len(images), size)]
    return 100.0 * float((np.concatenate(found) == labels[:, 0]).mean())


def answers(layer: Any) -> Callable[[Any], Any]:
    """What a Layer answers to an array."""

    def predict(images: Any) -> Any:
        with paddle.no_grad():
            return layer(paddle.to_tensor(images)).numpy()

    return predict


def seconds_each(predict: Callable[[Any], Any], times: int = 50) -> Callable[[], float]:
    """Seconds for one image, as ``take_turns`` asks for them."""
    image = digits("test")[0][:1]

    def measure() -> float:
        started = time.perf_counter()
        for _ in range(times):
            predict(image)
        return (time.perf_counter() - started) / times

    measure()
    return measure


def saved(write: Callable[[str], Any], read: Callable[[str], Any]) -> tuple[int, Any]:
    """The bytes of the parameters' file and what is loaded again of a model that was written."""
    with tempfile.TemporaryDirectory() as folder:
        prefix = str(Path(folder) / "model")
        write(prefix)
        return Path(prefix + ".pdiparams").stat().st_size, read(prefix)


def algorithms(steps: int) -> None:
    """Print one row for each algorithm at 8 bits."""
    net, _ = trained(0, steps)
    size, layer = saved(lambda prefix: paddle.jit.save(net, prefix, input_spec=SPEC), loaded)
    contenders, rows = (
        {"float": answers(layer)},
        [["float", f"{accuracy(answers(layer)):.2f}", f"{size:,}", ""]],
    )
    for name in ALGORITHMS:
        made = quantize_layer(net, SPEC, calibration(), QuantizeOptions(algo=name))
        size, layer = saved(made.save, loaded)
        contenders[name] = answers(layer)
        rows.append([name, f"{accuracy(contenders[name]):.2f}", f"{size:,}", f"{made.seconds:.2f}"])
    series = take_turns({name: seconds_each(each) for name, each in contenders.items()}, 10)
    for row, each in zip(rows, series, strict=True):
        row += [f"{each.typical * 1e3:.3f}", f"{paired_ratio(each, series[0]):.2f}"]
    print(table([["8 bits", "accuracy %", "bytes", "calibration s", "latency ms", "to float"], *rows]))


def loaded(prefix: str) -> Any:
    """A model as everything that predicts loads it: products of integers for a quantized one."""
    return paddle.jit.load(prefix, for_prediction=True)


def bits(steps: int) -> None:
    """Print the accuracy of each way of rounding weights of few bits, values at 8 bits."""
    net, _ = trained(0, steps)
    rows = [["weights of", "accuracy %", "one threshold %", "calibration s"]]
    rows.append(["float", f"{accuracy(answers(net)):.2f}", "", ""])
    for number, (name, way) in product((8, 4, 3), WAYS.items()):
        row = [f"{number} bits, {name}"]
        for kind in ("channel_wise_abs_max", "abs_max"):
            more = dict(way)
            plain_type = more.pop("weight_type", "abs_max").removeprefix("channel_wise_")
            weight_type = f"channel_wise_{plain_type}" if kind.startswith("channel") else plain_type
            options = QuantizeOptions(weight_bits=number, weight_type=weight_type, **more)
            made = quantize_layer(net, SPEC, calibration(), options)
            row.append(f"{accuracy(answers(made.layer())):.2f}")
        rows.append([*row, f"{made.seconds:.2f}"])
    print(table(rows))


def training(steps: int, seeds: int) -> None:
    """Print accuracies after as many more steps in float and with quantization, and without any more."""
    names = ["trained", "on in float", *(f"{how} {n} bits" for n in (8, 4, 3) for how in ("PTQ", "QAT"))]
    found: list[list[float]] = []
    for seed in range(seeds):
        net, feed = trained(seed, steps)
        row = [accuracy(answers(net))]
        ahead = [next(feed) for _ in range(MORE)]  # the same batches for all
        on = LeNet()
        on.set_state_dict(net.state_dict())
        train(on, iter(ahead), MORE, falls=True)
        row.append(accuracy(answers(on)))
        for number in (8, 4, 3):
            options = QuantizeOptions(algo="hist", weight_bits=number, activation_bits=number)
            row.append(accuracy(answers(quantize_layer(on, SPEC, calibration(), options).layer())))
            row.append(accuracy(answers(aware(net, ahead, number))))
        found.append(row)
        print(table([["seed", *names], [str(seed), *(f"{each:.2f}" for each in row)]]), flush=True)
    means = np.mean(found, axis=0)
    print(table([["mean", *names], [f"{seeds} seeds", *(f"{each:.2f}" for each in means)]]))


def aware(net: LeNet, feed: list[Data], number: int) -> nn.Layer:
    """The network trained on with quantization of weights and values, and converted."""
    config = QuantConfig(None, None)  # what a calibration quantizes: values and weights of products
    values, weights = FakeQuanterWithAbsMaxObserver(bit_length=number), WeightQuanter(number)
    config.add_type_config([nn.Conv2D, nn.Linear], activation=values, weight=weights)
    tool = QAT(config)
    net.train()
    made = tool.quantize(net)
    net.eval()
    train(made, iter(feed), len(feed), falls=True)
    converted: nn.Layer = tool.convert(made)
    return converted


def mobilenet(passes: int) -> None:
    """Print the accuracy of PaddleSlim's MobileNetV1 in float and at 8 bits, equalized and not."""
    paddle.enable_static()
    paddle.seed(0)
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        image, label = static.data("image", [None, 1, 28, 28]), static.data("label", [None, 1], "int64")
        out = MobileNet().net(image, class_dim=10)
        cost = paddle.mean(nn.functional.cross_entropy(out, label, use_softmax=False))
        test = main.clone(for_test=True)
        paddle.optimizer.Momentum(0.01, 0.9).minimize(cost)
    executor = static.Executor()
    executor.run(startup)
    size = BATCH // 2
    feed = batches(0, size)
    for _ in range(passes * len(digits("train")[0]) // size):
        images, labels = next(feed)
        executor.run(main, {"image": images, "label": labels}, [cost])

    def run(program: static.Program, name: str) -> Callable[[Any], Any]:
        return lambda images: executor.run(program, {"image": images}, [name])[0]

    test = static.normalize_program(test, [image], [out])
    predict = run(test, out.name)
    rows = [["MobileNetV1", "accuracy %", "calibration s"], ["float", f"{accuracy(predict):.2f}", ""]]
    for kind, on in product(("channel_wise_abs_max", "abs_max"), (False, True)):
        options = QuantizeOptions(weight_type=kind, equalize=on)
        made = quantize_program(test, calibration(), options, inputs=["image"], outputs=[out.name])
        found = accuracy(run(made.program, made.program.outputs[0]))
        rows.append([f"8 bits, {kind}{', equalized' if on else ''}", f"{found:.2f}", f"{made.seconds:.2f}"])
    print(table(rows))


def main(arguments: list[str] | None = None) -> None:
    """Print the tables of the parts that were asked for."""
    parser = argparse.ArgumentParser(prog="bench.quantization", description=__doc__.splitlines()[0])
    parts = ("algorithms", "bits", "training", "mobilenet")
    parser.add_argument("--part", action="append", choices=parts, help="all by default")
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--passes", type=int, default=6, help="of MobileNet over 10,000 digits")
    options = parser.parse_args(arguments)
    for part in options.part or parts:
        if part == "algorithms":
            algorithms(options.steps)
        elif part == "bits":
            bits(options.steps)
        elif part == "training":
            training(options.steps, options.seeds)
        else:
            mobilenet(options.passes)


if __name__ == "__main__":
    main()

"""GFLOP/s of the convolutions of the suite's networks: NumPy, compiled, and torch, on one thread.

``python -m bench.convs [--rounds 7] [--only TEXT]``. CPU time, contenders in alternation within one process;
forward pass / gradient of the image / gradient of the filters, in GFLOP of the direct convolution, so
Winograd's can pass the peak, which is that of BLAS for one large product. torch takes part where it is
installed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402

from bench.timing import table, take_turns  # noqa: E402
from engine.core.operators.opdef import OPS  # noqa: E402
from engine.core.values.spec import Spec  # noqa: E402
from engine.kernels.cpu.threads import set_num_threads  # noqa: E402
from engine.kernels.fast import register  # noqa: E402
from engine.kernels.fast.target import target  # noqa: E402


@dataclass(frozen=True)
class Shape:
    """One convolution: samples, channels, height and width, filters, kernel, stride, padding, groups.

    ``transposed``: of the kind that layers of that name are; ``row``: of one row, as conv1d makes it.
    """

    net: str
    samples: int
    channels: int
    size: int
    filters: int
    kernel: int
    stride: int = 1
    padding: int = 1
    groups: int = 1
    transposed: bool = False
    row: bool = False

    def pair(self, number: int, of_row: int) -> tuple[int, int]:
        """A number for rows and columns; ``of_row`` for rows where there is only one."""
        return of_row if self.row else number, number

    @property
    def operator(self) -> str:
        return "conv2d_transpose" if self.transposed else "conv2d"

    def title(self) -> str:
        size, kernel = ("x".join(map(str, self.pair(n, 1))) for n in (self.size, self.kernel))
        what = f"{self.net} {self.samples}x{self.channels}x{size} -> {self.filters}"
        kind = ", transposed" if self.transposed else ""
        return f"{what}, {kernel}{kind}, stride {self.stride}, groups {self.groups}"

    def flops(self) -> float:
        """Operations of one pass."""
        places = self.size
        if not self.transposed:
            places = (self.size + 2 * self.padding - self.kernel) // self.stride + 1
        (high, wide), kernel = self.pair(places, 1), self.pair(self.kernel, 1)
        per_result = self.channels // self.groups * kernel[0] * kernel[1]
        return 2.0 * self.samples * self.filters * high * wide * per_result


SHAPES = [
    Shape("LeNet", 64, 1, 28, 6, 3),
    Shape("LeNet", 64, 6, 14, 16, 5, padding=0),
    Shape("VGG", 64, 3, 32, 32, 3),
    Shape("VGG", 64, 32, 32, 32, 3),
    Shape("VGG", 64, 32, 16, 64, 3),
    Shape("VGG", 64, 64, 16, 64, 3),
    Shape("ResNet", 32, 3, 32, 64, 3),
    Shape("ResNet", 32, 64, 32, 64, 3),
    Shape("ResNet", 32, 64, 32, 128, 3, 2),
    Shape("ResNet", 32, 64, 32, 128, 1, 2, 0),
    Shape("ResNet", 32, 128, 16, 128, 3),
    Shape("ResNet", 32, 256, 8, 256, 3),
    Shape("ResNet", 32, 512, 4, 512, 3),
    Shape("MobileNet", 32, 3, 64, 32, 3, 2),
    Shape("MobileNet", 32, 32, 32, 32, 3, groups=32),
    Shape("MobileNet", 32, 64, 32, 64, 3, 2, groups=64),
    Shape("MobileNet", 32, 128, 16, 128, 3, groups=128),
    Shape("MobileNet", 32, 256, 8, 256, 3, groups=256),
    Shape("MobileNet", 32, 96, 16, 96, 5, padding=2, groups=96),
    Shape("MobileNet", 32, 96, 16, 96, 5, 2, 2, groups=96),
    Shape("ConvNeXt", 32, 96, 16, 96, 7, padding=3, groups=96),
    Shape("MobileNet", 32, 32, 32, 64, 1, padding=0),
    Shape("MobileNet", 32, 128, 16, 128, 1, padding=0),
    Shape("MobileNet", 32, 256, 8, 256, 1, padding=0),
    Shape("DCGAN", 32, 128, 8, 64, 4, 2, 1, transposed=True),
    Shape("U-Net", 32, 64, 16, 32, 2, 2, 0, transposed=True),
    Shape("text", 64, 64, 128, 64, 3, row=True),
    Shape("text", 64, 64, 128, 64, 5, padding=2, row=True),
    Shape("sound", 32, 1, 1024, 32, 9, 4, 4, row=True),
    Shape("sound", 32, 64, 256, 128, 3, 2, row=True),
]

Work = Callable[[], Any]
PASSES = 3  # forward, gradient of the image, gradient of the filters


def _timed(work: Work) -> Callable[[], float]:
    def run() -> float:
        begin = time.thread_time()
        work()
        return time.thread_time() - begin

    return run


def _contenders(shape: Shape) -> dict[str, tuple[Work, ...]]:
    """The passes of each contender, warmed up and compared with each other."""
    rng = np.random.default_rng(0)
    high, wide = shape.pair(shape.size, 1)
    x = rng.standard_normal((high, shape.channels, wide, shape.samples), dtype=np.float32)
    x = x.transpose(3, 1, 0, 2)  # as a network's operators lay it out: samples last
    channels = (shape.channels, shape.filters) if shape.transposed else (shape.filters, shape.channels)
    size = (channels[0], channels[1] // shape.groups, *shape.pair(shape.kernel, 1))
    weight = rng.standard_normal(size, dtype=np.float32)
    attrs: dict[str, Any] = {
        "strides": shape.pair(shape.stride, 1),
        "paddings": shape.pair(shape.padding, 0),
        "padding_algorithm": "EXPLICIT",
        "dilations": (1, 1),
        "groups": shape.groups,
        "data_format": "NCHW",
    }
    if shape.transposed:
        attrs |= {"output_padding": (), "output_size": ()}
    forward, backward = OPS[shape.operator], OPS[f"{shape.operator}_grad"]
    wanted = forward.kernel(np, x, weight, **attrs)
    g = np.empty_like(wanted)
    g[...] = rng.standard_normal(g.shape, dtype=np.float32)
    sides = [attrs | {"need_x": first, "need_weight": not first} for first in (True, False)]
    found: dict[str, tuple[Work, ...]] = {
        "NumPy": (
            lambda: forward.kernel(np, x, weight, **attrs),
            lambda: backward.kernel(np, x, weight, g, **sides[0])[0],
            lambda: backward.kernel(np, x, weight, g, **sides[1])[1],
        ),
    }
    if forward.fast is not None and backward.fast is not None:
        specs = [Spec.of(x), Spec.of(weight), Spec.of(g)]
        made = [forward.fast(specs[:2], attrs), *(backward.fast(specs, each) for each in sides)]
        works: list[Work] = list(found["NumPy"])
        for n, one in enumerate(made):  # where there is none, a plan takes NumPy's
            if one is not None and all(h.wait(300) for h in one.handles):
                given = (x, weight) if n == 0 else (x, weight, g)
                works[n] = _first(one.kernel, given, n)
        found["compiled"] = tuple(works)
    found |= _torch(shape, x, weight, g)
    results = [work() for work in found["NumPy"]]
    for name, passes in found.items():
        for work, result in zip(passes, results, strict=True):
            scale = float(np.abs(result).max())
            np.testing.assert_allclose(work(), result, rtol=1e-3, atol=1e-4 * scale, err_msg=name)
    return found


def _first(kernel: Callable[..., Any], given: tuple[Any, ...], number: int) -> Work:
    return (lambda: kernel(*given)) if number == 0 else lambda: kernel(*given)[number - 1]


def _torch(shape: Shape, x: Any, weight: Any, g: Any) -> dict[str, tuple[Work, ...]]:
    try:
        import torch
    except ImportError:
        return {}
    torch.set_num_threads(1)
    image, filters, sent = (torch.tensor(np.ascontiguousarray(a)) for a in (x, weight, g))
    image.requires_grad_()
    filters.requires_grad_()
    functional = torch.nn.functional
    convolve = functional.conv_transpose2d if shape.transposed else functional.conv2d
    strides, paddings = shape.pair(shape.stride, 1), shape.pair(shape.padding, 0)
    options = {"stride": strides, "padding": paddings, "groups": shape.groups}

    def forward() -> Any:
        with torch.no_grad():
            return convolve(image, filters, **options)

    result = convolve(image, filters, **options)

    def gradient(of: Any) -> Work:
        return lambda: torch.autograd.grad(result, of, sent, retain_graph=True)[0]

    return {"torch": (forward, gradient(image), gradient(filters))}


def _peak() -> float:
    """GFLOP/s of one product of 1024 by 1024 on one thread."""
    x = np.ones((1024, 1024), np.float32)
    made = np.empty_like(x)
    (series,) = take_turns({"": _timed(lambda: np.matmul(x, x, out=made))}, 7)
    return 2 * 1024**3 / series.best * 1e-9


def main(arguments: list[str] | None = None) -> None:
    """Measure and print one table."""
    made = argparse.ArgumentParser(prog="python -m bench.convs", description=__doc__)
    made.add_argument("--rounds", type=int, default=7)
    made.add_argument("--only", default="", help="shapes whose line has this text")
    options = made.parse_args(arguments)
    set_num_threads(1)
    try:
        import llvmlite  # noqa: F401
    except ImportError:
        print("llvmlite is not installed: nothing is compiled")
    else:
        register()
    names = ["NumPy", "compiled", "torch"]
    peak = _peak()
    rows = [[f"{target().cpu}, one thread, GFLOP/s; peak of BLAS {peak:.0f}", *names]]
    for shape in SHAPES:
        if options.only not in shape.title():
            continue
        contenders = _contenders(shape)
        flops = shape.flops()
        series = [
            {
                s.name: flops / s.best * 1e-9
                for s in take_turns({n: _timed(w[k]) for n, w in contenders.items()}, options.rounds)
            }
            for k in range(PASSES)
        ]
        cells = [" / ".join(f"{each[n]:.0f}" for each in series) if n in contenders else "-" for n in names]
        rows.append([shape.title(), *cells])
    print(table(rows))


if __name__ == "__main__":
    main()

"""Models made by hand to hang a process or to take its memory, as files with right hashes and no signature.

Each is built by this build's own functions, in static mode, where nothing is computed, and then changed where
it has to be: what it states is forged, not how it is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import engine as paddle
from engine import nn, static
from engine.files.inference import INFO, KINDS, PROGRAM, WEIGHTS, inference_paths, read_inference
from engine.program.saved.serialize import to_plain
from tests.robust.containers import container

Plain = dict[str, Any]
HUGE = 10**12


@dataclass(frozen=True)
class Hostile:
    """A model: what its Program computes of ``x`` [batch, 4], and how the plain Program is forged then."""

    name: str
    compute: Callable[[Any], Any]
    forge: Callable[[Plain], Any]

    def plain(self) -> Plain:
        """The Program as a file holds it."""
        paddle.enable_static()
        try:
            main = static.Program()
            with static.program_guard(main, static.Program()):
                x = static.data("x", [None, 4], "float32")
                made = self.compute(x)
                made = list(made) if isinstance(made, (list, tuple)) else [made]
                main.inputs, main.outputs = ["x"], [v.name for v in made]
            plain = to_plain(main)
        finally:
            paddle.disable_static()
        self.forge(plain)
        return plain

    def write(self, prefix: Path) -> Path:
        """Write the three files."""
        trees = {PROGRAM: {"program": self.plain()}, WEIGHTS: {"weights": {}}, INFO: {"info": {}}}
        for suffix, path in inference_paths(prefix).items():
            path.write_bytes(container(KINDS[suffix], trees[suffix]))
        return prefix


def forge_files(prefix: Path, forge: Callable[[Plain], Any]) -> None:
    """Change the Program of a saved model, and write its files without a signature."""
    found = read_inference(prefix)
    forge(found.program)
    trees = {
        PROGRAM: {"program": found.program},
        WEIGHTS: {"weights": found.weights},
        INFO: {"info": found.info},
    }
    for suffix, path in inference_paths(prefix).items():
        path.write_bytes(container(KINDS[suffix], trees[suffix]))


MODELS: dict[str, Hostile] = {}


def hostile(
    compute: Callable[[Any], Any], forge: Callable[[Plain], Any] = lambda plain: None
) -> Callable[[Any], Any]:
    name = compute.__name__
    MODELS[name] = Hostile(name, compute, forge)
    return compute


def forged(forge: Callable[[Plain], Any]) -> Callable[[Callable[[Any], Any]], Any]:
    """A model whose plain Program is changed by ``forge``."""
    return lambda compute: hostile(compute, forge)


def attribute(kind: str, **values: Any) -> Callable[[Plain], Any]:
    """Changes attributes of the first operator of this kind."""

    def forge(plain: Plain) -> None:
        found = next(o for b in plain["blocks"] for o in b["ops"] if o["type"] == kind)
        found["attrs"].update(values)

    return forge


def number(value: float, dtype: str = "int64") -> Any:
    """A value that inference does not know: a tensor of one number."""
    return paddle.full([1], value, dtype)


# -- sizes that the file states --------------------------------------------------------------------------
hostile_fills: dict[str, Callable[[Any], Any]] = {
    "full_of_tera": lambda x: paddle.full([HUGE], 1.0),
    "full_that_overflows": lambda x: paddle.full([2**40, 2**40], 1.0),
    "full_of_three_gigabytes": lambda x: paddle.full([3 << 28], 1.0),
    "arange_of_peta": lambda x: paddle.arange(0, 10**15, 1),
    "randperm_of_tera": lambda x: paddle.randperm(HUGE),
    "randint_of_giga": lambda x: paddle.randint(0, 9, [1 << 30]),
    "uniform_of_giga": lambda x: paddle.uniform([1 << 28]),
    "normal_of_giga": lambda x: paddle.randn([1 << 28]),
    "tile_of_tera": lambda x: paddle.tile(x, [HUGE, 10]),
    "expand_of_giga": lambda x: paddle.expand(paddle.sum(x).reshape([1, 1]), [1 << 20, 1 << 10]),
    "pad_of_tera": lambda x: nn.functional.pad(x, [0, 0, 0, HUGE]),
    "one_hot_of_tera": lambda x: nn.functional.one_hot(paddle.argmax(x, axis=1), HUGE),
    "histogram_of_tera": lambda x: paddle.histogram(x, bins=HUGE),
    "repeat_interleave_of_giga": lambda x: paddle.repeat_interleave(x, 1 << 28, axis=1),
    "tril_of_mega": lambda x: paddle.tril_indices(10**6, 10**6, 0),
    "broadcast_of_two": lambda x: paddle.ones([60_000, 1]) + paddle.ones([1, 60_000]),
    "meshgrid_of_five": lambda x: paddle.meshgrid(*[paddle.arange(100) for _ in range(5)]),
    "diagonal_of_a_vector": lambda x: paddle.diag(paddle.ones([200_000])),
    "outer_product": lambda x: paddle.outer(paddle.ones([100_000]), paddle.ones([100_000])),
    "fft_of_giga": lambda x: paddle.fft.fft(x, n=1 << 28),
    "vander_of_mega": lambda x: paddle.vander(paddle.ones([1000]), 10**6),
    "interpolate_of_mega": lambda x: nn.functional.interpolate(
        x.reshape([-1, 1, 2, 2]), size=[100_000, 100_000]
    ),
}
for _name, _compute in hostile_fills.items():
    _compute.__name__ = _name
    hostile(_compute)


@forged(attribute("tril_indices", rows=HUGE, cols=HUGE))
def tril_indices(x):
    return paddle.tril_indices(3, 3, 0)


@forged(attribute("triu_indices", rows=10**9, cols=1))
def triu_indices(x):
    return paddle.triu_indices(3, 3, 0)


@forged(attribute("unsqueeze2", axes=[0] * 100_000))
def unsqueeze_a_million_times(x):
    return paddle.unsqueeze(x, [0])


@forged(attribute("fill_constant", shape=[1] * 1_000))
def a_thousand_dimensions(x):
    return paddle.full([1], 1.0)


@forged(attribute("unstack", num=10**9))
def unstack_into_giga(x):
    return paddle.unstack(paddle.ones([2, 3]))


@forged(attribute("split", axis=0, sections=10**9))
def split_into_giga(x):
    return paddle.split(x, 2, axis=1)


@forged(attribute("pool2d", ksize=[2**31, 2**31]))
def adaptive_pool_of_giga(x):
    return nn.functional.adaptive_avg_pool2d(x.reshape([-1, 1, 2, 2]), 1)


@forged(attribute("tile", repeat_times=[2] * 100_000))
def tile_of_many_dimensions(x):
    return paddle.tile(x, [1, 1])


@forged(attribute("transpose2", perm=list(range(100_000))))
def transpose_of_many_dimensions(x):
    return paddle.transpose(x, [1, 0])


@forged(attribute("assign_value", shape=[10**6, 10**6]))
def constant_of_few_values(x):
    return paddle.assign(np.array([1.0, 2.0, 3.0], "float32"))


def _deep(plain: Plain) -> None:
    value: Any = 1
    for _ in range(90):
        value = [value]
    plain["blocks"][0]["ops"][0]["attrs"]["shape"] = value


@forged(_deep)
def a_deep_attribute(x):
    return paddle.full([1], 1.0)


def _long_name(plain: Plain) -> None:
    name = "a" * 1_000_000
    variable = next(v for v in plain["blocks"][0]["vars"] if not v["data"])
    for operator_ in plain["blocks"][0]["ops"]:
        for slot in operator_["outputs"].values():
            slot[:] = [name if n == variable["name"] else n for n in slot]
    plain["outputs"] = [name]
    variable["name"] = name


@forged(_long_name)
def a_name_of_megabytes(x):
    return paddle.scale(x, 2.0)


def _many_blocks(plain: Plain) -> None:
    plain["blocks"] += [{"idx": n, "parent": 0, "vars": [], "ops": []} for n in range(1, 11_000)]


@forged(_many_blocks)
def many_blocks(x):
    return paddle.scale(x, 2.0)


def _nested_blocks(plain: Plain) -> None:
    plain["blocks"] += [{"idx": n, "parent": n - 1, "vars": [], "ops": []} for n in range(1, 5_000)]


@forged(_nested_blocks)
def nested_blocks(x):
    return paddle.scale(x, 2.0)


# -- sizes that values state -----------------------------------------------------------------------------
_BIG = 10**9
sized_by_values: dict[str, Callable[[Any], Any]] = {
    "full_by_values": lambda x: paddle.full([number(HUGE), 4], 1.0),
    "expand_by_values": lambda x: paddle.expand(paddle.ones([1, 1]), [number(_BIG), number(_BIG)]),
    "tile_by_values": lambda x: paddle.tile(x, [number(_BIG), 1]),
    "arange_by_values": lambda x: paddle.arange(number(0), number(HUGE), number(1)),
    "linspace_by_values": lambda x: paddle.linspace(0, 1, number(_BIG, "int32")),
    "bincount_by_values": lambda x: paddle.bincount(number(HUGE)),
    "sequence_mask_by_values": lambda x: nn.functional.sequence_mask(number(HUGE)),
    "repeat_by_values": lambda x: paddle.repeat_interleave(paddle.ones([1, 4]), number(_BIG), axis=0),
    "segments_by_values": lambda x: paddle.geometric.segment_sum(paddle.ones([1, 4]), number(_BIG)),
    "pad_by_values": lambda x: nn.functional.pad(
        paddle.ones([1, 1, 2, 2, 2]), paddle.full([6], 10**5, "int32"), data_format="NCDHW"
    ),
    "interpolate_by_values": lambda x: nn.functional.interpolate(
        paddle.ones([1, 1, 2, 2]), size=paddle.full([2], 10**6, "int32")
    ),
    "one_hot_by_values": lambda x: nn.functional.one_hot(paddle.zeros([3], "int64"), number(_BIG, "int32")),
    "one_hot_of_a_value": lambda x: nn.functional.one_hot(paddle.zeros([3], "int64"), number(HUGE)),
}
for _name, _compute in sized_by_values.items():
    _compute.__name__ = _name
    hostile(_compute)


# -- much of something small -----------------------------------------------------------------------------
@hostile
def thirty_doublings(x):
    for _ in range(30):
        x = paddle.concat([x, x])
    return x


@hostile
def doublings_that_end_small(x):
    for _ in range(30):
        x = paddle.concat([x, x])
    return paddle.sum(x)


@hostile
def values_kept_alive(x):
    made = [paddle.full([8 << 20], float(n)) for n in range(100)]
    total = made[0]
    for each in reversed(made):
        total = total + each
    return total.sum()


def _counting(limit: int, body: Callable[[Any], Any], value: Any) -> Any:
    start = paddle.zeros([1], "int64")
    return static.nn.while_loop(lambda i, v: i < limit, lambda i, v: [i + 1, body(v)], [start, value])[1]


@hostile
def endless_loop(x):
    start = paddle.zeros([1], "float32")
    return static.nn.while_loop(lambda i: i >= 0.0, lambda i: [i + 1.0], [start])[0]


@hostile
def endless_loop_that_does_nothing(x):
    start = paddle.ones([1], "bool")
    return static.nn.while_loop(lambda i: i, lambda i: [i.logical_or(i)], [start])[0]


@hostile
def nested_loops(x):
    def inner(value):
        return _counting(10**5, lambda v: v + 1.0, value)

    return _counting(10**5, inner, paddle.sum(x).reshape([1]))


@hostile
def loop_of_doublings(x):
    return _counting(60, lambda v: paddle.concat([v, v]), paddle.masked_select(x, x > -1.0)).sum()


@hostile
def loop_of_products(x):
    matrix = paddle.ones([1500, 1500])
    return _counting(10**5, lambda v: paddle.matmul(v, v) * 1e-3, matrix).sum()


# -- much work for few values ----------------------------------------------------------------------------
work: dict[str, Callable[[Any], Any]] = {
    "product_of_matrices": lambda x: paddle.matmul(paddle.ones([4000, 4000]), paddle.ones([4000, 4000])),
    "product_of_whole_numbers": lambda x: paddle.matmul(
        paddle.ones([2000, 2000], "int64"), paddle.ones([2000, 2000], "int64")
    ),
    "singular_values": lambda x: paddle.linalg.svd(paddle.ones([3000, 3000]))[1],
    "eigenvalues": lambda x: paddle.linalg.eigvals(paddle.ones([2500, 2500])),
    "inverse_matrix": lambda x: paddle.linalg.inv(paddle.ones([4000, 4000])),
    "padded_pool": lambda x: nn.functional.max_pool2d(
        x.reshape([-1, 1, 2, 2]), kernel_size=60_000, stride=60_000, padding=30_000
    ),
    "padded_convolution": lambda x: nn.functional.conv2d(
        x.reshape([-1, 1, 2, 2]), paddle.ones([1, 1, 3, 3]), padding=60_000, stride=60_000
    ),
    "large_convolution": lambda x: nn.functional.conv2d(
        paddle.ones([1, 64, 256, 256]), paddle.ones([64, 64, 31, 31]), padding=15
    ),
    "long_recurrence": lambda x: _counting(10**7, lambda v: v * 0.5, paddle.sum(x).reshape([1])),
}
for _name, _compute in work.items():
    _compute.__name__ = _name
    hostile(_compute)

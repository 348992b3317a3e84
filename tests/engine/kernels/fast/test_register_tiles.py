"""Tiles of products fit into the registers: in the assembly, no innermost loop of products uses the stack."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from engine.kernels.fast import register_tiles
from engine.kernels.fast.compiler import assembly
from engine.kernels.fast.images import (
    convolution,
    convolution_code,
    depthwise_code,
    depthwise_gradient_code,
    filter_gradient_code,
    winograd,
    winograd_code,
    winograd_gradient_code,
)
from engine.kernels.fast.images.channel_blocks import sizes, stages
from engine.kernels.fast.images.channel_blocks.convolution_code import emit_convolution
from engine.kernels.fast.images.channel_blocks.depthwise_code import emit_depthwise
from engine.kernels.fast.linalg import tiled
from engine.kernels.fast.register_tiles import divided, widest
from engine.kernels.fast.target import EXAMPLES, assumed, lanes, registers
from engine.kernels.fast.vectors import F32, F64
from engine.ops.images.conv_choice import plan_of

SAMPLES = 32
# Channels, height and width, filters, kernel, stride, dilation, groups.
SHAPES = [
    (3, 32, 32, 3, 1, 1, 1),
    (64, 14, 96, 1, 1, 1, 1),
    (32, 32, 64, 3, 2, 1, 1),
    (6, 14, 16, 5, 1, 1, 1),
    (3, 64, 16, 7, 2, 1, 1),
    (32, 16, 32, 3, 1, 2, 1),
    (32, 32, 32, 3, 1, 1, 32),
    (32, 13, 30, 3, 1, 1, 2),
]
DEPTHWISE = [
    (32, 32, 32, 3, 1, 1, 32),
    (64, 32, 64, 3, 2, 1, 64),
    (32, 8, 32, 3, 1, 1, 32),
    (32, 4, 32, 3, 1, 2, 32),
    (32, 32, 32, 5, 1, 1, 32),
    (32, 33, 32, 5, 2, 1, 32),
    (32, 28, 32, 7, 1, 1, 32),
]
Build = Callable[[Any, str], Any]


def _plan(shape: Any) -> Any:
    channels, size, filters, kernel, stride, dilation, groups = shape
    pads = ((kernel // 2 * dilation,) * 2,) * 2
    weight = (filters, channels // groups, kernel, kernel)
    return plan_of(np, (SAMPLES, channels, size, size), weight, (stride,) * 2, pads, (dilation,) * 2, groups)


def _direct(shape: Any) -> dict[str, Build]:
    plan, many = _plan(shape), lanes()
    forward, image = convolution.forward_plan(plan, True, "relu"), convolution.image_plan(plan)
    filters = replace(convolution.filter_plan(plan), parts=1)
    return {
        "forward": lambda module, name: convolution_code.emit(module, name, forward, many),
        "image": lambda module, name: convolution_code.emit(module, name, image, many),
        "filters": lambda module, name: filter_gradient_code.emit(module, name, filters, many),
    }


def _depthwise(shape: Any) -> dict[str, Build]:
    plan, many = _plan(shape), lanes()
    forward = depthwise_code.Depthwise(convolution.forward_plan(plan, True, "relu"))
    image = depthwise_code.Depthwise(convolution.image_plan(plan))
    filters = depthwise_gradient_code.FilterSums(convolution.filter_plan(plan), lanes() // 2)
    assert all(one.fits() for one in (forward, image, filters))
    return {
        "forward": lambda module, name: depthwise_code.emit(module, name, forward, many),
        "image": lambda module, name: depthwise_code.emit(module, name, image, many),
        "filters": lambda module, name: depthwise_gradient_code.emit(module, name, filters, many),
    }


def _transformed(channels: int, filters: int, size: int) -> dict[str, Build]:
    many = lanes()
    cut = winograd.tiles(SAMPLES, channels, filters, (size, size), (1, 1), (size, size))
    sums = winograd.gradient(cut, cut.tiles * -(-SAMPLES // many), many)
    return {
        "forward": lambda module, name: winograd_code.emit(module, name, cut, many, False, False, ""),
        "image": lambda module, name: winograd_code.emit(module, name, cut, many, True, False, ""),
        "sums": lambda module, name: winograd_gradient_code.emit_sums(module, name, sums),
    }


def _few(shape: Any) -> dict[str, Build]:
    """A convolution of few images, whose vectors hold channels."""
    channels, size, filters, kernel, stride, dilation, groups = shape
    many, pad = lanes(), kernel // 2 * dilation
    source = stages.Grid(channels, size, size, many if channels >= many else 1, (pad,) * 4)
    result = (size - 1) // stride + 1
    share, finish = stages.Share(1, 1, False), stages.Finish((), (("relu", (0,), ()),))
    how = (
        source,
        stages.Grid(filters, result, result, many),
        (kernel,) * 2,
        (stride,) * 2,
        (dilation,) * 2,
        (pad,) * 2,
    )
    if groups == channels:
        across = sizes.depthwise_tile(result, kernel, registers())
        alone = stages.Depthwise(*how, across, share, finish)
        return {"depthwise": lambda module, name: emit_depthwise(module, name, alone, many)}
    wide, across = sizes.tile(-(-filters // many) // groups, result, registers())
    stage = stages.Convolution(*how, groups, wide, across, share, finish)
    return {"few": lambda module, name: emit_convolution(module, name, stage, many)}


def innermost_loops(text: str) -> Iterator[list[str]]:
    """The lines of loops that hold no other, from a label to the jump back to it."""
    lines = text.splitlines()
    labels = {line.split(":")[0]: n for n, line in enumerate(lines) if re.match(r"\.L\w+:", line)}
    loops = []
    for n, line in enumerate(lines):
        jump = re.match(r"\s+j\w+\s+(\.L\w+)", line)
        if jump and labels.get(jump[1], n) < n:
            loops.append((labels[jump[1]], n))
    for begin, end in loops:
        if not any((begin, end) != (b, e) and begin <= b and e <= end for b, e in loops):
            yield lines[begin : end + 1]


def _vectors_on_the_stack(line: str) -> bool:
    return "(%rsp)" in line and re.search(r"%[xyz]mm\d", line) is not None


def _products(lines: list[str]) -> int:
    return sum("vfmadd" in line for line in lines)


def _is_product(title: str, lines: list[str], held: bool) -> bool:
    """Whether a loop adds products of vectors and spread factors (of filters' gradients, and where factors
    are held: of two vectors) to sums. The transform of a tile of 6 by 6 points, which holds more than any
    CPU does, is mostly additions.
    """
    additions = sum(re.search(r"v(add|sub|mul)ps", line) is not None for line in lines)
    spread = any("vbroadcastss" in line or "{1to" in line for line in lines)
    if held:
        return _products(lines) > 1
    return _products(lines) > max(1, 4 * additions) and (spread or title in ("filters", "depthwise"))


def _check(builds: dict[str, Build], held: bool = False) -> None:
    for title, build in builds.items():
        met = 0
        for loop in innermost_loops(assembly(build)):
            if not _is_product(title, loop, held):
                continue
            met += 1
            spilled = [line.strip() for line in loop if _vectors_on_the_stack(line)]
            assert spilled == [], title
        assert met, f"{title}: no loop of products was found"


@pytest.fixture(params=EXAMPLES)
def cpu(request: pytest.FixtureRequest) -> Iterator[str]:
    if not re.match(r"x86_64|i.86|AMD64", platform.machine()):
        pytest.skip("assembly of x86")
    with assumed(EXAMPLES[request.param]):
        yield request.param


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_direct_convolutions_keep_their_sums_in_registers(cpu: str, shape: Any) -> None:
    _check(_direct(shape))


@pytest.mark.parametrize("shape", DEPTHWISE, ids=str)
def test_convolutions_of_one_channel_each_keep_results_in_registers(cpu: str, shape: Any) -> None:
    _check(_depthwise(shape), held=True)


@pytest.mark.parametrize("shape", [(32, 64, 16), (64, 128, 9), (512, 512, 4)], ids=str)
def test_products_of_winograds_convolutions_do(cpu: str, shape: Any) -> None:
    _check(_transformed(*shape))


@pytest.mark.parametrize(
    "shape", [*SHAPES[:-1], (64, 14, 128, 3, 1, 1, 2), (256, 7, 512, 3, 1, 1, 1)], ids=str
)
def test_convolutions_of_few_samples_do(cpu: str, shape: Any) -> None:
    _check(_few(shape))


def test_products_of_matrices_do(cpu: str) -> None:
    _check({"matrices": partial(tiled.build, F32), "of doubles": partial(tiled.build, F64)}, held=True)


def test_a_tile_that_is_too_large_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register_tiles, "registers", lambda: 32)
    with assumed(EXAMPLES["avx2"]), pytest.raises(AssertionError, match="forward"):
        _check(_direct(SHAPES[1]))


def test_sizes_of_tiles() -> None:
    with assumed(EXAMPLES["avx512"]):
        assert (lanes(), registers()) == (16, 32)
        assert [widest(rows) for rows in (1, 2, 3, 4)] == [5, 5, 5, 5]
        assert divided(16, 4) == [(0, 4, 4)]
        assert divided(11, 4) == [(0, 2, 4), (8, 1, 3)]
    with assumed(EXAMPLES["avx2"]):
        assert (lanes(), registers()) == (8, 16)
        assert [widest(rows) for rows in (1, 2, 3, 4)] == [5, 5, 3, 3]
        assert divided(4, 4) == [(0, 2, 2)]
        assert divided(7, 4) == [(0, 2, 3), (6, 1, 1)]


@pytest.mark.parametrize("which", EXAMPLES)
def test_a_division_covers_each_vector_once(which: str) -> None:
    with assumed(EXAMPLES[which]):
        for rows in range(1, 5):
            for count in range(1, 60):
                places = [
                    begin + turn * across + n
                    for begin, turns, across in divided(count, rows)
                    for turn in range(turns)
                    for n in range(across)
                ]
                assert places == list(range(count))

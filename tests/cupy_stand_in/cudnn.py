"""A stand-in for ``cudnn`` (nvidia-cudnn-frontend): it checks each call and computes convolutions with NumPy.

It takes the arguments that every recorded release takes (``record_cudnn.py``): names of arguments, enums.
Arrays are found by their addresses, so an address, a stride or a shape that is wrong shows in the numbers.
"""

from __future__ import annotations

import ctypes
import enum
import importlib.machinery
import itertools
import json
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.cupy_stand_in import streams

RELEASES: dict[str, Any] = json.loads(Path(__file__).with_name("cudnn_names.json").read_text())
_WIDE = {"FLOAT": np.float32, "HALF": np.float16, "BFLOAT16": np.uint16, "DOUBLE": np.float64}


class cudnnGraphNotSupportedError(RuntimeError):
    """cuDNN has no engine for the graph."""


def _known(kind: str, name: str, args: Any, kwargs: Any) -> None:
    """Raise TypeError for a call that a recorded release does not take."""
    for release, recorded in RELEASES.items():
        forms = recorded[kind][name]
        if not any(set(kwargs) <= set(form[len(args) :]) and len(args) <= len(form) for form in forms):
            raise TypeError(f"cudnn {release}: {name}() takes {forms}, not {len(args)} and {sorted(kwargs)}")


def _enum(name: str) -> Any:
    shared = set.intersection(*[set(recorded["enums"][name]) for recorded in RELEASES.values()])
    return enum.Enum(name, sorted(shared))


class Tensor:
    def __init__(self, dim: Any = None, stride: Any = None, data_type: Any = None) -> None:
        self.dim, self.stride, self.data_type, self.output = dim, stride, data_type, False

    def set_output(self, value: bool) -> Tensor:
        self.output = value
        return self

    def set_data_type(self, data_type: Any) -> Tensor:
        self.data_type = data_type
        return self

    def set_dim(self, dim: list[int]) -> Tensor:
        self.dim = list(dim)
        return self

    def set_stride(self, stride: list[int]) -> Tensor:
        self.stride = list(stride)
        return self

    def at(self, place: int) -> Any:
        """The array at an address."""
        if place % 16:
            raise AssertionError(f"cuDNN takes addresses that are multiples of 16, not {place}")
        kind = np.dtype(_WIDE[self.data_type.name])
        reach = sum((n - 1) * step for n, step in zip(self.dim, self.stride, strict=True)) + 1
        whole = np.frombuffer((ctypes.c_char * (reach * kind.itemsize)).from_address(place), kind)
        steps = [step * kind.itemsize for step in self.stride]
        return np.lib.stride_tricks.as_strided(whole, self.dim, steps)


def _read(tensor: Tensor, place: int) -> Any:
    array = tensor.at(place)
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def _write(tensor: Tensor, place: int, values: Any) -> None:
    array = tensor.at(place)
    if array.dtype == np.uint16:
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        array[...] = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    else:
        array[...] = values


class _Operation:
    """One convolution, in float64, by its definition."""

    def __init__(self, kind: str, given: tuple[Tensor, Tensor], named: dict[str, Any]) -> None:
        self.kind, self.given, self.named, self.made = kind, given, named, Tensor()

    def compute(self, places: dict[Tensor, int]) -> None:
        if any(type(place) is not int for place in places.values()):
            raise TypeError("addresses are ints")
        arrays = [_read(tensor, places[tensor]) for tensor in self.given]
        ends: dict[str, Any] = {}
        order = {"fprop": "xwy", "dgrad": "ywx", "wgrad": "xyw"}[self.kind]
        ends.update(zip(order, [*arrays, np.zeros(self.made.dim)], strict=True))
        x, w, y = ends["x"], ends["w"], ends["y"]
        before, after = self.named["pre_padding"], self.named["post_padding"]
        strides, dilations = self.named["stride"], self.named["dilation"]
        padded = np.pad(x, [(0, 0), (0, 0), *zip(before, after, strict=True)])
        size = [
            (n - (k - 1) * d - 1) // s + 1
            for n, k, s, d in zip(padded.shape[2:], w.shape[2:], strides, dilations, strict=True)
        ]
        if list(y.shape[2:]) != size:
            raise AssertionError(f"cuDNN infers a result of {size}, not {y.shape[2:]}")
        groups = x.shape[1] // w.shape[1]
        split = lambda a, axis: np.split(a, groups, axis)  # noqa: E731
        for tap in itertools.product(*map(range, w.shape[2:])):
            window = tuple(
                slice(t * d, t * d + (n - 1) * s + 1, s)
                for t, d, n, s in zip(tap, dilations, size, strides, strict=True)
            )
            part = padded[(slice(None), slice(None), *window)]
            taps = w[(slice(None), slice(None), *tap)]
            for p, f, g in zip(split(part, 1), split(taps, 0), split(y, 1), strict=True):
                if self.kind == "fprop":
                    g += np.einsum("nc...,fc->nf...", p, f)
                elif self.kind == "dgrad":
                    p += np.einsum("nf...,fc->nc...", g, f)
                else:
                    flat = [a.reshape(*a.shape[:2], -1) for a in (p, g)]
                    f += np.einsum("ncp,nfp->fc", *flat)
        inner = tuple(slice(b, b + n) for b, n in zip(before, x.shape[2:], strict=True))
        found = {"fprop": y, "dgrad": padded[(slice(None), slice(None), *inner)], "wgrad": w}[self.kind]
        _write(self.made, places[self.made], found)


class Handle:
    stream: int = 0


def _module(refuse: str) -> Any:
    made: Any = types.ModuleType("cudnn")
    made.__spec__ = importlib.machinery.ModuleSpec("cudnn", None)
    for name in ("data_type", "heur_mode", "numerical_note"):
        setattr(made, name, _enum(name))
    made.cudnnGraphNotSupportedError = cudnnGraphNotSupportedError
    made.calls = []  # executions: the kind and the notes of engines that were excluded
    made.built = []

    class pygraph:
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            _known("pygraph", "__init__", args, kwargs)
            assert isinstance(kwargs["handle"], Handle)
            self.steps: list[str] = []
            self.notes: list[str] = []

        def tensor(self, *args: Any, **kwargs: Any) -> Tensor:
            _known("pygraph", "tensor", args, kwargs)
            return Tensor(*args, **kwargs)

        def _convolution(self, kind: str, args: Any, kwargs: Any) -> Tensor:
            _known("pygraph", f"conv_{kind}", args, kwargs)
            given = [value for value in kwargs.values() if isinstance(value, Tensor)]
            self.operation = _Operation(kind, (given[0], given[1]), kwargs)
            return self.operation.made

        def conv_fprop(self, *args: Any, **kwargs: Any) -> Tensor:
            return self._convolution("fprop", args, kwargs)

        def conv_dgrad(self, *args: Any, **kwargs: Any) -> Tensor:
            return self._convolution("dgrad", args, kwargs)

        def conv_wgrad(self, *args: Any, **kwargs: Any) -> Tensor:
            return self._convolution("wgrad", args, kwargs)

        def deselect_numeric_notes(self, notes: Any) -> None:
            assert self.steps[-1] == "create_execution_plans"  # before, there is nothing to exclude
            self.notes = [note.name for note in notes]

        def create_execution_plans(self, modes: Any) -> None:
            self._step("create_execution_plans", "build_operation_graph")

        def validate(self) -> None:
            assert self.operation.made.output
            self._step("validate")

        def build_operation_graph(self) -> None:
            self._step("build_operation_graph", "validate")

        def check_support(self) -> None:
            self._step("check_support", "create_execution_plans")
            if self.operation.kind == refuse:
                raise cudnnGraphNotSupportedError("No valid engine configs")

        def build_plans(self, *args: Any, **kwargs: Any) -> None:
            self._step("build_plans", "check_support")
            made.built.append(self.operation.kind)

        def _step(self, name: str, after: str = "") -> None:
            assert (self.steps[-1:] or [""]) == [after], f"{name} after {self.steps}"
            self.steps.append(name)

        def get_workspace_size(self) -> int:
            return 1000

        def execute(self, *args: Any, **kwargs: Any) -> None:
            _known("pygraph", "execute", args, kwargs)
            assert self.steps[-1] == "build_plans"
            places, workspace = args
            assert type(workspace) is int
            assert kwargs["handle"].stream == streams.current().ptr
            made.calls.append((self.operation.kind, tuple(self.notes)))
            streams.work(lambda: self.operation.compute(places))

    def set_stream(*args: Any, **kwargs: Any) -> None:
        _known("functions", "set_stream", args, kwargs)
        kwargs["handle"].stream = kwargs["stream"]

    made.pygraph, made.set_stream, made.create_handle = pygraph, set_stream, Handle
    made.backend_version = lambda: 91000
    return made


@contextmanager
def cudnn_installed(refuse: str = "") -> Iterator[Any]:
    """``import cudnn`` gives the stand-in; ``refuse`` names operations without an engine: fprop, dgrad or
    wgrad."""
    before = sys.modules.get("cudnn")
    sys.modules["cudnn"] = made = _module(refuse)
    try:
        yield made
    finally:
        del sys.modules["cudnn"]
        if before is not None:
            sys.modules["cudnn"] = before

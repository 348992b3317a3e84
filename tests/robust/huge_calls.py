"""Calls of the public functions with one huge integer, eagerly and while a Program is built.

Each call runs in a forked process with little memory and little processor time, ``limited_children``.
A call must return, or raise an error of the engine.

``python -m tests.robust.huge_calls [NAME ...]`` prints what fails, and the counts.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import engine as paddle
from engine import static
from engine.core.errors import EngineError
from tests.robust.limited_children import in_limited_children
from tests.robust.wild_calls import parameters, public_functions, required, usual_value

VALUES = (2**31, 2**40, 2**63, 10**30, -(2**63), -(10**30))
F = "nn.functional."


def _x(*shape: int) -> np.ndarray[Any, Any]:
    return np.ones(shape, "float32")


def _i(*shape: int) -> np.ndarray[Any, Any]:
    return np.zeros(shape, "int64")


_POOLS: dict[str, dict[str, Any]] = {
    f"{F}{kind}_pool{n}d": {"x": _x(1, 2, *[4] * n), "kernel_size": 2, "stride": 2, "padding": 0}
    for kind, n in product(("avg", "max"), (1, 2, 3))
}
_ADAPTIVE: dict[str, dict[str, Any]] = {
    f"{F}adaptive_{kind}_pool{n}d": {"x": _x(1, 2, *[4] * n), "output_size": 2}
    for kind, n in product(("avg", "max"), (1, 2, 3))
}
_UNPOOLS: dict[str, dict[str, Any]] = {
    f"{F}max_unpool{n}d": {"x": _x(1, 1, *[2] * n), "indices": _i(1, 1, *[2] * n).astype("int32"),
                           "kernel_size": 2, "stride": 2, "padding": 0, "output_size": [4] * n}
    for n in (1, 2, 3)
}  # fmt: skip
_CONVS: dict[str, dict[str, Any]] = {
    f"{F}conv{n}d{transpose}": {"x": _x(1, 2, *[4] * n), "weight": _x(2, 2, *[3] * n), "stride": 1,
                                "padding": 1, "dilation": 1, "groups": 1}
    | ({"output_padding": 0} if transpose else {})
    for n, transpose in product((1, 2, 3), ("", "_transpose"))
}  # fmt: skip
BASES: dict[str, dict[str, Any]] = {
    **_POOLS,
    **_ADAPTIVE,
    **_UNPOOLS,
    **_CONVS,
    f"{F}unfold": {"x": _x(1, 2, 4, 4), "kernel_sizes": 2, "strides": 1, "paddings": 0, "dilations": 1},
    f"{F}fold": {"x": _x(1, 4, 9), "output_sizes": [4, 4], "kernel_sizes": 2, "strides": 1, "paddings": 0,
                 "dilations": 1},
    f"{F}pad": {"x": _x(1, 2, 4, 4), "pad": [1, 1, 1, 1]},
    f"{F}zeropad2d": {"x": _x(1, 2, 4, 4), "padding": [1, 1, 1, 1]},
    f"{F}interpolate": {"x": _x(1, 2, 4, 4), "size": [2, 2]},
    f"{F}interpolate scale": {"x": _x(1, 2, 4, 4), "scale_factor": 2},
    f"{F}upsample": {"x": _x(1, 2, 4, 4), "size": [2, 2]},
    f"{F}pixel_shuffle": {"x": _x(1, 4, 4, 4), "upscale_factor": 2},
    f"{F}pixel_unshuffle": {"x": _x(1, 4, 4, 4), "downscale_factor": 2},
    f"{F}channel_shuffle": {"x": _x(1, 4, 4, 4), "groups": 2},
    f"{F}temporal_shift": {"x": _x(4, 4, 4, 4), "seg_num": 2},
    f"{F}affine_grid": {"theta": _x(1, 2, 3), "out_shape": [1, 2, 4, 4]},
    f"{F}local_response_norm": {"x": _x(1, 4, 4, 4), "size": 3},
    f"{F}one_hot": {"x": _i(3), "num_classes": 3},
    f"{F}sequence_mask": {"x": np.array([1, 2]), "maxlen": 3},
    f"{F}glu": {"x": _x(2, 4), "axis": -1},
    f"{F}maxout": {"x": _x(1, 4, 4, 4), "groups": 2, "axis": 1},
    f"{F}embedding": {"x": _i(3), "weight": _x(4, 2), "padding_idx": 0},
    f"{F}diag_embed": {"input": _x(2, 3), "offset": 0, "dim1": -2, "dim2": -1},
    f"{F}layer_norm": {"x": _x(2, 3), "normalized_shape": [3]},
    "arange": {"start": 0, "end": 4, "step": 1},
    "linspace": {"start": 0, "stop": 4, "num": 3},
    "logspace": {"start": 0, "stop": 4, "num": 3},
    "ones": {"shape": [2, 2]},
    "zeros": {"shape": [2, 2]},
    "empty": {"shape": [2, 2]},
    "full": {"shape": [2, 2], "fill_value": 1},
    "eye": {"num_rows": 2, "num_columns": 3},
    "rand": {"shape": [2, 2]},
    "randn": {"shape": [2, 2]},
    "normal": {"shape": [2, 2]},
    "uniform": {"shape": [2, 2]},
    "randint": {"low": 0, "high": 4, "shape": [2]},
    "randperm": {"n": 4},
    "tile": {"x": _x(2, 3), "repeat_times": [2, 2]},
    "expand": {"x": _x(1, 3), "shape": [2, 3]},
    "broadcast_to": {"x": _x(1, 3), "shape": [2, 3]},
    "reshape": {"x": _x(2, 3), "shape": [3, 2]},
    "repeat_interleave": {"x": _x(2, 3), "repeats": 2, "axis": 0},
    "split": {"x": _x(4, 3), "num_or_sections": 2, "axis": 0},
    "split parts": {"x": _x(4, 3), "num_or_sections": [2, 2], "axis": 0},
    "chunk": {"x": _x(4, 3), "chunks": 2, "axis": 0},
    "unstack": {"x": _x(2, 3), "axis": 0, "num": 2},
    "vsplit": {"x": _x(4, 3), "num_or_sections": 2},
    "topk": {"x": _x(4), "k": 2},
    "kthvalue": {"x": _x(4), "k": 2},
    "roll": {"x": _x(4, 3), "shifts": 1, "axis": 0},
    "slice": {"input": _x(4, 3), "axes": [0], "starts": [0], "ends": [2]},
    "strided_slice": {"x": _x(4, 3), "axes": [0], "starts": [0], "ends": [2], "strides": [1]},
    "crop": {"x": _x(4, 3), "shape": [2, 2], "offsets": [0, 0]},
    "histogram": {"input": _x(4), "bins": 3, "min": 0, "max": 2},
    "bincount": {"x": _i(4), "minlength": 3},
    "diag": {"x": _x(3), "offset": 0},
    "diagflat": {"x": _x(3), "offset": 0},
    "diagonal": {"x": _x(3, 3), "offset": 0},
    "tril": {"x": _x(3, 3), "diagonal": 0},
    "tril_indices": {"row": 3, "col": 3, "offset": 0},
    "triu_indices": {"row": 3, "col": 3, "offset": 0},
    "vander": {"x": _x(3), "n": 3},
    "combinations": {"x": _x(4), "r": 2},
    "multinomial": {"x": _x(4), "num_samples": 2, "replacement": True},
    "as_strided": {"x": _x(4, 3), "shape": [2, 2], "stride": [1, 1], "offset": 0},
    "unfold": {"x": _x(6), "axis": 0, "size": 2, "step": 1},
    "diff": {"x": _x(4), "n": 1, "axis": -1},
    "rot90": {"x": _x(3, 3), "k": 1, "axes": [0, 1]},
    "shard_index": {"input": _i(3, 1), "index_num": 4, "nshards": 2, "shard_id": 0},
    "linalg.matrix_power": {"x": _x(2, 2), "n": 2},
    "fft.fft": {"x": _x(4), "n": 4},
    "fft.fftn": {"x": _x(4, 4), "s": [4, 4]},
    "fft.hfft": {"x": _x(4), "n": 4},
    "fft.fftfreq": {"n": 4},
    "fft.rfftfreq": {"n": 4},
    "signal.stft": {"x": _x(1, 16), "n_fft": 4, "hop_length": 2, "win_length": 4},
    "signal.frame": {"x": _x(16), "frame_length": 4, "hop_length": 2},
    "signal.overlap_add": {"x": _x(4, 3), "hop_length": 2},
    "polygamma": {"x": _x(3), "n": 1},
    "rank": {"input": _x(3)},
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """A call of a public function; ``value`` replaces one integer of ``argument``, all of them at -1."""

    function: str
    argument: str
    at: int | None
    value: int
    building: bool


def named(name: str) -> Callable[..., Any]:
    owner: Any = paddle
    for part in name.partition(" ")[0].split("."):
        owner = getattr(owner, part)
    found: Callable[..., Any] = owner
    return found


def calls(only: Sequence[str] = (), values: Sequence[int] = VALUES) -> Iterator[Call]:
    """One call for each integer of each base, each value and each mode."""
    for name, given in BASES.items():
        if only and name not in only:
            continue
        given = {**{p: 1 for p in _more(name) if p not in given}, **given}
        for argument, value in given.items():
            places = [*range(len(value)), -1] if isinstance(value, list) else [None]
            if isinstance(value, (np.ndarray, bool)):
                continue
            for at, each, building in product(places, values, (False, True)):
                yield Call(name, argument, at, each, building)


def _more(name: str) -> list[str]:
    """Parameters that a base omits and that take an integer by default."""
    return [
        p.name for p in inspect.signature(named(name)).parameters.values()
        if type(p.default) is int and p.name not in ("name",)
    ]  # fmt: skip


def arguments_of(call: Call) -> dict[str, Any]:
    """The arguments of a call; arrays are not tensors yet."""
    given = dict(BASES[call.function])
    former = given.get(call.argument)
    if call.at is None or not isinstance(former, list):
        given[call.argument] = call.value
    else:
        given[call.argument] = [call.value if call.at in (-1, k) else each for k, each in enumerate(former)]
    return given


def make(call: Call) -> None:
    """Make a call."""
    function, given = named(call.function), arguments_of(call)
    if not call.building:
        function(**{k: paddle.to_tensor(v) if isinstance(v, np.ndarray) else v for k, v in given.items()})
        return
    paddle.enable_static()
    try:
        with static.program_guard(static.Program(), static.Program()):
            function(**{
                k: static.data(k, list(v.shape), v.dtype.name) if isinstance(v, np.ndarray) else v
                for k, v in given.items()
            })  # fmt: skip
    finally:
        paddle.disable_static()


def attempt(call: Call) -> dict[str, str]:
    """What a call gives: a result, or an error."""
    return outcome(lambda: make(call))


def outcome(act: Callable[[], object]) -> dict[str, str]:
    """What an action gives: a result, or an error."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            act()
    except EngineError as error:
        return {"kind": type(error).__name__, "said": str(error)[:2000]}
    except BaseException as error:
        return {"kind": f"not ours: {type(error).__name__}", "said": str(error)[:300]}
    return {"kind": "result", "said": ""}


@dataclass(frozen=True)
class UsualCall:
    """A call of any public function with usual values; ``argument`` is huge, or ``several`` huge integers."""

    function: str
    argument: str
    value: int
    rank: int
    several: bool


def usual_calls(values: Sequence[int] = VALUES) -> Iterator[UsualCall]:
    """Calls of all public functions, each of their arguments in turn; many fail for other reasons."""
    for name, function in _functions().items():
        for argument in parameters(function):
            if argument not in ("x", "name", "dtype", "input", "self", "weight", "label"):
                for value, rank, several in product(values, (2, 4), (False, True)):
                    yield UsualCall(name, argument, value, rank, several)


@functools.cache
def _functions() -> dict[str, Callable[..., Any]]:
    return dict(public_functions())


def attempt_usual(call: UsualCall) -> dict[str, str]:
    """What a call of usual values gives."""
    function = _functions()[call.function]
    given = {name: usual_value(name, call.rank) for name in required(function)}
    given[call.argument] = [call.value] * 2 if call.several else call.value
    return outcome(lambda: function(**given))


def main(names: Sequence[str]) -> None:
    todo: list[Any] = list(calls(names)) + ([] if names else list(usual_calls()))
    kinds: Counter[str] = Counter()
    answers = in_limited_children(todo, lambda each: (attempt if type(each) is Call else attempt_usual)(each))
    for call, answer in answers:
        kinds[answer["kind"]] += 1
        spent = float(answer.get("seconds", 5))
        if answer["kind"].startswith(("not ours", "hang", "killed")) or spent > 1:
            print(f"{call}: {answer['kind']} {answer['said'][:160]} {spent:.1f} s", flush=True)
        if "--errors" in sys.argv:
            print(f"{call}: {answer['said'][:200]}")
    print(f"{len(todo)} calls: {dict(kinds.most_common())}")


if __name__ == "__main__":
    paddle.set_device("cpu")
    main([word for word in sys.argv[1:] if not word.startswith("--")])

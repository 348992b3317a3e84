"""Ways of running one random network, and a watch on each compiled kernel that is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.eager.tensor import Tensor
from engine.kernels.choice import Gate, gate, kernels
from engine.kernels.cpu import cut, fused_elementwise, pool, ranges
from engine.kernels.cpu import threads as counted
from engine.program.passes.pipeline import level
from engine.program.run import fuse_elementwise as of_plans
from engine.program.run.kernels import Call
from engine.utils import unique_name
from tests.engine.program.run.random_networks import RULES, Network, Step, loss_of

Arrays = list[Any]


@contextmanager
def everything_pays() -> Iterator[None]:
    """Groups, compiled kernels and threads serve arrays of any size."""
    from engine.kernels.fast import batch_norm, elementwise, layout, norms, rows, softmax, updates

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_plans, "LEAST", 1)
        patch.setattr(fused_elementwise, "LARGE", 1)
        patch.setattr(ranges, "LARGE", 1)
        patch.setattr(cut, "BLOCK", 12)
        patch.setattr(layout, "_SHARD", 16)
        for module in (batch_norm, elementwise, norms, softmax):
            patch.setattr(module, "_LEAST", 1)
        for module in (elementwise, rows, updates):
            patch.setattr(module, "_SHARED", 1)
        yield


@contextmanager
def computing(choice: str, count: int) -> Iterator[None]:
    """Plans that are made within the block take kernels of this choice from their first call on.

    So many threads compute.
    """
    now = Gate()
    now.open()
    with kernels.guard(choice), gate.guard(now), pytest.MonkeyPatch.context() as patch:
        patch.setattr(counted, "_count", count)
        try:
            yield
        finally:
            pool.dismiss()


class Watch:
    """Compares what each compiled kernel gives with NumPy's kernel for the same arrays.

    The plan goes on with NumPy's bits, so its results have to be those of a plan without compiled kernels, to
    the bit, unless a sum runs over what ``lies_otherwise``: a kernel that writes where it must not is seen.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.problems: list[str] = []
        self.lies_otherwise = (
            False  # whether what was written in place lies in another way than NumPy's result
        )

    @contextmanager
    def watching(self) -> Iterator[None]:
        original = Call.kernel

        def kernel(call: Call, xp: Any, backend: str, fast: bool) -> Any:
            made = original(call, xp, backend, fast)
            if not fast or call.fast is None:
                return made
            return lambda *given, out=None: self._compared(call, made, given, out)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Call, "kernel", kernel)
            yield

    def _compared(self, call: Call, made: Any, given: Sequence[Any], out: Any) -> Any:
        self.names.add(call.opdef.name)
        copies, wide = _copied(given), _copied(given, np.float64)
        wanted = _by_numpy(call, copies)
        result = made(*given) if out is None else made(*given, out=out)
        targets = [t for t in _flat([out]) if t is not None]
        pairs = [*zip(_listed(result), _listed(wanted), strict=True)]
        # What is not a target stays as NumPy's kernel leaves it: updates change some arguments.
        pairs += [
            (copy, copy) if _shared(x, targets) else (x, copy)
            for x, copy in zip(_flat(given), _flat(copies), strict=True)
        ]
        if not all(near(*pair) for pair in pairs):
            # Where numbers cancel little is left of them: as near to the truth as NumPy comes.
            truth = [*_listed(_by_numpy(call, wide)), *_flat(wide)]
            for pair, true in zip(pairs, truth, strict=True):
                if problem := near(*pair, spread=8 * distance(true, pair[1])):
                    self.problems.append(f"{call.says}: {problem}\n{pair[0]!r}\n{pair[1]!r}")
        for got, want in pairs:
            if got is not want and got.tobytes() != want.tobytes():
                got[...] = want
        own = [*_flat(given), *targets]
        for got, want in pairs[: len(_listed(result))]:
            self.lies_otherwise |= got is not None and _steps(got) != _steps(want) and _shared(got, targets)
        results = [
            # A new array lies as NumPy's does, so that what comes after it adds up in the same order.
            got if _shared(got, own) else want
            for got, want in zip(_listed(result), _listed(wanted), strict=True)
        ]
        return type(result)(results) if isinstance(result, (list, tuple)) else results[0]


def _shared(x: Any, others: Sequence[Any]) -> bool:
    return x is not None and any(y is not None and np.may_share_memory(x, y) for y in others)


def _steps(x: Any) -> list[int]:
    """How the axes of more than one element lie in memory."""
    return [step for step, n in zip(x.strides, x.shape, strict=True) if n > 1]


def _by_numpy(call: Call, given: Sequence[Any]) -> Any:
    kernel, direct = call.opdef.kernel_for("cpu")
    return kernel(*given) if direct else kernel(np, *given, **call.attrs)


def _listed(result: Any) -> Sequence[Any]:
    return result if isinstance(result, (list, tuple)) else [result]


def near(got: Any, want: Any, spread: Any = 0.0) -> str:
    """What is wrong where two arrays do not agree to rounding, NaN and infinity included; else "".

    ``spread`` is allowed on top.
    """
    if got is None or want is None:
        return "" if got is want else f"{got!r} instead of {want!r}"
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape} instead of {want.dtype}{want.shape}"
    if want.dtype.kind != "f":
        return "" if np.array_equal(got, want) else "other values"
    finite = np.isfinite(want)
    if not np.array_equal(np.isfinite(got), finite) or not np.array_equal(got[~finite], want[~finite], True):
        return "NaN or infinity elsewhere"
    size = np.abs(want[finite]).max(initial=0.0)
    tolerance = {2: 2e-3, 4: 2e-5, 8: 1e-12}[want.dtype.itemsize]
    allowed = tolerance * (np.abs(want) + size) + spread + np.finfo(want.dtype).tiny
    with np.errstate(all="ignore"):
        beyond = finite & (np.abs(got - want) > allowed)
    return f"differs by {np.abs(got - want)[beyond].max()} of {size}" if beyond.any() else ""


def distance(one: Any, other: Any) -> float:
    """The largest difference of two arrays, where both are finite numbers."""
    if other is None or other.dtype.kind != "f":
        return 0.0
    with np.errstate(all="ignore"):
        apart = np.abs(one - other)
    return float(apart[np.isfinite(apart)].max(initial=0.0))


def _copied(x: Any, dtype: Any = None) -> Any:
    """The same values in other memory; single precision as ``dtype``, where one is given."""
    if isinstance(x, (list, tuple)):
        return [_copied(each, dtype) for each in x]
    if not isinstance(x, np.ndarray) or not x.size:
        return x
    if dtype is not None:
        return x.astype(dtype if x.dtype == np.float32 else x.dtype)
    # With the strides of x, those that step back or stay too: sums in NumPy depend on them.
    low, high = np.lib.array_utils.byte_bounds(x)
    room = np.empty(high - low, np.uint8)
    made: Any = np.ndarray(x.shape, x.dtype, room, x.ctypes.data - low, x.strides)
    made[...] = x
    return made


def _flat(values: Any) -> Iterator[Any]:
    for each in values:
        if isinstance(each, (list, tuple)):
            yield from _flat(each)
        else:
            yield each


def trained(
    plan: Sequence[Step],
    rule: int,
    batches: Sequence[tuple[Any, Any]],
    passes: int,
    choice: str,
    count: int = 1,
) -> Arrays:
    """What an Executor fetches batch after batch while the network trains, and what it leaves."""
    paddle.enable_static()
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    x0 = batches[0][0]
    try:
        with (
            static.program_guard(main, startup), static.scope_guard(scope), unique_name.guard(),
            level.guard(passes), computing(choice, count), np.errstate(all="ignore"),
        ):  # fmt: skip
            paddle.seed(5)
            paddle.set_default_dtype(str(x0.dtype))
            x = static.data("x", [-1, *x0.shape[1:]], str(x0.dtype))
            x.stop_gradient = False
            label = static.data("label", [-1, 1], "int64")
            values = Network(plan, str(x0.dtype))(x)
            loss = loss_of(values[-1], label, rule)
            parameters = main.global_block().all_parameters()
            wanted = [loss, *values[1:]]
            RULES[rule % len(RULES)](None).minimize(loss)
            found = [
                main.global_block().vars.get(f"{name}@GRAD") for name in ("x", *[p.name for p in parameters])
            ]
            wanted += [v for v in found if v is not None]
            executor = static.Executor()
            executor.run(startup)
            made: Arrays = []
            kept: Arrays = []
            for n, (value, labels) in enumerate(batches):
                paddle.seed(n)
                before = value.copy()
                fetched = executor.run(main, {"x": value, "label": labels}, wanted)
                np.testing.assert_array_equal(value, before, "the user's array changed")
                made += fetched
                kept += [each.copy() for each in fetched]
            for now, then in zip(made, kept, strict=True):
                np.testing.assert_array_equal(now, then, "a later run changed what was fetched")
            state = sorted(v.name for v in main.global_block().vars.values() if v.persistable)
            for name in state:
                holder = scope.find_var(name)
                if holder is not None:
                    made.append(np.array(holder.get_tensor()))
    finally:
        paddle.set_default_dtype("float32")
        paddle.disable_static()
    return made


def converted(
    plan: Sequence[Step],
    rule: int,
    batches: Sequence[tuple[Any, Any]],
    passes: int,
    choice: str,
    count: int = 1,
) -> Arrays:
    """What a converted network gives batch after batch in an ordinary loop, and what it leaves."""
    x0 = batches[0][0]
    paddle.set_default_dtype(str(x0.dtype))
    try:
        with (
            unique_name.guard(), level.guard(passes), computing(choice, count),
            np.errstate(all="ignore"),
        ):  # fmt: skip
            paddle.seed(5)
            network = Network(plan, str(x0.dtype))
            network(paddle.to_tensor(x0))  # makes the layers
            parameters = network.parameters()
            update = RULES[rule % len(RULES)](parameters)
            run = paddle.jit.to_static(lambda x, label: _last_and_loss(network, x, label, rule))
            made: Arrays = []
            for n, (value, labels) in enumerate(batches):
                paddle.seed(n)
                x = Tensor(value, stop_gradient=False)
                last, loss = run(x, paddle.to_tensor(labels))
                loss.backward()
                made += [t.numpy() for t in (last, loss)]
                made += [t.grad.numpy() for t in (x, *parameters) if t.grad is not None]
                update.step()
                update.clear_grad()
            made += [t.numpy() for t in network.state_dict().values()]
    finally:
        paddle.set_default_dtype("float32")
    return made


def _last_and_loss(network: Network, x: Any, label: Any, rule: int) -> Any:
    last = network(x)[-1]
    return last, loss_of(last, label, rule)

"""Calls of the public functions with values of wrong types, ranks and sizes, and the raw errors they raise.

An error is raw where it is not the engine's: the message of NumPy or Python has neither the function nor the
argument. A call that binds no argument to a parameter (``missing 1 required positional argument``) is not.
The calls of a function depend on its name and the seed only, so they are the same in every run.

``python -m tests.robust.wild_calls [CALLS [SEED]]`` prints the kinds of raw errors, the most frequent first.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import random
import re
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import engine
from engine.core.errors import EngineError
from engine.core.mode import is_symbolic

# Names that print, block, change the process, run what they are given, repeat as often as asked, or take a
# Program.
OMITTED = re.compile(
    r"^(_|set_|seed|enable|disable|save|load|run|exit|summary|flops|in_dynamic|is_compiled|get_|push_|pop_|"
    r"Tensor$|Parameter$|cuda$|pin_memory$|register_|backward$|to_dlpack|from_dlpack|monkey_patch|"
    r"create_parameter|named$|as_complex_values$|pca_lowrank$|is_grad_enabled$|batch$|grad$|no_grad|check_shape|clear_|reconstruct_from|gradient$|item$|numpy$|tolist$)"
)
NAMESPACES = ("", "nn.functional", "linalg", "fft", "signal", "Tensor")
ROOMS = ("engine.tensor.", "engine.nn.functional.", "engine.fft", "engine.signal", "engine.eager.")
HUGE = 10**30  # too much for int64


def wild_values() -> list[Any]:
    """New values of every kind that a script gives by mistake."""
    return [
        None, True, -1, 7, 2**62, HUGE, 1.5, float("nan"), 1j, "text", "", b"bytes", "float32",
        {}, {"a": 1}, set(), [], [[]], ["a", "b"], [None], [1, "a"], [[1, 2], [3]], (0, 99),
        (1, 2, 3, 4, 5, 6, 7), [1.5, 2.5], object(), len, np.array(["a", "b"]),
        np.array([None, 1], dtype=object), np.arange(3), np.float32(2), np.array([1j]),
        np.datetime64("2020-01-01"), slice(0, 2),
        engine.ones([2, 3], "float32"), engine.ones([], "float32"), engine.ones([2, 3, 4, 5], "float32"),
        engine.ones([0, 3], "float32"), engine.ones([2, 3], "int64"), engine.ones([2, 3], "bool"),
        engine.ones([2, 3], "complex64"), engine.ones([2, 3], "bfloat16"), engine.ones([3], "float64"),
        [engine.ones([2], "float32")], [[engine.ones([2], "float32")]],
    ]  # fmt: skip


def usual_value(name: str, rank: int) -> Any:
    """A value that a parameter of this name often has."""
    if name in ("x", "y", "input", "other", "label", "logits", "weight", "self", "tensor", "a", "b", "data"):
        return engine.ones([2, 3, 4, 5][:rank] if name != "label" else [2, 3][:rank], "float32")
    if name in ("axis", "dim", "n", "k", "offset", "groups", "stride"):
        return 1
    if name in ("shape", "perm", "size", "repeat_times", "axes", "kernel_size"):
        return [1, 2]
    return engine.ones([2, 3], "int64") if name in ("index", "indices") else 2


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Name and function of what a script calls on tensors and values, each function once."""
    seen: set[int] = set()
    for space in NAMESPACES:
        owner: Any = engine
        for part in filter(None, space.split(".")):
            owner = getattr(owner, part)
        for name in sorted(set(dir(owner))):
            function = None if OMITTED.match(name) else getattr(owner, name, None)
            module = getattr(function, "__module__", None) or ""
            if not inspect.isroutine(function) or not module.startswith(ROOMS) or id(function) in seen:
                continue
            seen.add(id(function))
            yield f"{space}.{name}".lstrip("."), function


@dataclass
class Findings:
    """Counts of the calls, and of the raw errors by kind; an example of each."""

    calls: int = 0
    slow: int = 0  # calls that asked for more work than time allowed
    functions: set[tuple[str, str, str]] = field(default_factory=set)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, error: BaseException, call: str) -> None:
        kind = (type(error).__name__, template(str(error)))
        self.kinds[kind] += 1
        self.functions.add((call.partition("(")[0], *kind))
        last = traceback.extract_tb(error.__traceback__)
        ours = [f for f in last if "/engine/" in f.filename or f.filename.startswith("<apply")]
        at = f"{ours[-1].filename.rpartition('/engine/')[2]}:{ours[-1].lineno}" if ours else ""
        self.examples.setdefault(kind, f"{call} [{at}]")


def template(message: str) -> str:
    """The message without its numbers and quoted names."""
    message = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'…'", message.splitlines()[0] if message else "")
    message = re.sub(r"[(\[][-\d, ]*[)\]]", "[…]", message)
    return re.sub(r"-?\d[\d.e+]*j?", "#", message)[:120]


def is_raw(error: BaseException) -> bool:
    """Whether the message is not one of the engine."""
    if isinstance(error, EngineError):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    unbound = isinstance(error, TypeError) and len(frames) == 2  # the call and this file's
    return not unbound or "argument" not in str(error)


def parameters(function: Callable[..., Any]) -> list[str]:
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ["x"]
    return [p.name for p in found if p.kind is not p.VAR_KEYWORD and p.kind is not p.VAR_POSITIONAL] or ["x"]


def required(function: Callable[..., Any]) -> list[str]:
    """The positional parameters without a default."""
    return [
        p.name for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    ]  # fmt: skip


def calls_of(name: str, function: Callable[..., Any], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Arguments by name: one, some or all of them wild."""
    dice = random.Random(f"{seed} {name}")
    names = parameters(function)
    changed = names[1:] if name.startswith("Tensor.") else names
    needed = required(function)
    for _ in range(count):
        values, rank = wild_values(), dice.randint(1, 4)
        given = {n: usual_value(n, rank) for n in needed}
        if name.startswith("Tensor."):  # a method is called on a tensor
            given[names[0]] = usual_value("x", rank)
        for target in dice.sample(changed, min(len(changed), dice.choice((1, 1, 1, 2, 9)))):
            given[target] = dice.choice(values)
        yield {n: given[n] for n in names if n in given}


class Slow(BaseException):
    """A call that did not return in time."""


def _stop(*_: Any) -> None:
    raise Slow


def run(function: Callable[..., Any], given: dict[str, Any], seconds: float = 2.0) -> BaseException | None:
    """What the call raises; None where it returns. A call that takes longer raises Slow."""
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            function(**given)
    except (Exception, Slow) as error:
        return error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def shown(value: Any) -> str:
    if isinstance(value, engine.Tensor) or is_symbolic(value):
        return f"<{value.dtype} {list(value.shape)}>"
    return repr(value)[:40]


def survey(count: int, seed: int = 0, only: Callable[[str], bool] = lambda _: True) -> Findings:
    """The findings of ``count`` calls of each public function that ``only`` accepts by name."""
    found = Findings()
    for name, function in public_functions():
        if not only(name):
            continue
        for given in calls_of(name, function, count, seed):
            found.calls += 1
            error = run(function, given)
            if isinstance(error, Slow):
                found.slow += 1
            elif error is not None and is_raw(error):
                found.add(error, f"{name}({', '.join(f'{k}={shown(v)}' for k, v in given.items())})")
    return found


def main(words: list[str]) -> None:
    found = survey(*[int(word) for word in words] or [10])
    kinds = f"{len(found.kinds)} messages, {len(found.functions)} pairs of function and message"
    print(f"{found.calls} calls, {found.slow} slow, {found.kinds.total()} raw errors, {kinds}")
    for (name, message), count in found.kinds.most_common(300):
        print(f"{count:6} {name}: {message}\n       {found.examples[name, message]}")


if __name__ == "__main__":
    main(sys.argv[1:])

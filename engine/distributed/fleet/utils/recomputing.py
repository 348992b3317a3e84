"""``recompute``: the inner values of a block are computed again in backward instead of being stored."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, MethodType
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, GradientError
from engine.core.random.generator import default_generator
from engine.eager.saved_hooks import PackingMode, saved_tensors_hooks
from engine.eager.tensor import Tensor, wrap
from engine.program.build.annotate import recomputed


def recompute(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)``, whose inner values are not stored for backward but computed again there.

    It takes less memory and one more forward. Gradients are bitwise identical: the second run draws the
    random numbers of the first one and has its mixed precision, and the buffers of Layers that it finds (in
    ``function``, its closure and the arguments) are left as the first run left them.

    Keywords of its own are ``preserve_rng_state`` (True: the second run draws the same numbers) and
    ``use_reentrant``, which makes no difference here. In a Program, as in a converted function, its backward
    computes the block again, always with the numbers of the first run; results of control flow are stored.

    Differs from Paddle: gradients reach parameters also where no argument takes gradients, running statistics
    move once for each step, and a function may take further keywords with ``use_reentrant``.

    Raises ArgumentError for what is not callable; backward raises GradientError where the second run computes
    otherwise than the first.
    """
    if not callable(function):
        raise ArgumentError(
            f"recompute: function must be callable: got {type(function).__name__}; pass a Layer or a function"
        )
    preserve = bool(kwargs.pop("preserve_rng_state", True))
    kwargs.pop("use_reentrant", True)
    mode = modes.current()
    if mode.static or modes.is_static():
        with recomputed():
            return function(*args, **kwargs)
    if not mode.grad:
        return function(*args, **kwargs)
    run = _Block(functools.partial(function, *args, **kwargs), (function, *args, *kwargs.values()), preserve)
    with saved_tensors_hooks(run.pack, run.unpack):
        return function(*args, **kwargs)


recompute._calls_argument = True  # type: ignore[attr-defined]  # in converted code: it calls a user's function


class _Block:
    """One call of ``recompute``: the values that its operators would keep, by number."""

    def __init__(self, again: Callable[[], Any], roots: Sequence[Any], preserve: bool) -> None:
        self._again, self._roots = again, roots
        self._precision = modes.current().precision
        self._random = default_generator().state() if preserve else None
        self._count = 0
        self._values: list[Any] = []  # of the second run; None where it was handed out

    def pack(self, value: Tensor) -> int:
        """The number of a value, which stands for it."""
        self._count += 1
        return self._count - 1

    def unpack(self, number: int) -> Tensor:
        """The value of a number, from a second run."""
        if not self._values or self._values[number] is None:
            self._values = self._second_run()
        array, self._values[number] = self._values[number], None
        return wrap(array)

    def _second_run(self) -> list[Any]:
        found: list[Any] = []

        def keep(value: Tensor) -> None:
            found.append(value._array)

        hooks = saved_tensors_hooks(keep, self.unpack)
        generator = default_generator()
        now = generator.state() if self._random is not None else None
        buffers = [(b, b._array.copy()) for b in _buffers(self._roots)]
        try:
            if self._random is not None:
                generator.set_state(self._random)
            with modes.use(PackingMode(True, hooks, self._precision)):
                self._again()
        finally:
            if now is not None:
                generator.set_state(now)
            for buffer, array in buffers:
                buffer._array[...] = array
        if len(found) != self._count:
            raise GradientError(
                f"recompute: the function keeps {len(found)} values for backward in the second run, "
                f"{self._count} in the first: it must compute the same again; let it depend on its arguments "
                "and on Layers alone"
            )
        return found


def _buffers(roots: Sequence[Any]) -> Iterator[Tensor]:
    """What forward runs may change in the Layers among ``roots`` and in the closures of functions among them:
    buffers, and parameters that take no gradients (running statistics are such), each once."""
    seen: set[int] = set()
    for layer in _layers(roots, set()):
        # A vector for each channel; frozen filters and matrices, which no forward changes, are not copied.
        fixed = [p for p in layer.parameters() if p.stop_gradient and len(p.shape) == 1]
        for buffer in (*layer.buffers(), *fixed):
            if id(buffer) not in seen:
                seen.add(id(buffer))
                yield buffer


def _layers(values: Sequence[Any], seen: set[int]) -> Iterator[Any]:
    for value in values:
        if id(value) in seen:
            continue
        seen.add(id(value))
        if hasattr(value, "_sub_layers"):  # a Layer, a class that this room may not import
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _layers(value, seen)
        elif isinstance(value, MethodType):
            yield from _layers((value.__self__, value.__func__), seen)
        elif isinstance(value, functools.partial):
            yield from _layers((value.func, *value.args, *value.keywords.values()), seen)
        elif isinstance(value, FunctionType):
            around = inspect.getclosurevars(value)
            yield from _layers((*around.nonlocals.values(), *around.globals.values()), seen)

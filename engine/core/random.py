"""The generator of random numbers, and its keys.

A random operator gets a *key*. Its first use draws from the generator; every later use (the second run of a
loop's body, recomputation) draws the same numbers again, and leaves the generator alone. Eager and static
execution ask for keys in the same order, so both draw the same numbers.

The default generator is Paddle's on the CPU, the Mersenne Twister: a draw moves it on by as many words as it
takes. ``philox`` is counter-based: every draw is a function of its key (seed, offset). On a GPU all draws are
counter-based, whatever the kind: keys have the generator's seed and a counter of their own.
"""

from __future__ import annotations

import importlib
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from engine.core.draws import CounterDraws, Draws, PhiloxDraws, TwisterDraws
from engine.core.errors import ArgumentError
from engine.core.mersenne import WORDS, Twister, Words, seeded, seeded_by_sequence
from engine.core.random_state import integer, key_words
from engine.core.random_state import numpy_state as checked_numpy_state

_MASK = (1 << 64) - 1
KINDS = ("mt19937_64", "philox")


class PhiloxKey(NamedTuple):
    """A draw of the counter-based generator."""

    seed: int
    offset: int

    def draws(self) -> AbstractContextManager[Draws]:
        return nullcontext(PhiloxDraws(numpy_generator(self)))

    def private(self, seed: int) -> Draws:
        return PhiloxDraws(numpy_generator(PhiloxKey(seed, 0)))


class TwisterKey:
    """A draw of the Mersenne Twister: its state at the first use."""

    __slots__ = ("_lock", "_start", "_twister")

    def __init__(self, twister: Twister, lock: threading.RLock) -> None:
        self._twister = twister
        self._lock = lock
        self._start: tuple[Words, int] | None = None

    @contextmanager
    def draws(self) -> Iterator[Draws]:
        if self._start is not None:
            yield TwisterDraws(Twister(*self._start))
            return
        with self._lock:
            self._start = self._twister.snapshot()
            yield TwisterDraws(self._twister)

    def private(self, seed: int) -> Draws:
        return TwisterDraws(Twister(_seeded(seed & _MASK)))


class GPUKey(PhiloxKey):
    """A draw on a GPU, which makes the numbers where they are used."""

    __slots__ = ()

    def draws(self) -> AbstractContextManager[Draws]:
        return nullcontext(_on_gpu(self))

    def private(self, seed: int) -> Draws:
        return _on_gpu(GPUKey(seed, 0))

    def host_draws(self, seed: int = 0) -> Draws:
        """The same numbers, made on the CPU."""
        return CounterDraws(seed, 0) if seed else CounterDraws(self.seed, self.offset)


def _on_gpu(key: GPUKey) -> Draws:
    made: Draws = importlib.import_module("engine.kernels.cupy.draws").draws(key)
    return made


class StoredKey(Protocol):
    """Also a key: one that a GPU reads from its memory when it draws, see ``kernels/cupy/keys.py``."""

    def draws(self) -> AbstractContextManager[Draws]: ...

    def private(self, seed: int) -> Draws: ...

    def host_draws(self, seed: int = 0) -> Draws: ...


Key: TypeAlias = PhiloxKey | TwisterKey | GPUKey | StoredKey


def host_draws_of(key: Key, seed: int = 0) -> AbstractContextManager[Draws]:
    """As ``draws_of``, for operators that draw one number after the other: made on the CPU on every place."""
    found = getattr(key, "host_draws", None)
    return draws_of(key, seed) if found is None else nullcontext(found(seed))


def draws_of(key: Key, seed: int = 0) -> AbstractContextManager[Draws]:
    """The random numbers that belong to ``key``; an operator's own seed, where not 0, fixes them and leaves
    the generator alone."""
    return nullcontext(key.private(seed)) if seed else key.draws()


class Generator:
    """Generates random keys. ``state()`` is its whole state, so a checkpoint resumes it exactly."""

    def __init__(self, seed: int = 0, kind: str = KINDS[0]) -> None:
        self._lock = threading.RLock()
        self._kind = kind
        self.manual_seed(seed)

    @property
    def kind(self) -> str:
        """``mt19937_64`` or ``philox``."""
        return self._kind

    def manual_seed(self, value: int, kind: str | None = None) -> Generator:
        """Start over from ``value``, with another kind of generator where one is given."""
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise ArgumentError(f"seed: the seed must be an integer: got {value!r}; pass e.g. 2026")
        kind = self._kind if kind is None else kind
        if kind not in KINDS:
            raise ArgumentError(f"seed: generator {kind!r} is not one of {', '.join(KINDS)}")
        with self._lock:
            self._kind, self._seed, self._offset = kind, int(value), 0
            self._twister = (
                Twister(_seeded_by_sequence(int(value) & 0xFFFFFFFF)) if kind == KINDS[0] else None
            )
        return self

    def seed(self) -> int:
        """Start over from a seed that the system draws, which is returned."""
        value = secrets.randbits(53)
        self.manual_seed(value)
        return value

    def initial_seed(self) -> int:
        return self._seed

    def random(self) -> int:
        """The next 64-bit number."""
        with self.reserve().draws() as draws:
            return draws.word()

    def reserve(self) -> Key:
        """Take the next key."""
        twister = self._twister
        if twister is not None:
            return TwisterKey(twister, self._lock)
        with self._lock:
            return PhiloxKey(self._seed, self._next_offset())

    def reserve_on_gpu(self, count: int = 1) -> GPUKey:
        """Take the next key for a GPU, or several: returns the first, the others have the following offsets.

        Draws of the Mersenne Twister are not moved on by it; a counter-based generator counts keys of both
        places together.
        """
        with self._lock:
            return GPUKey(self._seed, self._next_offset(count))

    def _next_offset(self, count: int = 1) -> int:
        with self._lock:
            self._offset += count
            return self._offset - count

    def state(self) -> dict[str, Any]:
        """The state of the generator as plain values and an array."""
        with self._lock:
            if self._twister is None:
                return {"kind": self._kind, "seed": self._seed, "offset": self._offset}
            words, spent = self._twister.snapshot()
            return {
                "kind": self._kind,
                "seed": self._seed,
                "words": words,
                "spent": spent,
                "offset": self._offset,
            }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Restore what ``state()`` returned; a state without a kind is that of the counter-based generator,
        the only one of earlier releases. Raises ArgumentError for anything else."""
        where = "set_state"
        seed = integer(where, state, "seed")
        kind = state.get("kind", "philox")
        if not isinstance(kind, str) or kind not in KINDS:
            raise ArgumentError(f"set_state: generator {kind!r:.80} is not one of {', '.join(KINDS)}")
        twister, offset = None, 0
        if kind == "philox" or "offset" in state:  # of the Mersenne Twister, earlier releases had none
            offset = integer(where, state, "offset", _MASK)
        if kind != "philox":
            words = key_words(where, state, "words", WORDS, np.uint64)
            twister = Twister(words, integer(where, state, "spent", WORDS))
        with self._lock:
            self._kind, self._seed, self._offset, self._twister = kind, seed, offset, twister


def numpy_generator(key: PhiloxKey) -> np.random.Generator:
    """The random numbers that belong to ``key`` (Philox 4x64, the offset in the counter's upper half)."""
    seed, offset = key
    return np.random.Generator(np.random.Philox(key=seed & _MASK, counter=[0, 0, offset & _MASK, 0]))


def order_generator() -> Any:
    """The generator for orders of data: NumPy's global one, as in Paddle, which ``numpy.random.seed`` sets;
    with the counter-based generator, a draw of that one."""
    key = _default.reserve()
    return numpy_generator(key) if isinstance(key, PhiloxKey) else np.random


def numpy_state() -> dict[str, Any]:
    """The state of NumPy's global generator as plain values and an array."""
    kind, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    return {
        "kind": str(kind),
        "keys": np.array(keys),
        "position": int(position),
        "has_gauss": int(has_gauss),
        "gauss": float(gauss),
    }


def set_numpy_state(state: Mapping[str, Any]) -> None:
    """Restore the state of NumPy's global generator that ``numpy_state`` returned. Raises ArgumentError for
    anything else, which NumPy itself would read beyond its memory."""
    np.random.set_state(checked_numpy_state(state))


# Some operators are given the same seed at every call.
_seeded = lru_cache(maxsize=16)(seeded)
_seeded_by_sequence = lru_cache(maxsize=16)(seeded_by_sequence)

_default = Generator(secrets.randbits(31))


def default_generator() -> Generator:
    """The generator of this process; ``seed()`` sets it."""
    return _default


def reserve_for(xp: Any) -> Callable[[], Key]:
    """The function that takes the next key of this process for operators of the array module ``xp``."""
    return _default.reserve if xp is np else _default.reserve_on_gpu

"""The Programs of one converted function, by kind of call."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

from engine.core.containers.lru import LRU

if TYPE_CHECKING:
    from engine.jit.concrete_program import ConcreteProgram
    from engine.jit.run_program import ProgramRunner


# Programs of one key: enough for a GAN that freezes its parts in turn. Programs whose buffers were replaced
# never fit again; this limit drops them.
STATES = 8


class ProgramCache:
    """Keeps Programs by key: specs of the Tensors, values of the other arguments, modes of the Layers.

    Programs of one key were built for different sets of trainable parameters; the last ``STATES`` of them are
    kept, and the keys used last (see engine.core.containers.lru, kind 'programs'). Iterates over all
    Programs, the oldest first; ``cache[n]`` is one of them.
    """

    def __init__(self) -> None:
        self._programs: LRU[Any, tuple[ConcreteProgram, ...]] = LRU("programs")
        self._adding = threading.RLock()

    def fitting(self, key: Hashable) -> ConcreteProgram | None:
        """The Program of this kind of call in the present state, if there is one."""
        for concrete in self._programs.get(key) or ():
            if concrete.fits:
                return concrete
        return None

    def add(self, key: Hashable, concrete: ConcreteProgram) -> None:
        """Keep a Program."""
        with self._adding:
            self._programs.put(key, (*(self._programs.get(key) or ()), concrete)[-STATES:])

    def in_mode(self, modes: tuple[Any, ...], fitting: bool = True) -> list[ConcreteProgram]:
        """The Programs for Layers in these modes, the one used last at the end; those that fit their present
        state, or all."""
        kept = [c for (_, m), programs in self._programs.by_use() if m == modes for c in programs]
        return [c for c in kept if c.fits] if fitting else kept

    def concrete_programs(self) -> list[ConcreteProgram]:
        """Every Program."""
        return [concrete for kept in self._programs.values() for concrete in kept]

    def newest(self) -> list[ConcreteProgram]:
        """The Programs of the kind of call that was used last; none where there was no call."""
        kept = self._programs.by_use()
        return list(kept[-1][1]) if kept else []

    def last(self) -> tuple[int, tuple[ConcreteProgram, ProgramRunner]]:
        """The hash of the last call's key, and its Program with its runner. Raises IndexError if empty."""
        kept = self._programs.by_use()
        if not kept:
            raise IndexError("ProgramCache.last: no Program was built yet; call the function")
        key, programs = kept[-1]
        return hash(key), (programs[-1], programs[-1].runner)

    def clear(self) -> None:
        """Forget all Programs; they are built again when they are needed."""
        self._programs.clear()

    def __len__(self) -> int:
        return sum(len(kept) for kept in self._programs.values())

    def __iter__(self) -> Iterator[ConcreteProgram]:
        return iter(self.concrete_programs())

    def __getitem__(self, position: int) -> ConcreteProgram:
        return self.concrete_programs()[position]

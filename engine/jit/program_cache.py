"""The Programs of one converted function, by kind of call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.jit.static_function import ConcreteProgram


class ProgramCache:
    """Keeps Programs by key: specs of the Tensors, values of the other arguments, modes of the Layers.

    Programs of one key were built for different sets of trainable parameters. Iterates over all Programs, the
    oldest first; ``cache[n]`` is one of them.
    """

    def __init__(self) -> None:
        self._kept: dict[Any, list[ConcreteProgram]] = {}

    def fitting(self, key: Any) -> ConcreteProgram | None:
        """The Program of a call of this kind in the present state, if there is one."""
        for concrete in self._kept.get(key, ()):
            if concrete.fits:
                return concrete
        return None

    def add(self, key: Any, concrete: ConcreteProgram) -> None:
        """Keep a Program."""
        self._kept.setdefault(key, []).append(concrete)

    def in_mode(self, modes: Any) -> list[ConcreteProgram]:
        """The Programs that fit Layers in these modes and their present state."""
        return [c for (_, m), kept in self._kept.items() if m == modes for c in kept if c.fits]

    def concrete_programs(self) -> list[ConcreteProgram]:
        """Every Program."""
        return [concrete for kept in self._kept.values() for concrete in kept]

    def last(self) -> tuple[Any, ConcreteProgram]:
        """The youngest Program with its key; raises IndexError where there is none."""
        if not self._kept:
            raise IndexError("ProgramCache.last: no Program was built yet; call the function")
        key = next(reversed(self._kept))
        return key, self._kept[key][-1]

    def clear(self) -> None:
        """Forget all Programs; they are built again when they are needed."""
        self._kept.clear()

    def __len__(self) -> int:
        return sum(len(kept) for kept in self._kept.values())

    def __iter__(self) -> Iterator[ConcreteProgram]:
        return iter(self.concrete_programs())

    def __getitem__(self, position: int) -> ConcreteProgram:
        return self.concrete_programs()[position]

"""Mixed precision: which dtype an operator's floating inputs are cast to before it is applied."""

from __future__ import annotations

from collections.abc import Iterable

from engine.core.context import Setting
from engine.core.place import current_place

# Operators whose parameters and statistics keep their dtype: the first input alone decides and is cast.
_BY_FIRST_INPUT = frozenset({"batch_norm", "layer_norm", "sync_batch_norm"})
# Dtypes that mixed precision changes; others, float64 among them, pass through.
CASTABLE = frozenset({"float32", "float16", "bfloat16"})

ON_CPU: Setting[bool] = Setting("mixed_precision_on_cpu", False)


def works_here() -> bool:
    """Whether mixed precision acts on the current place: a GPU, or any place where ``ON_CPU`` is set."""
    return current_place().is_gpu_place() or ON_CPU.get()


class Precision:
    """One setting of mixed precision: a level, the low dtype and the lists of operators by name.

    ``white`` operators compute in the low dtype, ``black`` ones in float32. Operators in neither list compute
    in float32 at the level ``OD``; at ``O1`` and ``O2`` in float32 where any input is float32, else
    in the low dtype. ``use_promote=False``, at ``O2`` only, computes all but the black ones in the low dtype.
    """

    __slots__ = ("black", "dtype", "level", "use_promote", "white")

    def __init__(
        self,
        level: str,
        dtype: str,
        white: Iterable[str],
        black: Iterable[str],
        use_promote: bool = True,
    ) -> None:
        self.level, self.dtype = level, dtype
        self.white, self.black = frozenset(white), frozenset(black)
        self.use_promote = use_promote or level != "O2"

    @property
    def key(self) -> tuple[object, ...]:
        """A hashable key, equal for two settings that cast alike."""
        return self.level, self.dtype, self.white, self.black, self.use_promote

    def target(self, name: str, inputs: list[list[str]]) -> str:
        """The dtype that operator ``name`` computes in; ``inputs`` holds the dtypes of each of its inputs."""
        if not self.use_promote:
            return "float32" if name in self.black else self.dtype
        if name in self.white:
            return self.dtype
        if self.level == "OD" or name in self.black:
            return "float32"
        deciding = inputs[:1] if name in _BY_FIRST_INPUT else inputs
        return "float32" if any("float32" in each for each in deciding) else self.dtype

    @staticmethod
    def casts(name: str, position: int) -> bool:
        """Whether the input at ``position`` of operator ``name`` is cast."""
        return position == 0 or name not in _BY_FIRST_INPUT

"""``auto_cast``: within its block, operators compute in the dtypes that lists of their names say."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, ContextDecorator

from engine.amp.amp_lists import lists_for
from engine.core import mode as modes
from engine.core.errors import ArgumentError, UnreadyError
from engine.core.place import PlaceLike, as_place, current_place
from engine.core.precision import ON_CPU, Precision, works_here
from engine.core.strictness import warn_at_user
from engine.program.build.builder import current_builder

_LEVELS = ("O0", "OD", "O1", "O2")
_DTYPES = ("float16", "bfloat16")


class LastDtype:
    """The dtype of the last ``auto_cast`` of the process, which decides whether a GradScaler scales."""

    name = "float32"


def on_cpu(on: bool = True) -> AbstractContextManager[bool]:
    """Within the block mixed precision acts on the CPU too, where Paddle leaves it off with a warning.

    Nothing is faster there; it shows what a GPU would compute.
    """
    return ON_CPU.guard(on)


class _Guard(ContextDecorator):
    """The block of an ``auto_cast``; its arguments are checked, and act, when it is entered."""

    def __init__(
        self,
        enable: bool,
        custom_white_list: Iterable[str] | None,
        custom_black_list: Iterable[str] | None,
        level: str,
        dtype: str,
        use_promote: bool,
    ) -> None:
        self._enable, self._level, self._dtype, self._use_promote = enable, level, dtype, use_promote
        self._custom = custom_white_list, custom_black_list

    def __enter__(self) -> None:
        modes.enter(self, modes.current().with_precision(self._precision()))

    def __exit__(self, *_: object) -> None:
        modes.leave(self)

    def _precision(self) -> Precision | None:
        require_dynamic("auto_cast")
        enable, level, dtype = self._enable, self._level.upper(), self._dtype.lower()
        if level not in _LEVELS:
            raise ArgumentError(f"auto_cast: level should be O0, OD, O1 or O2.: got {level!r}")
        if enable and dtype not in _DTYPES:
            raise ArgumentError(
                f"auto_cast: If enable amp, dtype should be 'float16' or 'bfloat16'.: got {dtype!r}"
            )
        if enable and not works_here():
            warn_of_cpu("amp_guard can only be enabled on CUDAPlace, XPUPlace, and CustomPlace")
            enable = False
        LastDtype.name = dtype
        if dtype not in _DTYPES:
            return None
        white, black = lists_for(level, dtype, *self._custom)
        if not enable or level == "O0":
            return None
        return Precision(level, dtype, white, black, self._use_promote)


def amp_guard(
    enable: bool = True,
    custom_white_list: Iterable[str] | None = None,
    custom_black_list: Iterable[str] | None = None,
    level: str = "O1",
    dtype: str = "float16",
    use_promote: bool = True,
) -> AbstractContextManager[None]:
    """Apply operators in mixed precision within the block: in eager code and in converted functions.

    The lists hold operators by name (``conv2d``, ``matmul_v2``, ``elementwise_add``). At level ``O1`` white
    ones compute in ``dtype``, black ones in float32, others in float32 where any input is. ``OD`` computes
    all but the white ones in float32. ``O2``, for models made by ``decorate``, has a short black list;
    without ``use_promote`` what is not black computes in ``dtype``. ``O0`` changes nothing.

    As in Paddle it acts on GPUs; on the CPU it gives a warning and has no effect, see ``on_cpu``. Entering
    the block raises ArgumentError for another level or dtype or a name in both lists, UnreadyError in static
    mode.
    """
    return _Guard(enable, custom_white_list, custom_black_list, level, dtype, use_promote)


def auto_cast(
    enable: bool = True,
    custom_white_list: Iterable[str] | None = None,
    custom_black_list: Iterable[str] | None = None,
    level: str = "O1",
    dtype: str = "float16",
    use_promote: bool = True,
) -> AbstractContextManager[None]:
    """``amp_guard`` under its newer name: operators compute in mixed precision within the block."""
    return amp_guard(enable, custom_white_list, custom_black_list, level, dtype, use_promote)


def require_dynamic(where: str) -> None:
    """Raise UnreadyError where the user builds a static Program; a converted function does not count."""
    builder = current_builder()
    if builder is not None and builder.startup is not None:
        raise UnreadyError(
            f"{where}: works in eager code and converted functions: this code builds a static Program; call "
            "paddle.disable_static() before, or use paddle.static.amp"
        )


def warn_of_cpu(sentence: str) -> None:
    """Warn at the user's line that mixed precision has no effect on the current place."""
    warn_at_user(f"{sentence}, current place is {current_place()}, so it makes no effect.", UserWarning)


def is_float16_supported(device: PlaceLike | None = None) -> bool:
    """Whether mixed precision with float16 acts on ``device`` (by default the current one): on GPUs."""
    return _supported(device)


def is_bfloat16_supported(device: PlaceLike | None = None) -> bool:
    """Whether mixed precision with bfloat16 acts on ``device`` (by default the current one): on GPUs."""
    return _supported(device)


def _supported(device: PlaceLike | None) -> bool:
    place = current_place() if device is None else as_place(device)
    return place.is_gpu_place() or ON_CPU.get()

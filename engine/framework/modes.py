"""Eager or static, for the whole process."""

from __future__ import annotations

from engine.core import mode as modes
from engine.core.place import PlaceLike, set_device
from engine.eager.mode import RECORDING
from engine.program.run.executor import guarded_builder, process_builder


def enable_static() -> None:
    """From here on, in every thread, operators are appended to the default main Program.

    First values of parameters go to the default startup Program. Within ``program_guard`` the thread that
    calls this continues with the Programs of the guard.
    """
    modes.set_default(process_builder())
    # Not what set_grad_enabled() left behind: that belongs to the mode before.
    modes.variable.set(guarded_builder())


def disable_static(place: PlaceLike | None = None) -> None:
    """From here on operators compute at once, on ``place`` where one is given."""
    if place is not None:
        set_device(place)
    modes.set_default(RECORDING)
    modes.variable.set(None)


def disable_signal_handler() -> None:
    """Paddle's C++ handlers of signals go; the engine installs none, so nothing is left to do."""


def in_dynamic_mode() -> bool:
    """True unless operators are being appended to a Program."""
    return not modes.is_static()


def use_pir_api() -> bool:
    """False: Programs are those of Paddle's ProgramDesc, not of its newer PIR."""
    return False


def in_pir_mode() -> bool:
    """False: there is no PIR here."""
    return False


def in_dynamic_or_pir_mode() -> bool:
    """True unless operators are being appended to a Program."""
    return in_dynamic_mode()

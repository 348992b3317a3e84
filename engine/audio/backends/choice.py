"""What reads and writes files of sound: the one backend that there is."""

from __future__ import annotations

from engine.core.errors import UnsupportedError

_BACKEND = "wave_backend"


def get_current_backend() -> str:
    """'wave_backend', which reads and writes WAV files of 16 bits."""
    return _BACKEND


def list_available_backends() -> list[str]:
    """The names of all backends: 'wave_backend' alone."""
    return [_BACKEND]


def set_backend(backend_name: str) -> None:
    """Choose a backend. Raises UnsupportedError (a NotImplementedError) for any but 'wave_backend'."""
    if backend_name != _BACKEND:
        raise UnsupportedError(f"set_backend: there is no {backend_name!r} here; use {_BACKEND!r}")

"""Reading and writing of sound."""

from engine.audio.backends.choice import get_current_backend, list_available_backends, set_backend

__all__ = ["get_current_backend", "list_available_backends", "set_backend"]

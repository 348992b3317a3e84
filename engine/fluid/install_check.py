"""``fluid.install_check``: whether a small network trains here."""

from engine import utils
from engine.fluid.dygraph.base import guard

__all__ = ["run_check"]


def run_check() -> None:
    """Train a small layer in both modes and say so; errors are those of ``utils.run_check``.

    The script may be in static mode, as those of 1.x are from their start.
    """
    with guard():
        utils.run_check()

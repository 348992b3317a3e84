"""``fluid.install_check``: whether a small network trains here."""

from engine.utils import run_check

__all__ = ["run_check"]

"""Paddle's ``base.layers``: what its version 1 had here lives in ``nn`` and ``static``."""

from engine.base.layers import math_op_patch

__all__ = ["math_op_patch"]

"""Paddle's ``fluid.unique_name``: names counted from 0, within a guard anew."""

from engine.utils.unique_name import generate, guard, switch

__all__ = ["generate", "guard", "switch"]

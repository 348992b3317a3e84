"""Paddle's ``framework``: state files, seeds, dtypes and modes under their public names."""

from engine.framework.modes import disable_static, enable_static, in_dynamic_mode
from engine.framework.seeds import get_rng_state, seed, set_rng_state
from engine.framework.state_files import load, save

__all__ = [
    "disable_static", "enable_static", "get_rng_state", "in_dynamic_mode", "load", "save", "seed",
    "set_rng_state",
]  # fmt: skip

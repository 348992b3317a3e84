"""What ``Model.prepare(amp_configs=...)`` accepts."""

from __future__ import annotations

import warnings
from typing import Any

from engine.core.errors import ArgumentError, DTypeError

_LEVELS = ("O0", "O1", "O2")
_OPTIONS = (
    "custom_black_list", "custom_white_list", "decr_every_n_nan_or_inf", "decr_ratio", "incr_every_n_steps",
    "incr_ratio", "init_loss_scaling", "level", "use_dynamic_loss_scaling", "use_fp16_guard",
)  # fmt: skip


def check_precision(configs: Any) -> None:
    """Raise ArgumentError or DTypeError for an unknown level or option.

    Mixed precision has no effect on the CPU in Paddle 2.6, and warns; so it does here.
    """
    if configs is None:
        return
    if isinstance(configs, str):
        configs = {"level": configs}
    if not isinstance(configs, dict):
        raise DTypeError(f"prepare: amp_configs is a level or a dict: got {type(configs).__name__}")
    level = configs.get("level", "O1")
    if level not in _LEVELS:
        raise ArgumentError(f"prepare: The level of amp_configs should be 'O0', 'O1' or 'O2': got {level!r}")
    if unknown := set(configs) - set(_OPTIONS):
        raise ArgumentError(
            f"prepare: the keys of 'amp_configs' must be accepted by mixed precision APIs: got "
            f"{sorted(unknown)}; it takes {', '.join(_OPTIONS)}"
        )
    if level != "O0":
        warnings.warn(
            f"prepare: mixed precision ({level}) makes no effect here: the model trains in its own dtypes",
            stacklevel=3,
        )

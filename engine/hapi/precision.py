"""What ``Model.prepare(amp_configs=...)`` says: the level of mixed precision, its lists, the loss scaling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from engine.core.errors import ArgumentError, ConditionError, DTypeError
from engine.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm

_LEVELS = ("O0", "O1", "O2")
_LISTS = ("custom_black_list", "custom_white_list")
_SCALING = (
    "decr_every_n_nan_or_inf",
    "decr_ratio",
    "incr_every_n_steps",
    "incr_ratio",
    "init_loss_scaling",
    "use_dynamic_loss_scaling",
)
_OPTIONS = (*_LISTS, *_SCALING, "level", "use_fp16_guard")


@dataclass(frozen=True)
class MixedPrecision:
    """A level with the options that ``auto_cast``, ``GradScaler`` and ``static.amp.decorate`` take."""

    level: str = "O0"
    lists: dict[str, Any] = field(default_factory=dict)
    scaling: dict[str, Any] = field(default_factory=dict)
    use_fp16_guard: bool | None = None

    @property
    def on(self) -> bool:
        """Whether mixed precision was asked for."""
        return self.level != "O0"


def mixed_precision(configs: str | dict[str, Any] | None, optimizer: object) -> MixedPrecision:
    """The settings that ``configs``, a level or a dict, says.

    Raises ArgumentError or DTypeError for an unknown level or option, ConditionError where level O2 meets a
    clip that it can't work with.
    """
    if not configs:
        return MixedPrecision()
    if isinstance(configs, str):
        configs = {"level": configs}
    if not isinstance(configs, dict):
        raise DTypeError(f"prepare: amp_configs must be a level or a dict: got {type(configs).__name__}")
    level = configs.get("level", "O1")
    if level not in _LEVELS:
        raise ArgumentError(f"prepare: The level of amp_configs should be 'O0', 'O1' or 'O2': got {level!r}")
    if level == "O0":
        return MixedPrecision()
    if "use_pure_fp16" in configs:
        raise ArgumentError(
            "prepare: 'use_pure_fp16' is an invalid parameter, the level of mixed precision training only "
            "depends on 'O1' or 'O2': remove it"
        )
    if unknown := set(configs) - set(_OPTIONS):
        raise ArgumentError(
            f"prepare: the keys of 'amp_configs' must be accepted by mixed precision APIs: got "
            f"{sorted(unknown)}; it takes {', '.join(sorted(_OPTIONS))}"
        )
    clip = getattr(optimizer, "_grad_clip", None)
    if level == "O2" and clip is not None and not isinstance(clip, (ClipGradByGlobalNorm, ClipGradByNorm)):
        raise ConditionError(
            "prepare: Only ClipGradByNorm and ClipGradByGlobalNorm are supported in amp training with "
            f"level=O2 currently.: got {type(clip).__name__}"
        )
    return MixedPrecision(
        level,
        {key: configs[key] for key in _LISTS if key in configs},
        {key: configs[key] for key in _SCALING if key in configs},
        configs.get("use_fp16_guard"),
    )

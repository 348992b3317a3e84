"""Options of the data of a training besides its location: arrays, split, preparation, variation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from resources.settings import as_recorded


@dataclass(frozen=True)
class DataOptions:
    """The settings of the same names (``resources.settings``); the defaults change nothing."""

    kind: str = "auto"
    task: str = "auto"
    extra_data: str = ""
    input_name: str = ""
    label_name: str = ""
    exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    missing: str = "median"
    date_order: str = "auto"
    test_share: float = 0.2
    split_seed: int = 0
    split: str = "random"
    validation_share: float = 0.0
    resize: int = 0
    fit: str = "stretch"
    damaged_share: float = 0.01
    color: str = "auto"
    normalize: str = "none"
    shift: int = 0
    rotate: float = 0.0
    flip: str = "none"

    @classmethod
    def of(cls, config: object) -> DataOptions:
        """Those of a TrainingConfig, or of plain values by name."""
        names = [field.name for field in fields(cls)]
        if isinstance(config, Mapping):
            return cls(**{name: config[name] for name in names if name in config})
        return cls(**{name: getattr(config, name) for name in names})

    @property
    def varies(self) -> bool:
        """Whether training samples are varied at random."""
        return bool(self.shift or self.rotate or self.flip != "none")


def options_of_files(info: Mapping[str, Any]) -> DataOptions:
    """How images are made what the model takes, as its files say; the defaults where they say nothing."""
    plain = info.get("prepare")
    said = plain if isinstance(plain, dict) else {}
    resize, color, fit = said.get("resize", 0), said.get("color", "auto"), said.get("fit", "stretch")
    sound = type(resize) is int and 0 <= resize <= 4096 and color in ("auto", "grey", "rgb")
    sound = sound and fit in ("stretch", "crop", "pad")
    spec = info.get("data_spec")
    kind, task = (spec.get("kind"), spec.get("task")) if isinstance(spec, dict) else (None, None)
    if kind in ("images", "table", "sequences") and task in ("classes", "numbers"):
        fed = DataOptions(kind=kind, task=task)
    else:  # of an earlier version
        fed = DataOptions.of(as_recorded({}))
    return replace(fed, resize=resize, color=color, fit=fit) if sound else fed

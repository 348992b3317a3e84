"""DiagramChoices: what each diagram of runs shows, as it is remembered until the next start."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["parallel", "scatter", "heat map", "importance"]
Better = Literal["more", "less", ""]
MOST_AXES = 12


class DiagramChoices(BaseModel):
    """Columns by name; an empty one is chosen by what the runs have.

    ``forms`` says of an axis whether it is logarithmic and whether it is flipped, ``better`` of a column what
    is better of it, where that was chosen.
    """

    model_config = ConfigDict(frozen=True)

    diagram: Kind = "parallel"
    axes: tuple[str, ...] = Field(default=(), max_length=200)
    forms: dict[str, tuple[bool, bool]] = Field(default_factory=dict)
    color: str = ""
    x: str = ""
    y: str = ""
    scatter_color: str = ""
    log_x: bool | None = None
    log_y: bool | None = None
    front: bool = True
    better: dict[str, Better] = Field(default_factory=dict)
    across: str = ""
    up: str = ""
    cell_metric: str = ""
    statistic: Literal["mean", "best"] = "mean"
    target: str = ""

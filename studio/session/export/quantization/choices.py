"""QuantizeChoices: what a user chooses of a quantization on the page Export."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from resources.settings.quantize import QUANTIZE_SETTINGS, QuantizeSettings


@dataclass(frozen=True)
class QuantizeChoices(QuantizeSettings):
    """The settings of a quantization, and which of them matter to its method."""

    @property
    def wanted(self) -> bool:
        """Whether anything is to be quantized."""
        return self.method != "none"

    def asks(self, setting: str) -> bool:
        """Whether a setting matters to the method."""
        methods = QUANTIZE_SETTINGS[setting].methods
        return not methods or self.method in methods

    @property
    def trains(self) -> bool:
        """Whether the network is trained on with quantization."""
        return self.method == "qat"

    def without(self, layers: Iterable[str]) -> QuantizeChoices:
        """The same with these layers in float too; those that a pattern names already are not named again."""
        new = [name for name in layers if not self.skips(name)]
        return replace(self, skip=(*self.skip, *dict.fromkeys(new)))

    def skips(self, layer: str) -> bool:
        """Whether the layer of this name stays in float."""
        return any(layer == pattern or fnmatch.fnmatchcase(layer, pattern) for pattern in self.skip)

    def as_dict(self) -> dict[str, Any]:
        """The choices as plain values, for a job."""
        return asdict(self)

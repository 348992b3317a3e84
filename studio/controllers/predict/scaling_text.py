"""How images are scaled before a model is fed them, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from resources import quantities


def scaling_text(scaling: Mapping[str, Any]) -> str:
    """``0 … 1``, or the mean and deviation that are taken off; empty for images that are fed as they are."""
    if "mean" in scaling and "std" in scaling:
        return f"(x \u2212 {quantities.number(scaling['mean'])}) / {quantities.number(scaling['std'])}"
    if "low" in scaling and "high" in scaling:
        return f"{quantities.number(scaling['low'])} \u2026 {quantities.number(scaling['high'])}"
    return ""

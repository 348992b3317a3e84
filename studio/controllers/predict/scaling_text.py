"""How images are scaled before a model is fed them, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def scaling_text(scaling: Mapping[str, Any]) -> str:
    """``0 … 1``, or the mean and deviation that are taken off; empty for images that are fed as they are."""
    if "mean" in scaling and "std" in scaling:
        return f"(x \u2212 {scaling['mean']:g}) / {scaling['std']:g}"
    if "low" in scaling and "high" in scaling:
        return f"{scaling['low']:g} \u2026 {scaling['high']:g}"
    return ""

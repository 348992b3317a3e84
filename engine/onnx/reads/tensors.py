"""The public functions on tensors, in which rows are written: a package that is filled when imported."""

from __future__ import annotations

from typing import Any

from engine import tensor

T: Any = tensor

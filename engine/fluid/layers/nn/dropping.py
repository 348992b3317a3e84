"""``dropout`` and tensors of random numbers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.fluid.dygraph import tracer as tracers
from engine.fluid.layers.adapting import adapter
from engine.nn import functional

_MODES = {"downgrade_in_infer": "downscale_in_infer", "upscale_in_train": "upscale_in_train"}


@adapter
def dropout(
    x: Any, dropout_prob: float, is_test: bool = False, seed: int | None = None, name: str | None = None,
    dropout_implementation: str = "downgrade_in_infer",
) -> Any:  # fmt: skip
    """Elements set to zero with probability ``dropout_prob``.

    'downgrade_in_infer' multiplies by ``1 - dropout_prob`` in inference, 'upscale_in_train' divides by it in
    training. A guard in evaluation mode is inference. ``seed`` is accepted; masks are drawn from the
    generator of the Program or of the process. Raises ArgumentError for another implementation.
    """
    if dropout_implementation not in _MODES:
        raise ArgumentError(
            f"dropout: dropout_implementation is {dropout_implementation!r}; use one of {sorted(_MODES)}"
        )
    training = not (is_test or tracers.is_test())
    return functional.dropout(
        x, dropout_prob, training=training, mode=_MODES[dropout_implementation], name=name
    )

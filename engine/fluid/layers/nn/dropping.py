"""``dropout`` and tensors of random numbers."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.core.values.dtype import as_dtype
from engine.fluid.dygraph import tracer as tracers
from engine.fluid.layers.adapting import adapter
from engine.fluid.layers.tensor import SIZED
from engine.fluid.renamed.functions import functions, row
from engine.nn.functional.dropping import dropped
from engine.ops.random import draws
from engine.program.build.calls import named
from engine.tensor import manipulation
from engine.tensor import random as randoms
from engine.tensor.arguments.sizes import dimensions

_MODES = {"downgrade_in_infer": "downscale_in_infer", "upscale_in_train": "upscale_in_train"}


@adapter
def dropout(
    x: Any,
    dropout_prob: float,
    is_test: bool = False,
    seed: int | None = None,
    name: str | None = None,
    dropout_implementation: str = "downgrade_in_infer",
) -> Any:
    """Elements set to zero with probability ``dropout_prob``.

    'downgrade_in_infer' multiplies by ``1 - dropout_prob`` in inference, 'upscale_in_train' divides by it in
    training. A guard in evaluation mode is inference. Calls with one ``seed`` other than 0 drop the same
    elements. Raises ArgumentError for another implementation.
    """
    if dropout_implementation not in _MODES:
        raise ArgumentError(
            f"dropout: dropout_implementation is {dropout_implementation!r}; use one of {sorted(_MODES)}"
        )
    training = not (is_test or tracers.is_test())
    given = (x, dropout_prob, None, training, _MODES[dropout_implementation], seed or 0)
    return named(name, dropped, *given) if name else dropped(*given)


@adapter
def gaussian_random(
    shape: Any,
    mean: float = 0.0,
    std: float = 1.0,
    seed: int = 0,
    dtype: Any = "float32",
    name: str | None = None,
) -> Any:
    """Normally distributed numbers; ``seed`` other than 0 repeats them."""
    return draws.gaussian(
        dtype=as_dtype(dtype).name,
        mean=float(mean),
        std=float(std),
        seed=seed,
        **dimensions("gaussian_random", shape),
    )


@adapter
def sampling_id(x: Any, min: float = 0.0, max: float = 1.0, seed: int = 0, dtype: Any = "float32") -> Any:
    """A class for each row of probabilities ``x`` [N, classes]: int64 [N]."""
    return manipulation.reshape(randoms.multinomial(x, 1), [-1])


# fmt: off
ROWS = (
    row("uniform_random_batch_size_like", randoms.uniform,
        "input, shape, dtype='float32', input_dim_idx: int = 0, output_dim_idx: int = 0, "
        "min: float = -1.0, max: float = 1.0, seed: int = 0",
        "Numbers from ``min`` to ``max``; dimension ``output_dim_idx`` is ``input_dim_idx`` of ``input``.",
        {"shape": SIZED}),
    row("gaussian_random_batch_size_like", gaussian_random,
        "input, shape, input_dim_idx: int = 0, output_dim_idx: int = 0, mean: float = 0.0, "
        "std: float = 1.0, seed: int = 0, dtype='float32'",
        "Normally distributed numbers; dimension ``output_dim_idx`` is ``input_dim_idx`` of ``input``.",
        {"shape": SIZED}),
)
# fmt: on
globals().update(functions(ROWS, __name__))

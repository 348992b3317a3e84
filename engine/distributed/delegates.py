"""Declarations of what this room uses of layers, which stand above it."""

from __future__ import annotations

from typing import Any

from engine.core.delegate import delegate


@delegate("engine.nn.layer.data_parallel")
def made_parallel(
    model: Any,
    sync_batch_norm: bool,
    comm_buffer_size: float,
    last_comm_buffer_size: float,
    find_unused_parameters: bool,
) -> Any:
    """``model`` in a DataParallel, with SyncBatchNorm for its batch norms where that is asked for."""
    raise NotImplementedError

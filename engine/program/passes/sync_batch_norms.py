"""Batch norms of a Program count over the batches of all processes."""

from __future__ import annotations

from engine.ops.control.gradient import gradient
from engine.ops.normalization import batch_norm, sync_batch_norm
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import Program

_SYNCED = {
    batch_norm.batch_norm.opdef.name: sync_batch_norm.sync_batch_norm.opdef,
    batch_norm.batch_norm_grad.opdef.name: sync_batch_norm.sync_batch_norm_grad.opdef,
}


def sync_batch_norms(program: Program, ring_id: int = 0) -> None:
    """Replace batch norms, and their gradients, by those over the processes of a group.

    ::

        y = batch_norm(x, scale, bias, ...)  ->  y = sync_batch_norm(x, scale, bias, ...)
    """
    for operator in with_sub_blocks(program.global_block().ops):
        if operator.opdef is gradient.opdef:
            found = _SYNCED.get(operator.attrs["of"])
            if found is not None:
                forward = {**operator.attrs["attrs"], "ring_id": ring_id}
                operator.attrs = {**operator.attrs, "of": found.name, "attrs": found.with_defaults(forward)}
                operator.note("type", f"{found.name}_grad")
        elif operator.opdef.name in _SYNCED:
            operator.opdef = _SYNCED[operator.opdef.name]
            operator.attrs = operator.opdef.with_defaults({**operator.attrs, "ring_id": ring_id})
    program.changed()

"""Paddle's ``geometric``: learning on graphs."""

from engine.geometric.messages import send_u_recv, send_ue_recv, send_uv
from engine.geometric.sampling import (
    reindex_graph,
    reindex_heter_graph,
    sample_neighbors,
    weighted_sample_neighbors,
)
from engine.geometric.segments import segment_max, segment_mean, segment_min, segment_sum
from engine.tensor.arguments.caught import explain_public as _explain_public

_explain_public(globals())

__all__ = [
    "send_u_recv",
    "send_ue_recv",
    "send_uv",
    "segment_sum",
    "segment_mean",
    "segment_min",
    "segment_max",
    "reindex_graph",
    "reindex_heter_graph",
    "sample_neighbors",
    "weighted_sample_neighbors",
]

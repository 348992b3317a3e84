"""Paddle's ``incubate``: what is tried out there, and older names of what has settled since."""

from engine.geometric import segment_max, segment_mean, segment_min, segment_sum
from engine.incubate import asp, autograd, nn, optimizer
from engine.incubate.graphs import (
    graph_khop_sampler,
    graph_reindex,
    graph_sample_neighbors,
    graph_send_recv,
)
from engine.incubate.losses import identity_loss, softmax_mask_fuse, softmax_mask_fuse_upper_triangle
from engine.incubate.optimizer.lookahead import LookAhead
from engine.incubate.optimizer.model_average import ModelAverage
from engine.tensor.arguments.caught import explain_public as _explain_public

_explain_public(globals())

__all__ = [
    "LookAhead",
    "ModelAverage",
    "softmax_mask_fuse_upper_triangle",
    "softmax_mask_fuse",
    "graph_send_recv",
    "graph_khop_sampler",
    "graph_sample_neighbors",
    "graph_reindex",
    "segment_sum",
    "segment_mean",
    "segment_max",
    "segment_min",
    "identity_loss",
]

"""Paddle's ``nn.utils``: parameters as one vector, clipping of gradients, weights computed from others."""

from engine.nn.utils.clipping import clip_grad_norm_, clip_grad_value_
from engine.nn.utils.spectral import spectral_norm
from engine.nn.utils.vectors import parameters_to_vector, vector_to_parameters
from engine.nn.utils.weights import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_weight_norm",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]

"""Functions of layers without their state, with Paddle's signatures."""

from engine.nn.functional.activation import leaky_relu, log_softmax, relu, sigmoid, softmax, tanh
from engine.nn.functional.common import dropout, label_smooth, linear, pad
from engine.nn.functional.conv import conv2d
from engine.nn.functional.input import embedding, one_hot
from engine.nn.functional.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    l1_loss,
    mse_loss,
    nll_loss,
    softmax_with_cross_entropy,
    square_error_cost,
)
from engine.nn.functional.norm import batch_norm, layer_norm
from engine.nn.functional.pooling import adaptive_avg_pool2d, avg_pool2d, max_pool2d

__all__ = [
    "adaptive_avg_pool2d",
    "avg_pool2d",
    "batch_norm",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "conv2d",
    "cross_entropy",
    "dropout",
    "embedding",
    "l1_loss",
    "label_smooth",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "pad",
    "relu",
    "sigmoid",
    "softmax",
    "softmax_with_cross_entropy",
    "square_error_cost",
    "tanh",
]

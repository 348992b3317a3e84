"""Layers, their functions without state, initializers and gradient clipping."""

from engine.nn import functional, initializer
from engine.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from engine.nn.layer.activation import LeakyReLU, LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from engine.nn.layer.common import Dropout, Embedding, Flatten, Identity, Linear, Pad2D
from engine.nn.layer.container import LayerDict, LayerList, ParameterList, Sequential
from engine.nn.layer.conv import Conv2D
from engine.nn.layer.layers import Layer
from engine.nn.layer.loss import BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from engine.nn.layer.norm import BatchNorm, BatchNorm1D, BatchNorm2D, LayerNorm
from engine.nn.layer.pooling import AdaptiveAvgPool2D, AvgPool2D, MaxPool2D
from engine.nn.param_attr import ParamAttr

__all__ = [
    "AdaptiveAvgPool2D",
    "AvgPool2D",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm",
    "BatchNorm1D",
    "BatchNorm2D",
    "ClipGradByGlobalNorm",
    "ClipGradByNorm",
    "ClipGradByValue",
    "Conv2D",
    "CrossEntropyLoss",
    "Dropout",
    "Embedding",
    "Flatten",
    "Identity",
    "L1Loss",
    "Layer",
    "LayerDict",
    "LayerList",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "MaxPool2D",
    "NLLLoss",
    "Pad2D",
    "ParamAttr",
    "ParameterList",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
    "initializer",
]

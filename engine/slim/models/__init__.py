"""The networks of PaddleSlim's tutorials, as functions that build a Program."""

from engine.core.alias.absent import refusing
from engine.slim.models.classification import image_classification, model_list
from engine.slim.models.mobilenet import MobileNet
from engine.slim.models.mobilenet_v2 import (
    MobileNetV2,
    MobileNetV2_scale,
    MobileNetV2_x0_5,
    MobileNetV2_x0_25,
    MobileNetV2_x1_0,
    MobileNetV2_x1_5,
    MobileNetV2_x2_0,
)
from engine.slim.models.resnet import ResNet, ResNet34, ResNet50, ResNet101, ResNet152

__all__ = [
    "MobileNet",
    "MobileNetV2",
    "MobileNetV2_scale",
    "MobileNetV2_x0_25",
    "MobileNetV2_x0_5",
    "MobileNetV2_x1_0",
    "MobileNetV2_x1_5",
    "MobileNetV2_x2_0",
    "ResNet",
    "ResNet101",
    "ResNet152",
    "ResNet34",
    "ResNet50",
    "image_classification",
    "model_list",
]

__getattr__ = refusing(__name__)

"""MobileNetV1 (Howard et al. 2017) as a static graph, with PaddleSlim's parameter names."""

from __future__ import annotations

from typing import Any

from engine.nn import functional, initializer
from engine.nn.param_attr import ParamAttr
from engine.program.graph.variable import Variable
from engine.slim.models.layers import conv_bn, train_parameters
from engine.static import nn

__all__ = ["MobileNet"]

# name, channels in, channels out, stride
_BLOCKS = (
    ("conv2_1", 32, 64, 1),
    ("conv2_2", 64, 128, 2),
    ("conv3_1", 128, 128, 1),
    ("conv3_2", 128, 256, 2),
    ("conv4_1", 256, 256, 1),
    ("conv4_2", 256, 512, 2),
    *((f"conv5_{i}", 512, 512, 1) for i in range(1, 6)),
    ("conv5_6", 512, 1024, 2),
    ("conv6", 1024, 1024, 1),
)


class MobileNet:
    """MobileNetV1; ``net`` adds it to the current Program."""

    def __init__(self) -> None:
        self.params = train_parameters

    def net(self, input: Variable, class_dim: int = 1000, scale: float = 1.0) -> Any:
        """The probabilities [N, class_dim] of images [N, C, H, W]; ``scale`` multiplies all widths."""
        value = conv_bn(
            input, int(32 * scale), 3, "conv1", stride=2, act="relu", initializer=initializer.KaimingUniform()
        )
        for name, before, after, stride in _BLOCKS:
            value = _separable(value, int(before * scale), int(after * scale), stride, name)
        value = functional.adaptive_avg_pool2d(value, 1)
        return nn.fc(
            value,
            class_dim,
            activation="softmax",
            weight_attr=ParamAttr(name="fc7_weights", initializer=initializer.KaimingUniform()),
            bias_attr=ParamAttr(name="fc7_offset"),
        )


def _separable(value: Any, before: int, after: int, stride: int, name: str) -> Any:
    """One filter for each of ``before`` channels, then a mixture of the channels."""
    start = initializer.KaimingUniform()
    value = conv_bn(
        value,
        before,
        3,
        f"{name}_dw",
        stride=stride,
        groups=before,
        act="relu",
        initializer=start,
        depthwise=True,
    )
    return conv_bn(value, after, 1, f"{name}_sep", act="relu", initializer=start)

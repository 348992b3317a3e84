"""What the networks of this folder share: a convolution with batch norm whose parameters are named."""

from __future__ import annotations

from typing import Any

from engine.nn.initializer.base import Initializer
from engine.nn.param_attr import ParamAttr
from engine.program.graph.variable import Variable
from engine.static import nn

train_parameters = {
    "input_size": [3, 224, 224],
    "input_mean": [0.485, 0.456, 0.406],
    "input_std": [0.229, 0.224, 0.225],
}
"""What the networks are made for: ImageNet's images."""


def conv_bn(
    value: Variable,
    filters: int,
    size: int,
    name: str,
    norm: str | None = None,
    stride: int = 1,
    padding: int | None = None,
    groups: int = 1,
    act: str | None = None,
    initializer: Initializer | None = None,
    depthwise: bool = False,
) -> Any:
    """``act(batch_norm(conv2d(value)))``, [N, filters, H', W'] of [N, C, H, W].

    The parameters are called ``name_weights``, ``norm_scale``, ``norm_offset``, ``norm_mean`` and
    ``norm_variance``; ``norm`` is ``name_bn`` by default. ``padding`` None keeps the size at stride 1.
    ``depthwise`` takes the operator for one filter a channel.
    """
    norm = f"{name}_bn" if norm is None else norm
    product = nn.conv2d(
        input=value,
        num_filters=filters,
        filter_size=size,
        stride=stride,
        padding=(size - 1) // 2 if padding is None else padding,
        groups=groups,
        param_attr=ParamAttr(name=f"{name}_weights", initializer=initializer),
        bias_attr=False,
        use_cudnn=not depthwise,
    )
    return nn.batch_norm(
        input=product,
        act=act,
        param_attr=ParamAttr(name=f"{norm}_scale"),
        bias_attr=ParamAttr(name=f"{norm}_offset"),
        moving_mean_name=f"{norm}_mean",
        moving_variance_name=f"{norm}_variance",
    )

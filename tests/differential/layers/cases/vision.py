"""Layers of paddle.vision.ops, and small models."""

_VISION = "paddle.vision.models."
_SMALL = "t([1, 3, 32, 32])"
_BOXES = (
    "paddle.to_tensor([[0., 0., 4., 4.], [1., 2., 5., 6.], [2., 1., 7., 7.]]), "
    "paddle.to_tensor([2, 1], 'int32')"
)
CASES = {
    "LeNet": (f"{_VISION}LeNet()", "t([2, 1, 28, 28])"),
    "LeNet/3": (f"{_VISION}LeNet(num_classes=3)", "t([1, 1, 28, 28])"),
    "LeNet/0": (f"{_VISION}LeNet(num_classes=0)", "t([1, 1, 28, 28])"),
    "resnet18": (f"evaluated({_VISION}resnet18(num_classes=4))", _SMALL),
    "resnet18/no pool": (f"evaluated({_VISION}resnet18(num_classes=0, with_pool=False))", _SMALL),
    "mobilenet_v1": (f"evaluated({_VISION}mobilenet_v1(scale=0.25, num_classes=4))", _SMALL),
    "mobilenet_v2": (f"evaluated({_VISION}mobilenet_v2(scale=0.25, num_classes=4))", _SMALL),
    "mobilenet_v3_small": (f"evaluated({_VISION}mobilenet_v3_small(scale=0.5, num_classes=4))", _SMALL),
    "shufflenet_v2_x0_25": (f"evaluated({_VISION}shufflenet_v2_x0_25(num_classes=4))", _SMALL),
    "squeezenet1_1": (f"evaluated({_VISION}squeezenet1_1(num_classes=4))", "t([1, 3, 64, 64])"),
    "RoIAlign": ("paddle.vision.ops.RoIAlign(2)", f"t([2, 2, 8, 8]), {_BOXES}"),
    "RoIAlign/scale": ("paddle.vision.ops.RoIAlign((2, 3), spatial_scale=0.5)", f"t([2, 2, 8, 8]), {_BOXES}"),
    "RoIAlign/not aligned": ("paddle.vision.ops.RoIAlign(2)", f"t([2, 2, 8, 8]), {_BOXES}, aligned=False"),
    "RoIPool": ("paddle.vision.ops.RoIPool(2)", f"t([2, 2, 8, 8]), {_BOXES}"),
    "RoIPool/scale": ("paddle.vision.ops.RoIPool((2, 3), 0.5)", f"t([2, 2, 8, 8]), {_BOXES}"),
    "PSRoIPool": ("paddle.vision.ops.PSRoIPool(2, 1.0)", f"t([2, 8, 8, 8]), {_BOXES}"),
    "DeformConv2D": ("paddle.vision.ops.DeformConv2D(2, 3, 3)", "t([1, 2, 5, 5]), t([1, 18, 3, 3], seed=1)"),
    "DeformConv2D/mask": (
        "paddle.vision.ops.DeformConv2D(2, 4, [3, 3], stride=2, padding=1, groups=2)",
        "t([1, 2, 5, 5]), t([1, 18, 3, 3], seed=1), pos([1, 9, 3, 3])",
    ),
    "DeformConv2D/no bias": (
        "paddle.vision.ops.DeformConv2D(2, 3, 2, deformable_groups=2, bias_attr=False)",
        "t([1, 2, 4, 4]), t([1, 16, 3, 3], seed=1)",
    ),
    "ConvNormActivation": ("paddle.vision.ops.ConvNormActivation(2, 3)", "t([1, 2, 5, 5])"),
    "ConvNormActivation/odd": (
        "paddle.vision.ops.ConvNormActivation(2, 4, 1, 2, groups=2, norm_layer=None, "
        "activation_layer=nn.Hardswish)",
        "t([1, 2, 5, 5])",
    ),
}
# Deep networks keep the values that they draw: those of the formula grow from layer to layer.
INITIAL = frozenset(name for name in CASES if name[0].islower())

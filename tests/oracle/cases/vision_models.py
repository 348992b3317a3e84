"""Networks of ``vision.models``: what they compute with weights from a formula, and their initial weights."""

from tests.oracle.cases.random_numbers import drawn

_RUN = """
net = paddle.vision.models.{}
for n, p in enumerate(p for p in net.parameters() if p.trainable):
    p.set_value(t(p.shape, seed=n) * {})
{}
"""


def _eval(make: str, shape: list[int], scale: float = 0.1) -> str:
    return _RUN.format(make, scale, f"net.eval()\nnet(t({shape}))")


CALLS: dict[str, str] = {
    "LeNet": _eval("LeNet()", [2, 1, 28, 28]),
    "LeNet/4 classes": _eval("LeNet(num_classes=4)", [2, 1, 28, 28]),
    "resnet18": _eval("resnet18(num_classes=4)", [1, 3, 32, 32], 0.3),
    "resnet18/training": _RUN.format("resnet18(num_classes=4)", 0.3, "net(t([2, 3, 64, 64]))"),
    "resnet50/32 groups": _eval("resnext50_32x4d(num_classes=4)", [1, 3, 32, 32], 0.3),
    "ResNet/no classes": _eval("resnet18(num_classes=0)", [1, 3, 32, 32], 0.3),
    "ResNet/no pool": _eval("resnet18(num_classes=0, with_pool=False)", [1, 3, 32, 32], 0.3),
    "resnet18/initial values": drawn(
        "h(*list(paddle.vision.models.resnet18(num_classes=10).parameters())[:9])"
    ),
}
TOLERANCES: dict[str, float] = {"resnet18/training": 1e-3}

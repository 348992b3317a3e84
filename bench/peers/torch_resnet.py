"""Worker: forward and backward of ResNet-18 in torch: ``python -m bench.peers.torch_resnet STEM BATCH``."""

from __future__ import annotations

import sys

import torch
import torch.nn.functional as F
from torch import nn

from bench.peers.protocol import resnet_batch, resnet_weight, serve, threads


class Block(nn.Module):
    """Two convolutions of 3 x 3 beside a shortcut."""

    def __init__(self, taken: int, made: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(taken, made, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(made)
        self.conv2 = nn.Conv2d(made, made, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(made)
        self.shortcut = nn.Sequential()
        if stride != 1 or taken != made:
            self.shortcut = nn.Sequential(nn.Conv2d(taken, made, 1, stride, bias=False), nn.BatchNorm2d(made))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block's result."""
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + self.shortcut(x))


def resnet(stem: str) -> nn.Module:
    """ResNet-18 for 10 classes, with the weights of the other contenders."""
    first: list[nn.Module] = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    if stem == "imagenet":
        first = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    blocks = []
    for n, (taken, made) in enumerate(((64, 64), (64, 128), (128, 256), (256, 512))):
        blocks += [Block(taken, made, 1 if n == 0 else 2), Block(made, made, 1)]
    model = nn.Sequential(*first, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, nn.Conv2d):
                layer.weight.copy_(torch.from_numpy(resnet_weight(tuple(layer.weight.shape))))
            elif isinstance(layer, nn.Linear):
                layer.weight.copy_(torch.from_numpy(resnet_weight(tuple(layer.weight.shape)[::-1])).T)
                layer.bias.zero_()
    return model


def main(stem: str, batch: int) -> None:
    """Serve steps without update."""
    torch.set_num_threads(threads())
    model = resnet(stem)
    x, y = (torch.from_numpy(array) for array in resnet_batch(batch))

    def repeat(count: int, _job: str) -> dict[str, float]:
        for _ in range(count):
            model.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
        return {"loss": loss.item()}

    serve(f"torch {torch.__version__}", repeat)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

"""The networks of ``bench.nets`` in torch."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import nn

from bench.nets import CLASSES, FEED_FORWARD, HEADS, MOBILE_BLOCKS, MOBILE_FIRST, Job, Weights


class LeNet(nn.Module):
    """The network of the training document."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.linear1 = nn.Linear(400, 120)
        self.linear2 = nn.Linear(120, 84)
        self.linear3 = nn.Linear(84, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits ``[N, 10]`` of images ``[N, 1, 28, 28]``."""
        x = F.relu(F.max_pool2d(F.relu(self.conv1(x)), 2))
        x = torch.flatten(F.max_pool2d(self.conv2(x), 2), 1)
        x = F.relu(self.linear1(x))
        x = F.relu(self.linear2(x))
        return self.linear3(x)


def mlp(*sizes: int) -> nn.Module:
    """Linear layers with ReLU between them."""
    layers: list[nn.Module] = []
    for taken, made in pairwise(sizes):
        layers += [nn.Linear(taken, made), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def vgg(*channels: int) -> nn.Module:
    """Pairs of convolutions of 3 x 3, each pair with a pooling; two linear layers."""
    layers: list[nn.Module] = []
    taken, side = 3, 32
    for made in channels:
        layers += [nn.Conv2d(taken, made, 3, padding=1), nn.ReLU()]
        layers += [nn.Conv2d(made, made, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
        taken, side = made, side // 2
    head = [nn.Flatten(), nn.Linear(taken * side * side, 128), nn.ReLU(), nn.Linear(128, CLASSES)]
    return nn.Sequential(*layers, *head)


class Block(nn.Module):
    """Two convolutions of 3 x 3 next to a shortcut."""

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


def resnet() -> nn.Module:
    """ResNet-18 whose stem is a convolution of 3 x 3 without pooling, as usual for small images."""
    blocks: list[nn.Module] = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    for n, (taken, made) in enumerate(((64, 64), (64, 128), (128, 256), (256, 512))):
        blocks += [Block(taken, made, 1 if n == 0 else 2), Block(made, made, 1)]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES))


def mobilenet() -> nn.Module:
    """Depthwise convolutions of 3 x 3 and products over channels in alternation, each with batch norm and
    ReLU."""
    taken = MOBILE_FIRST
    layers: list[nn.Module] = [nn.Conv2d(3, taken, 3, 2, 1, bias=False), nn.BatchNorm2d(taken), nn.ReLU()]
    for made, stride in MOBILE_BLOCKS:
        layers += [nn.Conv2d(taken, taken, 3, stride, 1, groups=taken, bias=False)]
        layers += [nn.BatchNorm2d(taken), nn.ReLU(), nn.Conv2d(taken, made, 1, bias=False)]
        layers += [nn.BatchNorm2d(made), nn.ReLU()]
        taken = made
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(taken, CLASSES))


class Last(nn.Module):
    """One recurrent layer and a linear one over its last result."""

    def __init__(self, layer: type[nn.RNNBase], _steps: int, taken: int, width: int) -> None:
        super().__init__()
        self.recurrent = layer(taken, width, batch_first=True)
        self.linear = nn.Linear(width, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits ``[N, 10]`` of sequences ``[N, steps, taken]``."""
        made, _ = self.recurrent(x)
        return self.linear(made[:, -1])


class Encoder(nn.Module):
    """Encoder layers without dropout, the mean over the tokens, and a linear layer."""

    def __init__(self, _tokens: int, width: int, layers: int) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, HEADS, FEED_FORWARD * width, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.linear = nn.Linear(width, CLASSES)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits ``[N, 10]`` of tokens ``[N, tokens, width]``."""
        return self.linear(self.encoder(x).mean(dim=1))


NETWORKS = {
    "lenet": LeNet,
    "mlp": mlp,
    "vgg": vgg,
    "resnet": resnet,
    "mobilenet": mobilenet,
    "lstm": partial(Last, nn.LSTM),
    "gru": partial(Last, nn.GRU),
    "transformer": Encoder,
}


def network(job: Job) -> nn.Module:
    """The job's network with its initial weights."""
    model = NETWORKS[job.net](*job.sizes)
    weights = Weights()

    def linear(taken: int, made: int) -> torch.Tensor:
        return torch.from_numpy(weights.linear(taken, made)).T

    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, nn.Conv2d):
                layer.weight.copy_(torch.from_numpy(weights.convolution(tuple(layer.weight.shape))))
            elif isinstance(layer, nn.Linear):
                layer.weight.copy_(linear(layer.in_features, layer.out_features))
            elif isinstance(layer, nn.MultiheadAttention):  # its last product is a Linear of its own
                width = layer.embed_dim
                layer.in_proj_weight.copy_(torch.cat([linear(width, width) for _ in range(3)]))
                layer.in_proj_bias.zero_()
            elif isinstance(layer, nn.RNNBase):
                for parameter in layer.parameters():
                    value = weights.recurrent(tuple(parameter.shape), layer.hidden_size)
                    parameter.copy_(torch.from_numpy(value))
            if isinstance(layer, (nn.Conv2d, nn.Linear)) and layer.bias is not None:
                layer.bias.zero_()
    return model

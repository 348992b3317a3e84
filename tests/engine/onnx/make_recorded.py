"""Writes ``recorded``: small networks that PyTorch exported to ONNX, with an input and PyTorch's output.

``python tests/engine/onnx/make_recorded.py`` in an environment with torch and onnx; nothing else needs it.
The files name torch and its version as their producer.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

FOLDER = Path(__file__).with_name("recorded")


class Block(nn.Module):
    """A residual block, as those of ResNet-18."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer), nn.ReLU()
        )
        self.second = nn.Sequential(nn.Conv2d(outer, outer, 3, 1, 1, bias=False), nn.BatchNorm2d(outer))
        self.short = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x: Any) -> Any:
        return torch.relu(self.second(self.first(x)) + self.short(x))


class Residual(nn.Module):
    """A narrow ResNet of two blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 4, 7, 2, 3, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        self.blocks = nn.Sequential(Block(4, 6, 1), Block(6, 8, 2))
        self.head = nn.Linear(8, 5)

    def forward(self, x: Any) -> Any:
        x = self.blocks(self.stem(x))
        return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


class Words(nn.Module):
    """An LSTM of two layers in both directions over embedded words."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 4)
        self.net = nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, 3)

    def forward(self, x: Any) -> Any:
        return self.head(self.net(self.words(x))[0][:, -1])


def write(name: str, net: nn.Module, x: Any, training: bool, axes: dict[str, Any], opset: int = 17) -> None:
    net.train()
    with torch.no_grad():
        for parameter in net.parameters():  # equal ones would be exported as one
            parameter += 0.1 * torch.randn_like(parameter)
        for _ in range(3):
            net(torch.randn_like(x) if x.is_floating_point() else x)
    net.eval()
    mode = torch.onnx.TrainingMode
    torch.onnx.export(
        net,
        (x,),
        str(FOLDER / f"{name}.onnx"),
        input_names=["x"],
        output_names=["scores"],
        dynamic_axes={"x": axes, "scores": {0: "n"}},
        opset_version=opset,
        dynamo=False,
        training=mode.PRESERVE if training else mode.EVAL,  # which keeps batch norms
        do_constant_folding=not training,
    )
    np.savez(FOLDER / f"{name}.npz", x=x.numpy(), scores=net(x).detach().numpy())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    FOLDER.mkdir(exist_ok=True)
    torch.manual_seed(0)
    image = torch.randn(2, 3, 32, 32)
    net = Residual()
    write("residual", net, image, True, {0: "n", 2: "h", 3: "w"})
    write("residual_folded", net, image, False, {0: "n"}, opset=11)
    write("words", Words(), torch.randint(0, 20, (3, 7)), False, {0: "n", 1: "t"})

"""Records gradients of whole networks from torch in float64: run with an interpreter that has torch.

    python tests/engine/networks/record.py

It writes ``gradients.json``: for each network the loss, and for each parameter, under Paddle's name and in
Paddle's layout, the norm of its gradient and 64 entries.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from formulas import inputs, sampled, weights  # noqa: E402


class Block(nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        if stride != 1 or before != width:
            conv = nn.Conv2d(before, width, 1, stride, bias=False)
            self.downsample = nn.Sequential(conv, nn.BatchNorm2d(width))
        else:
            self.downsample = nn.Identity()

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.downsample(x))


class ResNet18(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        before = 64
        for n, width in enumerate((64, 128, 256, 512)):
            stride = 1 if n == 0 else 2
            layer = nn.Sequential(Block(before, width, stride), Block(width, width, 1))
            setattr(self, f"layer{n + 1}", layer)
            before = width
        self.fc = nn.Linear(512, classes)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


def paddle_names(net):
    """Paddle's name -> (get the gradient, set the value) in Paddle's layout."""
    found = {}
    linear = {f"{n}.weight" for n, m in net.named_modules() if isinstance(m, nn.Linear)}
    for name, p in net.named_parameters():
        if name.startswith("self_attn.in_proj"):
            for n, part in enumerate("qkv"):
                size = p.shape[0] // 3
                rows = slice(n * size, (n + 1) * size)
                kind = name.rpartition("_")[2]
                found[f"self_attn.{part}_proj.{kind}"] = (p, rows, p.dim() == 2)
        else:
            found[name] = (p, slice(None), name in linear)
    return found


def fill(net, scales):
    with torch.no_grad():
        for k, (name, (p, rows, transposed)) in enumerate(sorted(paddle_names(net).items())):
            part = p[rows]
            shape = tuple(part.shape)[::-1] if transposed else tuple(part.shape)
            value = torch.tensor(weights(shape, k, name in scales))
            part.copy_(value.T if transposed else value)


def record(net, loss, scales=()):
    fill(net, set(scales))
    value = loss(net)
    value.backward()
    gradients = {}
    for name, (p, rows, transposed) in sorted(paddle_names(net).items()):
        g = p.grad[rows]
        gradients[name] = sampled((g.T if transposed else g).numpy())
    return {"loss": value.item(), "gradients": gradients}


def resnet18():
    net = ResNet18().double()
    scales = [f"{n}.weight" for n, m in net.named_modules() if isinstance(m, nn.BatchNorm2d)]
    x, y = torch.tensor(inputs(8, 3, 32, 32)), torch.tensor([3, 1, 4, 1, 5, 9, 2, 6])
    return record(net, lambda net: nn.functional.cross_entropy(net(x), y), scales)


def lstm():
    net = nn.LSTM(5, 6, num_layers=2, bidirectional=True, batch_first=True).double()
    x = torch.tensor(inputs(3, 7, 5))

    def loss(net):
        out, (h, c) = net(x)
        return (out**2).sum() + (h * 0.5).sum() + (c**3).sum()

    return record(net, loss)


def gru():
    net = nn.GRU(5, 6, num_layers=2, bidirectional=True, batch_first=True).double()
    x = torch.tensor(inputs(3, 7, 5))

    def loss(net):
        out, h = net(x)
        return (out**2).sum() + (h * 0.5).sum()

    return record(net, loss)


def transformer(norm_first, activation):
    net = nn.TransformerEncoderLayer(
        8, 2, 16, dropout=0.0, activation=activation, batch_first=True, norm_first=norm_first
    ).double()
    x = torch.tensor(inputs(3, 6, 8))
    return record(net, lambda net: (net(x) ** 3).sum(), ["norm1.weight", "norm2.weight"])


networks = {
    "resnet18": resnet18(),
    "lstm": lstm(),
    "gru": gru(),
    "transformer": transformer(False, "relu"),
    "transformer normalized first": transformer(True, "gelu"),
}
lines = [f" {json.dumps(n)}: {json.dumps(found, separators=(',', ':'))}" for n, found in networks.items()]
head = f' "torch": {json.dumps(torch.__version__)},\n'
(HERE / "gradients.json").write_text("{\n" + head + ",\n".join(lines) + "\n}\n", encoding="utf-8")

"""Makes the files of PyTorch in ``recorded`` with torch 2.14.1 and safetensors 0.8.0.

Run as ``python tests/engine/framework/make_torch_weights.py``. Each net is saved with an input and the output
that PyTorch computes for it.
"""

from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torchvision.models.resnet import BasicBlock

FOLDER = Path(__file__).with_name("recorded")


class ResNet(nn.Module):
    """The shape of ResNet-18, narrow; of test_torch_weights.py too."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.layer1 = nn.Sequential(BasicBlock(4, 4))
        downsample = nn.Sequential(nn.Conv2d(4, 8, 1, 2, bias=False), nn.BatchNorm2d(8))
        self.layer2 = nn.Sequential(BasicBlock(4, 8, 2, downsample))
        self.up = nn.ConvTranspose2d(8, 4, 3, 2, groups=2)
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        x = self.layer2(self.layer1(torch.relu(self.bn1(self.conv1(x)))))
        return self.fc(self.up(x).mean((2, 3)))


class Small(nn.Module):
    """Layers whose layouts or names differ, one after the other; of test_torch_weights.py too."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(4, 4)
        self.norm = nn.LayerNorm((3, 4))
        self.instance = nn.InstanceNorm1d(3, affine=True)
        self.group = nn.GroupNorm(3, 3)
        self.prelu = nn.PReLU(3)
        self.bilinear = nn.Bilinear(4, 4, 4)
        self.attention = nn.MultiheadAttention(4, 2, kdim=3, vdim=4, batch_first=True)
        self.cell = nn.GRUCell(4, 4)

    def forward(self, words):
        x = self.prelu(self.group(self.instance(self.norm(self.embed(words)))))
        x = self.bilinear(x, x.flip(2))
        x = self.attention(x, x[:, :, :3], x)[0]
        return self.cell(x[:, 0], x[:, 1])


class Sequences(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.rnn = kind(4, 4, 2, batch_first=True, bidirectional=True)

    def forward(self, x):
        return self.rnn(x)[0]


def randomize(net):
    """Statistics and affine parameters that are not what a new layer has."""
    for value in net.state_dict().values():
        if value.is_floating_point():
            value.copy_(torch.rand_like(value) - 0.4 if value.min() < 0 else torch.rand_like(value) + 0.5)


def record(name, net, *inputs):
    torch.manual_seed(5)
    with torch.no_grad():
        randomize(net)
        output = net.eval()(*inputs)
    torch.save(net.state_dict(), FOLDER / f"{name}.pth")
    arrays = {f"input{number}": value.numpy() for number, value in enumerate(inputs)}
    np.savez(FOLDER / f"{name}-expected.npz", output=output.numpy(), **arrays)
    return net


def main() -> None:
    torch.manual_seed(4)
    net = record("resnet", ResNet(), torch.rand(2, 3, 8, 8))
    save_file(net.state_dict(), FOLDER / "resnet.safetensors", {"format": "pt"})
    record("lstm", Sequences(nn.LSTM), torch.rand(2, 5, 4))
    record("gru", Sequences(nn.GRU), torch.rand(2, 5, 4))
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    record("encoder", nn.TransformerEncoder(layer, 2, nn.LayerNorm(4)), torch.rand(2, 5, 4))
    net = nn.Transformer(4, 2, 1, 1, 8, batch_first=True)
    record("transformer", net, torch.rand(2, 5, 4), torch.rand(2, 3, 4))
    record("small", Small(), torch.randint(0, 4, (2, 3)))

    base = torch.arange(24, dtype=torch.float32)
    floats = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
    kinds = ["bool", "uint8", "int8", "int16", "int32", "int64", *floats]
    tensors = {kind: torch.tensor([0, 1, 3]).to(getattr(torch, kind)) for kind in kinds}
    numbers = torch.tensor([1.5, -448.0, 0.015625])
    small = {kind: numbers.to(getattr(torch, f"float8_{kind}")) for kind in ("e4m3fn", "e5m2")}
    checkpoint = {
        "model": OrderedDict(tensors),
        "views": [
            base.view(4, 6)[1:3, 1:6:2],
            base.view(4, 6).t(),
            base[:2].expand(3, 2),
            base[20],
            torch.zeros(0, 3),
        ],
        "same": [base, base],
        "small": list(small.values()),
        "unsigned": torch.tensor([1, 65535], dtype=torch.uint16),
        "parameter": nn.Parameter(torch.ones(2)),
        "epoch": 3,
        "size": base.view(4, 6).size(),
        "device": torch.device("cpu"),
        "optimizer": torch.optim.Adam([nn.Parameter(torch.ones(2))]).state_dict(),
    }
    torch.save(checkpoint, FOLDER / "checkpoint.pt")
    torch.save(nn.Linear(1, 1).state_dict(), FOLDER / "old.pth", _use_new_zipfile_serialization=False)
    torch.save(nn.Linear(1, 1), FOLDER / "whole.pth")
    del tensors["complex128"]
    save_file({**tensors, **small}, FOLDER / "dtypes.safetensors")


if __name__ == "__main__":
    main()

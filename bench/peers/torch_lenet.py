"""Worker: LeNet training steps in torch (eager), ``python -m bench.peers.torch_lenet BATCH``."""

from __future__ import annotations

import sys

import torch
import torch.nn.functional as F
from torch import nn

from bench.peers.protocol import lenet_batch, lenet_weights, serve, threads


class LeNet(nn.Module):
    """The network of the training document."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.linear1 = nn.Linear(400, 120)
        self.linear2 = nn.Linear(120, 84)
        self.linear3 = nn.Linear(84, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits ``[N, 10]`` of images ``[N, 1, 28, 28]``."""
        x = F.relu(F.max_pool2d(F.relu(self.conv1(x)), 2))
        x = torch.flatten(F.max_pool2d(self.conv2(x), 2), 1)
        x = F.relu(self.linear1(x))
        x = F.relu(self.linear2(x))
        return self.linear3(x)


def main(batch: int) -> None:
    """Serve training steps."""
    torch.set_num_threads(threads())
    model = LeNet()
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), lenet_weights(), strict=True):
            weight = torch.from_numpy(value)
            parameter.copy_(weight.T if weight.ndim == 2 else weight)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    x, y = (torch.from_numpy(array) for array in lenet_batch(batch))

    def repeat(count: int, _job: str) -> dict[str, float]:
        for _ in range(count):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        return {"loss": loss.item()}

    serve(f"torch {torch.__version__}", repeat)


if __name__ == "__main__":
    main(int(sys.argv[1]))

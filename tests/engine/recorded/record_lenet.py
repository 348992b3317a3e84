"""Records LeNet's gradients from torch in float64: run with an interpreter that has torch.

python tests/engine/recorded/record_lenet.py > tests/engine/recorded/lenet_gradients.json
"""

import json
import sys

import numpy as np
import torch
from torch import nn


def formula_weights(shape, k):
    n = int(np.prod(shape))
    return (np.sin(np.arange(n) * 0.37 + k) / np.sqrt(max(n // shape[0], 1))).reshape(shape)


net = nn.Sequential(
    nn.Conv2d(1, 6, 5, padding=2),
    nn.ReLU(),
    nn.MaxPool2d(2, 2),
    nn.ReLU(),
    nn.Conv2d(6, 16, 5),
    nn.MaxPool2d(2, 2),
    nn.Flatten(),
    nn.Linear(400, 120),
    nn.ReLU(),
    nn.Linear(120, 84),
    nn.ReLU(),
    nn.Linear(84, 10),
).double()
linear = {id(m.weight) for m in net if isinstance(m, nn.Linear)}
with torch.no_grad():
    for k, p in enumerate(net.parameters()):
        if id(p) in linear:  # torch keeps the transpose
            p.copy_(torch.tensor(formula_weights(tuple(p.shape)[::-1], k).T.copy()))
        else:
            p.copy_(torch.tensor(formula_weights(tuple(p.shape), k)))
x = torch.tensor(np.cos(np.arange(4 * 784) * 0.11).reshape(4, 1, 28, 28) * 0.5 + 0.5)
loss = nn.functional.cross_entropy(net(x), torch.tensor([3, 1, 4, 1]))
loss.backward()
gradients = []
for p in net.parameters():
    g = (p.grad.T if id(p) in linear else p.grad).reshape(-1).numpy()
    places = np.unique(np.linspace(0, g.size - 1, 64).astype(int))
    norm = float(np.linalg.norm(g))
    gradients.append({"norm": norm, "places": places.tolist(), "values": g[places].tolist()})
json.dump({"torch": torch.__version__, "loss": loss.item(), "gradients": gradients}, sys.stdout)

"""Two hidden layers with dropout between them. Input [N, 1, 28, 28], output [N, 10]."""

import engine as paddle
import engine.nn.functional as F
from engine import nn


class MLP(nn.Layer):
    def __init__(self, hidden=128):
        super().__init__()
        self.linear1 = nn.Linear(28 * 28, hidden)
        self.linear2 = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(0.2)
        self.linear3 = nn.Linear(hidden, 10)

    def forward(self, x):
        x = paddle.flatten(x, start_axis=1)
        x = F.relu(self.linear1(x))
        x = self.dropout(F.relu(self.linear2(x)))
        return self.linear3(x)

"""An LSTM that reads an image row by row. Input [N, 1, 28, 28], output [N, 10]."""

import engine as paddle
from engine import nn


class Recurrent(nn.Layer):
    def __init__(self, hidden=48):
        super().__init__()
        self.lstm = nn.LSTM(28, hidden)
        self.linear = nn.Linear(hidden, 10)

    def forward(self, x):
        rows = paddle.squeeze(x, axis=1)  # [N, 28 rows, 28 pixels]
        read, _ = self.lstm(rows)
        return self.linear(read[:, -1])  # after the last row

"""A recurrent network that reads a sequence step by step. Input [N, steps, values]."""

import engine
from engine import nn


class Recurrent(nn.Layer):
    """An LSTM or GRU; its output after the last step goes to a linear layer.

    With ``masked`` the last value of a step is 1, and 0 where the sequence has ended: the network then uses
    its output after the last step that is 1.
    """

    def __init__(self, values=1, outputs=10, cell="lstm", hidden=64, layers=1, masked=False):
        super().__init__()
        self.masked = masked
        inputs = values - 1 if masked else values
        network = nn.LSTM if cell == "lstm" else nn.GRU
        self.recurrent = network(inputs, hidden, num_layers=layers)
        self.linear = nn.Linear(hidden, outputs)

    def forward(self, x):
        if not self.masked:
            y, _ = self.recurrent(x)
            return self.linear(y[:, -1])
        mask = x[:, :, -1:]
        y, _ = self.recurrent(x[:, :, :-1])
        # 1 at the last step of each sequence, 0 at all others.
        last = mask - engine.concat([mask[:, 1:], engine.zeros_like(mask[:, :1])], axis=1)
        return self.linear(engine.sum(y * last, axis=1))

"""A small transformer encoder over a sequence. Input [N, steps, values]."""

import engine
from engine import nn


class Transformer(nn.Layer):
    """Self-attention over all steps; the mean of the steps goes to a linear layer.

    With ``masked`` the last value of a step is 1, and 0 where the sequence has ended: the other steps then
    ignore it.
    """

    def __init__(
        self, steps=28, values=1, outputs=10, width=32, heads=4, layers=2, dropout=0.0, masked=False
    ):
        super().__init__()
        self.masked = masked
        inputs = values - 1 if masked else values
        self.embed = nn.Linear(inputs, width)
        self.positions = self.create_parameter(
            [1, steps, width], default_initializer=nn.initializer.Normal(std=0.02)
        )
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, dropout=dropout, normalize_before=True)
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width))
        self.linear = nn.Linear(width, outputs)

    def forward(self, x):
        if not self.masked:
            y = self.encoder(self.embed(x) + self.positions)
            return self.linear(engine.mean(y, axis=1))
        mask = x[:, :, -1:]
        hidden = (engine.transpose(mask, [0, 2, 1]) - 1.0) * 1e9
        y = self.encoder(self.embed(x[:, :, :-1]) + self.positions, engine.unsqueeze(hidden, 1))
        return self.linear(engine.sum(y * mask, axis=1) / engine.sum(mask, axis=1))

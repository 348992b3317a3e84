"""One linear layer from pixels or columns to the outputs: the smallest model, a yardstick for all."""

import engine
from engine import nn


class Linear(nn.Layer):
    """Softmax regression for classes, linear regression for numbers. Input [N, ...] of ``features`` values.

    ``words`` has for each column how many words it knows, 0 for a column of numbers: the model is fed the
    index of a word, 0 for an unknown one, and learns one value of each word for each output.
    """

    def __init__(self, features=28 * 28, outputs=10, words=()):
        super().__init__()
        self.numbers = [column for column, count in enumerate(words) if not count]
        self.texts = [column for column, count in enumerate(words) if count]
        in_features = len(self.numbers) if self.texts else features
        self.linear = nn.Linear(in_features=max(in_features, 1), out_features=outputs)
        self.values = nn.LayerList([nn.Embedding(words[column] + 1, outputs) for column in self.texts])

    def forward(self, x):
        x = engine.flatten(x, start_axis=1, stop_axis=-1)
        if not self.texts:
            return self.linear(x)
        columns = [x[:, column : column + 1] for column in self.numbers] or [engine.zeros_like(x[:, :1])]
        y = self.linear(engine.concat(columns, axis=1))
        for embedding, column in zip(self.values, self.texts, strict=True):
            y = y + embedding(engine.cast(x[:, column], "int64"))
        return y

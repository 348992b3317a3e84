"""A multilayer perceptron: hidden layers with ReLU and dropout. Input [N, ...] of ``features`` values."""

import engine
import engine.nn.functional as F
from engine import nn


class MLP(nn.Layer):
    """For rows of a table, and for small images.

    ``words`` has for each column how many words it knows, 0 for a column of numbers: the model is fed the
    index of a word, 0 for an unknown one, and learns a vector for each word.
    """

    def __init__(self, features=28 * 28, outputs=10, words=(), hidden=64, layers=2, dropout=0.0):
        super().__init__()
        self.numbers = [column for column, count in enumerate(words) if not count]
        self.texts = [column for column, count in enumerate(words) if count]
        sizes = [min(16, words[column] // 2 + 1) for column in self.texts]
        self.vectors = nn.LayerList(
            [nn.Embedding(words[column] + 1, size) for column, size in zip(self.texts, sizes, strict=True)]
        )
        width = len(self.numbers) + sum(sizes) if self.texts else features
        self.hidden = nn.LayerList()
        for _ in range(layers):
            self.hidden.append(nn.Linear(width, hidden))
            width = hidden
        self.dropout = nn.Dropout(dropout)
        self.last = nn.Linear(width, outputs)

    def forward(self, x):
        x = engine.flatten(x, start_axis=1, stop_axis=-1)
        if self.texts:
            columns = [x[:, column : column + 1] for column in self.numbers]
            for embedding, column in zip(self.vectors, self.texts, strict=True):
                columns.append(embedding(engine.cast(x[:, column], "int64")))
            x = engine.concat(columns, axis=1)
        for layer in self.hidden:
            x = self.dropout(F.relu(layer(x)))
        return self.last(x)

"""A Transformer that copies: encoder, decoder, masks, and one layer looked at by itself."""

import math

import numpy as np
import paddle
import paddle.nn as nn

paddle.seed(3)
rng = np.random.RandomState(3)
VOCAB, DIM, LENGTH = 12, 16, 6


class PositionalEncoding(nn.Layer):
    def __init__(self, d_model, max_len=32):
        super().__init__()
        pe = paddle.zeros([max_len, d_model])
        position = paddle.arange(0, max_len, dtype=paddle.get_default_dtype()).unsqueeze(1)
        div_term = paddle.exp(paddle.arange(0, d_model, 2).astype(paddle.get_default_dtype()) * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = paddle.sin(position * div_term)
        pe[:, 1::2] = paddle.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return x + self.pe[:, : x.shape[1]]


class Copier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.position = PositionalEncoding(DIM)
        self.transformer = nn.Transformer(DIM, 4, 1, 1, 32, dropout=0.0)
        self.out = nn.Linear(DIM, VOCAB)

    def forward(self, src, tgt):
        mask = self.transformer.generate_square_subsequent_mask(tgt.shape[1])
        hidden = self.transformer(
            self.position(self.embed(src)), self.position(self.embed(tgt)), None, mask, None
        )
        return self.out(hidden)


model = Copier()
opt = paddle.optimizer.Adam(
    learning_rate=paddle.optimizer.lr.LinearWarmup(0.01, 5, 0.0, 0.01), parameters=model.parameters()
)
for step in range(10):
    src = rng.randint(1, VOCAB, (16, LENGTH))
    tgt = np.concatenate([np.zeros((16, 1), "int64"), src[:, :-1]], 1)
    logits = model(paddle.to_tensor(src), paddle.to_tensor(tgt))
    loss = nn.functional.cross_entropy(logits.reshape([-1, VOCAB]), paddle.to_tensor(src).reshape([-1]))
    loss.backward()
    opt.step()
    opt._learning_rate.step()
    opt.clear_grad()
    if step % 3 == 0:
        print("step", step, "loss %.4f" % loss.item(), "rate %.4f" % opt.get_lr())
print(model.transformer.encoder.layers[0].self_attn.num_heads, len(model.state_dict()))

attention = nn.MultiHeadAttention(8, 2, need_weights=True)
query = paddle.to_tensor(rng.rand(1, 3, 8).astype("float32"))
output, weights = attention(query, query, query, attn_mask=paddle.tril(paddle.ones([3, 3])).astype("bool"))
print(output.shape, np.round(weights.numpy()[0, 0], 3).tolist())
cache = attention.gen_cache(query)
out, w, cache = attention(query[:, :1], query[:, :1], query[:, :1], None, cache)
print(out.shape, cache.k.shape)

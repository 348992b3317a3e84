"""Addition by a recurrent network: "12+7" as letters in, "19 " as letters out."""

import random

import numpy as np
import paddle
import paddle.nn as nn

MAX_LEN, DIGITS = 5, 2
chars = "0123456789+ "
char_to_idx = {c: i for i, c in enumerate(chars)}
random.seed(1)
np.random.seed(1)
paddle.seed(1)


def encode(text, length):
    return [char_to_idx[c] for c in text.ljust(length)]


questions, answers, seen = [], [], set()
while len(questions) < 256:
    a, b = random.randint(0, 99), random.randint(0, 99)
    if (a, b) in seen:
        continue
    seen.add((a, b))
    questions.append(encode(f"{a}+{b}", MAX_LEN))
    answers.append(encode(str(a + b), DIGITS + 1))
questions, answers = np.array(questions, "int64"), np.array(answers, "int64")
print(questions[0].tolist(), answers[0].tolist())


class AdditionModel(nn.Layer):
    def __init__(self, size=32, hidden=64):
        super().__init__()
        self.emb = nn.Embedding(len(chars), size)
        self.encoder = nn.LSTM(size, hidden, 1)
        self.decoder = nn.LSTM(hidden, hidden, 1)
        self.fc = nn.Linear(hidden, len(chars))

    def forward(self, inputs, labels=None):
        out = self.emb(inputs)
        out, (h, c) = self.encoder(out)
        out = paddle.expand(h.transpose([1, 0, 2]), [h.shape[1], DIGITS + 1, h.shape[2]])
        out, _ = self.decoder(out)
        out = self.fc(out)
        if labels is None:
            return paddle.argmax(out, axis=-1)
        loss = nn.functional.cross_entropy(out, labels.unsqueeze(-1))
        hits = (out.argmax(-1) == labels).all(axis=-1).astype("float32").mean()
        return loss, hits


model = AdditionModel()
opt = paddle.optimizer.Adam(0.01, parameters=model.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))
for epoch in range(4):
    for start in range(0, 256, 64):
        loss, hits = model(
            paddle.to_tensor(questions[start : start + 64]), paddle.to_tensor(answers[start : start + 64])
        )
        loss.backward()
        opt.step()
        opt.clear_grad()
    print("epoch", epoch, "loss %.4f" % loss.item(), "right %.3f" % hits.item())
print(model(paddle.to_tensor(questions[:2])).shape, model.encoder.state_dict().keys())

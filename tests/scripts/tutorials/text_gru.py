"""Sentences of different length, padded and classified by a GRU, with an own batch function."""

import numpy as np
import paddle
import paddle.nn as nn

paddle.seed(0)
np.random.seed(0)
good = ["a fine film", "what a lovely day", "lovely and fine", "i like this film a lot", "fine day"]
bad = ["a dull film", "what a boring day", "boring and dull", "i hate this film a lot", "dull day"]
samples = [(s, 1) for s in good] + [(s, 0) for s in bad]
vocab = {"[PAD]": 0, "[UNK]": 1}
for text, _ in samples:
    for word in text.split():
        vocab.setdefault(word, len(vocab))


class Sentences(paddle.io.Dataset):
    def __len__(self):
        return len(samples)

    def __getitem__(self, i):
        text, label = samples[i]
        return [vocab.get(w, 1) for w in text.split()], label


def collate(batch):
    lengths = [len(words) for words, _ in batch]
    ids = np.zeros((len(batch), max(lengths)), "int64")
    for row, (words, _) in zip(ids, batch):
        row[: len(words)] = words
    return paddle.to_tensor(ids), paddle.to_tensor(lengths), paddle.to_tensor([label for _, label in batch])


class Classifier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(len(vocab), 8, padding_idx=0)
        self.gru = nn.GRU(8, 12, direction="bidirect", num_layers=2, dropout=0.1)
        self.fc = nn.Linear(24, 2)

    def forward(self, ids, lengths):
        out, last = self.gru(self.embedding(ids), sequence_length=lengths)
        pooled = paddle.concat([last[-2], last[-1]], axis=-1)
        return self.fc(pooled)


sampler = paddle.io.BatchSampler(Sentences(), batch_size=5, shuffle=True)
loader = paddle.io.DataLoader(Sentences(), batch_sampler=sampler, collate_fn=collate)
model = Classifier()
optimizer = paddle.optimizer.AdamW(0.05, parameters=model.parameters(), weight_decay=0.01)
criterion = nn.CrossEntropyLoss()
metric = paddle.metric.Accuracy()
for epoch in range(4):
    model.train()
    metric.reset()
    for ids, lengths, labels in loader:
        logits = model(ids, lengths)
        loss = criterion(logits, labels)
        metric.update(metric.compute(logits, labels.unsqueeze(1)))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    print("epoch", epoch, "shape", list(ids.shape), "loss %.4f" % loss, "accuracy %.2f" % metric.accumulate())
model.eval()
ids, lengths, labels = collate([Sentences()[0], Sentences()[5]])
print(nn.functional.softmax(model(ids, lengths)).argmax(-1).tolist(), sum(p.size for p in model.parameters()))

"""An n-gram language model: two words give the third."""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle.nn import Embedding, Linear

text = """the day had begun when the old clock of the tower struck and the birds of the old town flew up
from the roofs of the town into the light of the day and the day went on as the clock went on and
nobody of the town looked up when the birds came back to the roofs at the end of the day"""
words = text.split()
trigrams = [((words[i], words[i + 1]), words[i + 2]) for i in range(len(words) - 2)]
vocab = sorted(set(words))
word_to_idx = {word: i for i, word in enumerate(vocab)}
idx_to_word = {i: word for word, i in word_to_idx.items()}
print(len(words), "words,", len(vocab), "different,", len(trigrams), "trigrams")
print(trigrams[:2])

paddle.seed(102)
np.random.seed(102)


class TrainDataset(paddle.io.Dataset):
    def __init__(self, tuple_data):
        self.tuple_data = tuple_data

    def __getitem__(self, idx):
        data = np.array([word_to_idx[w] for w in self.tuple_data[idx][0]])
        label = np.array(word_to_idx[self.tuple_data[idx][1]])
        return data, label

    def __len__(self):
        return len(self.tuple_data)


class NGramModel(paddle.nn.Layer):
    def __init__(self, vocab_size, embedding_dim, context_size):
        super().__init__()
        self.embedding = Embedding(vocab_size, embedding_dim)
        self.linear1 = Linear(context_size * embedding_dim, 64)
        self.linear2 = Linear(64, vocab_size)

    def forward(self, x):
        x = self.embedding(x)
        x = paddle.reshape(x, [x.shape[0], -1])
        x = F.relu(self.linear1(x))
        return self.linear2(x)


loader = paddle.io.DataLoader(
    TrainDataset(trigrams), return_list=True, shuffle=True, batch_size=16, drop_last=True
)
model = NGramModel(len(vocab), 12, 2)
model.train()
optim = paddle.optimizer.Adam(learning_rate=0.02, parameters=model.parameters())
for epoch in range(6):
    losses = []
    for batch_id, data in enumerate(loader()):
        predicts = model(data[0])
        loss = F.cross_entropy(predicts, data[1])
        loss.backward()
        losses.append(float(loss.numpy()))
        optim.step()
        optim.clear_grad()
    print("epoch: {}, loss is: {:.4f}".format(epoch, np.mean(losses)))
model.eval()
words_in = [word_to_idx["of"], word_to_idx["the"]]
guess = model(paddle.to_tensor(np.array([words_in]), dtype="int64"))
print("of the ->", idx_to_word[int(paddle.argmax(guess, axis=1))])

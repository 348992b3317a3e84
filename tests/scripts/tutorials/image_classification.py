"""Image classification with the high-level interface: LeNet on pictures of bars, trained by ``Model.fit``."""

import numpy as np
import paddle
import paddle.nn as nn
from paddle.metric import Accuracy
from paddle.vision.models import LeNet
from paddle.vision.transforms import Compose, Normalize

paddle.seed(33)
np.random.seed(33)


class Bars(paddle.io.Dataset):
    """Horizontal and vertical bars at ten places."""

    def __init__(self, mode="train", transform=None):
        super().__init__()
        rng = np.random.RandomState(0 if mode == "train" else 1)
        self.labels = rng.randint(0, 10, 96 if mode == "train" else 40)
        self.images = rng.rand(len(self.labels), 28, 28, 1).astype("float32") * 60
        for image, label in zip(self.images, self.labels):
            if label < 5:
                image[label * 5 + 2 : label * 5 + 5] += 180
            else:
                image[:, (label - 5) * 5 + 2 : (label - 5) * 5 + 5] += 180
        self.transform = transform

    def __getitem__(self, index):
        image = self.images[index]
        if self.transform is not None:
            image = self.transform(image)
        return image, np.array([self.labels[index]], dtype="int64")

    def __len__(self):
        return len(self.labels)


transform = Compose([Normalize(mean=[127.5], std=[127.5], data_format="HWC"), lambda x: x.transpose((2, 0, 1))])
train_dataset = Bars("train", transform)
test_dataset = Bars("test", transform)
print("train images:", len(train_dataset), " test images:", len(test_dataset))

model = paddle.Model(LeNet())
optim = paddle.optimizer.Adam(learning_rate=0.003, parameters=model.parameters())
model.prepare(optim, nn.CrossEntropyLoss(), Accuracy(topk=(1, 3)))
model.summary((1, 1, 28, 28))
model.fit(train_dataset, test_dataset, epochs=3, batch_size=32, verbose=0, shuffle=False)
result = model.evaluate(test_dataset, batch_size=20, verbose=0)
print({k: np.round(np.asarray(v), 3).tolist() for k, v in result.items()})
answers = model.predict(test_dataset, batch_size=8, stack_outputs=True, verbose=0)
print(answers[0].shape, answers[0].argmax(1)[:10].tolist())
model.save("bars/lenet")
again = paddle.Model(LeNet())
again.prepare(paddle.optimizer.Adam(parameters=again.parameters()), nn.CrossEntropyLoss(), Accuracy())
again.load("bars/lenet")
print(np.allclose(again.predict_batch([test_dataset[0][0][None]])[0], answers[0][:1], atol=1e-5))

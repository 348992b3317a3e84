"""A convolutional autoencoder, then super resolution by pixel shuffle, then cosine-metric learning."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(1)
rng = np.random.RandomState(8)
images = paddle.to_tensor(rng.rand(8, 1, 16, 16).astype("float32"))


class AutoEncoder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            ("conv1", nn.Conv2D(1, 4, 3, stride=2, padding=1)), ("act", nn.ReLU()), ("pool", nn.MaxPool2D(2, 2))
        )
        self.up = nn.Conv2DTranspose(4, 4, 4, stride=2, padding=1)
        self.out = nn.Conv2DTranspose(4, 1, 2, stride=2)

    def forward(self, x):
        x = self.encoder(x)
        x = F.relu(self.up(x))
        return F.sigmoid(self.out(x))


net = AutoEncoder()
opt = paddle.optimizer.RMSProp(0.005, parameters=net.parameters(), centered=True, momentum=0.5)
for step in range(6):
    loss = F.mse_loss(net(images), images)
    loss.backward()
    opt.minimize(loss)
    net.clear_gradients()
print("autoencoder %.5f" % loss.item(), net(images).shape)
print(net.encoder)


class SuperResolution(nn.Layer):
    def __init__(self, factor=2):
        super().__init__()
        self.conv1 = nn.Conv2D(1, 8, 5, padding="same")
        self.conv2 = nn.Conv2D(8, factor**2, 3, padding="SAME", weight_attr=paddle.ParamAttr(initializer=nn.initializer.KaimingNormal()))
        self.shuffle = nn.PixelShuffle(factor)

    def forward(self, x):
        return self.shuffle(self.conv2(F.gelu(self.conv1(x), approximate=True)))


sr = SuperResolution()
opt = paddle.optimizer.Adagrad(0.05, parameters=sr.parameters(), weight_decay=paddle.regularizer.L2Decay(1e-4))
small = F.interpolate(images, scale_factor=0.5, mode="bilinear")
for step in range(5):
    loss = F.l1_loss(sr(small), images) + 0.1 * F.smooth_l1_loss(sr(small), images)
    loss.backward()
    opt.step()
    opt.clear_grad()
print("super resolution %.5f" % loss.item(), sr(small).shape)


class Embed(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 4, (3, 3), stride=(2, 2), bias_attr=False)
        self.gloabl_pool = nn.AdaptiveAvgPool2D((1, 1))
        self.fc = nn.Linear(4, 5)

    def forward(self, x):
        x = self.gloabl_pool(F.relu(self.conv(x)))
        x = paddle.squeeze(x, axis=[2, 3])
        x = self.fc(x)
        return x / paddle.norm(x, axis=1, keepdim=True)


embed = Embed()
opt = paddle.optimizer.Adamax(0.02, parameters=[{"params": embed.conv.parameters(), "learning_rate": 0.5}, {"params": embed.fc.parameters()}])
for step in range(5):
    anchors, positives = embed(images[:4]), embed(images[4:])
    similarities = paddle.matmul(anchors, positives, transpose_y=True) * 5.0
    loss = F.cross_entropy(similarities, paddle.arange(4, dtype="int64"))
    loss.backward()
    opt.step()
    opt.clear_grad()
print("metric learning %.5f" % loss.item(), [round(v, 4) for v in paddle.diag(similarities).tolist()])
print(F.cosine_similarity(anchors, positives, axis=1).shape, F.triplet_margin_loss(anchors, positives, anchors.flip(0)).item() > 0)

"""Datasets, samplers and loaders in the many forms that scripts use."""

import numpy as np
import paddle
from paddle.io import (
    BatchSampler, ChainDataset, ComposeDataset, ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler,
    SequenceSampler, Subset, TensorDataset, WeightedRandomSampler, random_split,
)

np.random.seed(11)
paddle.seed(11)


class Squares(Dataset):
    def __init__(self, n):
        self.n = n

    def __getitem__(self, i):
        return np.array([i], "float32"), np.int64(i * i)

    def __len__(self):
        return self.n


class Count(IterableDataset):
    def __init__(self, start, end):
        self.start, self.end = start, end

    def __iter__(self):
        for i in range(self.start, self.end):
            yield np.array([i])


for x, y in DataLoader(Squares(7), batch_size=3, drop_last=False):
    print(x.shape, x.dtype, y.shape, y.dtype, y.tolist())
print([b[0].tolist() for b in DataLoader(Count(0, 5), batch_size=2)])
loader = DataLoader(Squares(10), batch_size=4, shuffle=True, num_workers=0)
print(len(loader), [y.tolist() for _, y in loader], [y.tolist() for _, y in loader])
print([int(y.sum()) for _, y in DataLoader(Squares(6), batch_sampler=BatchSampler(sampler=SequenceSampler(Squares(6)), batch_size=4))])
print(list(RandomSampler(Squares(6))), list(RandomSampler(Squares(4), replacement=True, num_samples=6)))
print(list(WeightedRandomSampler(np.array([0.1, 0.3, 0.6]), 5)))
a, b = random_split(Squares(8), [5, 3])
print(len(a), len(b), sorted(a.indices + b.indices))
print([int(Subset(Squares(9), [2, 4])[i][1]) for i in range(2)], len(ConcatDataset([Squares(2), Squares(3)])))
print(len(ComposeDataset([Squares(3), Squares(3)])[1]), [int(v[0]) for v in ChainDataset([Count(0, 2), Count(5, 7)])])
tensors = TensorDataset([paddle.arange(6).reshape([3, 2]), paddle.to_tensor([1, 0, 1])])
print(len(tensors), tensors[1][0].tolist(), tensors[1][1].item())


class AsDict(Dataset):
    def __getitem__(self, i):
        return {"x": np.full(2, i, "float64"), "name": f"n{i}", "deep": [i, (i + 0.5, np.int32(i))]}

    def __len__(self):
        return 4


batch = next(iter(DataLoader(AsDict(), batch_size=2)))
print(batch["x"].shape, batch["x"].dtype, batch["name"], batch["deep"][0].tolist(), batch["deep"][1][0].dtype)
loader = DataLoader(Squares(4), batch_size=None)
print([x.shape for x, _ in loader][:2])
for i, (x, y) in enumerate(DataLoader(Squares(5), batch_size=2, shuffle=False, places=paddle.CPUPlace(), return_list=True)()):
    print(i, float(x.mean()), y.numpy().sum())


def reader():
    for i in range(5):
        yield [i, i * 2]


print([rows for rows in paddle.batch(reader, batch_size=2)()])

"""Datasets, samplers and the DataLoader, where nothing is drawn at random."""

_ITEMS = """
class Items(paddle.io.Dataset):
    def __init__(self, make, count=5):
        self.make, self.count = make, count
    def __getitem__(self, index):
        return self.make(index)
    def __len__(self):
        return self.count
"""
_STREAM = """
class Stream(paddle.io.IterableDataset):
    def __init__(self, first, last):
        self.first, self.last = first, last
    def __iter__(self):
        return iter(range(self.first, self.last))
"""
_LOADED = _ITEMS + "list(paddle.io.DataLoader(Items(lambda i: {}), {}))"
_STREAMED = _STREAM + "[batch for batch in paddle.io.DataLoader(Stream(0, 5), {})]"

CALLS: dict[str, str] = {
    "DataLoader/integers": _LOADED.format("i", "batch_size=2"),
    "DataLoader/floats": _LOADED.format("i / 2", "batch_size=2"),
    "DataLoader/truth values": _LOADED.format("i > 2", "batch_size=3"),
    "DataLoader/pairs": _LOADED.format("(np.full([2], i, 'float32'), i)", "batch_size=2"),
    "DataLoader/lists": _LOADED.format("[np.full([2], i, 'float32'), [i, i + 1]]", "batch_size=2"),
    "DataLoader/dicts": _LOADED.format("{'x': np.full([2], i, 'int32'), 'y': float(i)}", "batch_size=2"),
    "DataLoader/tensors": _LOADED.format("paddle.full([2], i)", "batch_size=2"),
    "DataLoader/strings": _LOADED.format("('s' * i, i)", "batch_size=2"),
    "DataLoader/NumPy's scalars": _LOADED.format("np.float32(i)", "batch_size=2"),
    "DataLoader/last one dropped": _LOADED.format("i", "batch_size=2, drop_last=True"),
    "DataLoader/one by one": _LOADED.format("(np.full([2], i, 'float32'), i)", "batch_size=None"),
    "DataLoader/collate_fn": _LOADED.format("i", "batch_size=2, collate_fn=lambda b: np.array(b) * 10"),
    "DataLoader/batch_sampler": "order = paddle.io.SequenceSampler([7, 7, 7])\n" + _LOADED.format(
        "i", "batch_sampler=paddle.io.BatchSampler(sampler=order, batch_size=2)"
    ),
    "DataLoader/called": _ITEMS + "list(paddle.io.DataLoader(Items(lambda i: i), batch_size=4)())",
    "DataLoader/length": _ITEMS + "len(paddle.io.DataLoader(Items(lambda i: i), batch_size=2))",
    "DataLoader/length without batches": (
        _ITEMS + "len(paddle.io.DataLoader(Items(lambda i: i), batch_size=None))"
    ),
    "DataLoader/iterable": _STREAMED.format("batch_size=2"),
    "DataLoader/iterable, last dropped": _STREAMED.format("batch_size=2, drop_last=True"),
    "raises/length of an iterable": _STREAM + "len(paddle.io.DataLoader(Stream(0, 5), batch_size=2))",
    "raises/iterable shuffled": _STREAM + "paddle.io.DataLoader(Stream(0, 5), shuffle=True)",
    "raises/batch of size 0": _ITEMS + "paddle.io.DataLoader(Items(lambda i: i), batch_size=0)",
    "raises/workers below 0": _ITEMS + "paddle.io.DataLoader(Items(lambda i: i), num_workers=-1)",
    "raises/sampler and shuffle": (
        _ITEMS + "paddle.io.DataLoader(Items(lambda i: i), batch_sampler=[[0]], shuffle=True)"
    ),
    "TensorDataset": (
        "d = paddle.io.TensorDataset([t([3, 2]), ints([3], 5)])\n(len(d), [x.numpy() for x in d[1]])"
    ),
    "raises/TensorDataset of two lengths": "paddle.io.TensorDataset([t([3]), t([2])])",
    "ComposeDataset": (
        _ITEMS + "d = paddle.io.ComposeDataset([Items(lambda i: (i, -i)), Items(lambda i: [i * 10])])\n"
        "(len(d), d[3])"
    ),
    "raises/ComposeDataset of two lengths": (
        _ITEMS + "paddle.io.ComposeDataset([Items(lambda i: i), Items(lambda i: i, 4)])"
    ),
    "ChainDataset": _STREAM + "[x for x in paddle.io.ChainDataset([Stream(0, 2), Stream(5, 7)])]",
    "ConcatDataset": (
        _ITEMS + "d = paddle.io.ConcatDataset([Items(lambda i: i), Items(lambda i: -i, 3)])\n"
        "(len(d), d[4], d[5], d[7], d[-1], d.cumulative_sizes)"
    ),
    "raises/ConcatDataset beyond its end": (
        _ITEMS + "paddle.io.ConcatDataset([Items(lambda i: i), Items(lambda i: i)])[-11]"
    ),
    "Subset": _ITEMS + "d = paddle.io.Subset(Items(lambda i: i * i), [4, 1])\n(len(d), d[0], d[1])",
    "random_split/lengths": (
        _ITEMS + "parts = paddle.io.random_split(Items(lambda i: i), [3, 2])\n"
        "([len(p) for p in parts], sorted(p[i] for p in parts for i in range(len(p))))"
    ),
    "raises/random_split": _ITEMS + "paddle.io.random_split(Items(lambda i: i), [3, 3])",
    "SequenceSampler": "s = paddle.io.SequenceSampler([7, 8, 9])\n(len(s), list(s))",
    "RandomSampler": "s = paddle.io.RandomSampler([7, 8, 9])\n(len(s), sorted(s))",
    "RandomSampler/replacement": (
        "s = paddle.io.RandomSampler([7, 8, 9], replacement=True, num_samples=6)\n(len(s), len(list(s)))"
    ),
    "RandomSampler/generator": "list(paddle.io.RandomSampler([7, 8, 9], generator=iter([2, 2, 0, 1])))",
    "raises/RandomSampler without replacement": "paddle.io.RandomSampler([7, 8, 9], num_samples=2)",
    "raises/RandomSampler of a word": "paddle.io.RandomSampler([7, 8, 9], replacement='yes')",
    "WeightedRandomSampler": (
        "s = paddle.io.WeightedRandomSampler(np.array([0.0, 0.0, 3.0]), 4)\nlist(s)"
    ),
    "WeightedRandomSampler/different ones": (
        "sorted(paddle.io.WeightedRandomSampler(np.array([0.1, 0.2, 0.0, 3.0]), 3, replacement=False))"
    ),
    "SubsetRandomSampler": "sorted(paddle.io.SubsetRandomSampler([7, 8, 9]))",
    "raises/SubsetRandomSampler of nothing": "paddle.io.SubsetRandomSampler([])",
    "BatchSampler": (
        "s = paddle.io.BatchSampler(dataset=[7, 8, 9], batch_size=2)\n(len(s), list(s), s.drop_last)"
    ),
    "BatchSampler/drop_last": (
        "s = paddle.io.BatchSampler(dataset=[7, 8, 9], batch_size=2, drop_last=True)\n(len(s), list(s))"
    ),
    "raises/BatchSampler without data": "paddle.io.BatchSampler(batch_size=2)",
    **{
        f"DistributedBatchSampler/{count} in {size}s, {rank} of {replicas}{', ' + more if more else ''}": (
            f"s = paddle.io.DistributedBatchSampler(np.arange({count}), {size}, num_replicas={replicas}, "
            f"rank={rank}{', ' + more if more else ''})\n(len(s), list(s), list(s))"
        )
        for count, size, replicas, rank, more in [
            (10, 2, 1, 0, ""), (10, 2, 2, 0, ""), (10, 2, 2, 1, ""), (11, 3, 2, 1, ""),
            (11, 3, 2, 1, "drop_last=True"), (2, 1, 5, 4, ""), (12, 2, 3, 1, "shuffle=True"),
            (7, 3, 2, 0, "shuffle=True, drop_last=True"),
        ]
    },
    "DistributedBatchSampler/set_epoch": (
        "s = paddle.io.DistributedBatchSampler(np.arange(9), 2, 2, 1, shuffle=True)\n"
        "s.set_epoch(5)\n(list(s), s.epoch, s.num_samples, s.total_size)"
    ),
    "get_worker_info": "paddle.io.get_worker_info()",
    "batch": "list(paddle.batch(lambda: iter(range(5)), batch_size=2)())",
    "batch/drop_last": "list(paddle.batch(lambda: iter(range(5)), batch_size=2, drop_last=True)())",
    "raises/batch of 0": "paddle.batch(lambda: iter(range(5)), batch_size=0)",
    "reader/compose": (
        "list(paddle.reader.compose(lambda: iter([1, 2]), lambda: iter([(3, 4), (5, 6)]))())"
    ),
    "raises/reader/compose": "list(paddle.reader.compose(lambda: iter([1]), lambda: iter([3, 4]))())"
}

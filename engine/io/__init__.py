"""Data loading: datasets, samplers and the DataLoader."""

from typing import TYPE_CHECKING

from engine.core.lazy import lazy
from engine.io.batch_sampler import BatchSampler, DistributedBatchSampler
from engine.io.dataset import (
    ChainDataset,
    ComposeDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)
from engine.io.sampler import (
    RandomSampler,
    Sampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

if TYPE_CHECKING:
    from engine.io.reader import DataLoader
    from engine.io.worker import get_worker_info

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ComposeDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedBatchSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequenceSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "get_worker_info",
    "random_split",
]

# Reading brings processes and their transport along, which a program without a DataLoader does not need.
__getattr__ = lazy(
    __name__,
    members={"engine.io.reader": ("DataLoader",), "engine.io.worker": ("get_worker_info",)},
)

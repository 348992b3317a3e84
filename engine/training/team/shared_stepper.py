"""A step and an evaluation shared among ranks: each takes its part of the batch, the gradients are summed."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from engine.core.random.generator import default_generator
from engine.eager.grad_mode import no_grad
from engine.eager.tensor import Tensor, write
from engine.io.dataset import Dataset
from engine.io.fetching import Fetcher
from engine.io.reader import DataLoader, to_tensors
from engine.nn import Layer, SyncBatchNorm
from engine.optimizer import Optimizer
from engine.training.measuring.evaluation import Evaluation
from engine.training.randomness import measuring
from engine.training.rules.rate import Rate
from engine.training.rules.rules import Schedule
from engine.training.sources.preparing.prepare import Prepare
from engine.training.sources.several_inputs import Samples
from engine.training.sources.spec import DataSpec
from engine.training.stepper import Stepper, arrays_of
from engine.training.team.gradient_arena import GradientArena
from engine.training.team.team import BUILD, END, EPOCH, EVALUATE, RATE, STATE, STATISTICS, STEP, Team
from resources.training_events import RankPace

PACE_SECONDS = 1.0


class Positions(Dataset):
    """Replaces a dataset of ``length`` items where only their order is wanted: an item is its index."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: int) -> tuple[int, int]:
        return place, place

    def __getitems__(self, places: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        batch = np.asarray(places, np.int64)
        return batch, batch


class SharedLoss:
    """The loss of a whole batch; its ``backward`` delivers the gradients that were summed with it."""

    def __init__(self, value: float, arena: GradientArena) -> None:
        self._value, self._arena = value, arena

    def __float__(self) -> float:
        return self._value

    def backward(self) -> None:
        """Give the parameters the gradients of this loss."""
        self._arena.deliver()


class SharedStepper(Stepper):
    """The stepper of a rank that follows: carries out the orders of rank 0 until the training is over.

    The loss of a batch and its gradients are sums over the ranks, each weighted with its share of the
    images, so that they are those of one process but for rounding; all ranks hold the same bits. Dropout
    and what else is random in the network comes, in the ranks after the first, from separate streams for each
    step, derived from the seed: a resumed run draws the same numbers as an uninterrupted one.
    """

    def __init__(
        self,
        network: Layer,
        optimizer: Optimizer,
        static: bool,
        shape: tuple[int, ...],
        schedule: Schedule | None,
        loss: str,
        team: Team,
        train: Dataset,
        measured: Sequence[Dataset],
        test_batch: int,
        seed: int,
        scale: Prepare | None = None,
        class_weights: Sequence[float] = (),
        spec: DataSpec | None = None,
    ) -> None:
        super().__init__(network, optimizer, static, shape, schedule, loss, None, scale, class_weights, spec)
        self._team = team
        self._train_items, *self._measured_items = (
            Fetcher(each, None, True, 1, False) for each in (train, *measured)
        )
        self._test_batch = test_batch
        self._seed, self._shape = seed, shape
        layers = network.sublayers(include_self=True)
        self._synchronized = any(isinstance(layer, SyncBatchNorm) for layer in layers)
        self._step = self._shared_step
        self._learn = None  # each rank's gradients are weighted with its share
        self._arena = GradientArena(network.parameters())
        self._steps = 0  # of the run, those before a resume included
        self._count = 0  # images in the batch
        self._pace = np.zeros(2)  # of the last step: seconds of computing, seconds of waiting
        self.paces = np.zeros((team.size, 3))  # the sums of all ranks, and how many steps are in them

    # ----- what all ranks do -----

    def learn(self, batch: np.ndarray[Any, Any], go_on: bool) -> tuple[float, float | None]:
        """One step on the images at the places ``batch``, of which this rank takes its share."""
        begin, before = time.perf_counter(), self._team.waited
        if not self._team.leads:
            _seed_all(f"{self._seed}/{self._team.rank}/{self._steps}")
        mine = self._team.share(batch)
        images, labels = self._fetched(mine.tolist())
        self._count = len(batch)
        try:
            return super().train(images, labels, go_on)
        finally:
            self._steps += 1
            waited = self._team.waited - before
            self._pace = np.array([time.perf_counter() - begin - waited, waited])

    def _fetched(self, places: list[int]) -> Any:
        """Images and labels; of no places none, or empty ones where layers wait for those of all ranks."""
        if places:
            return to_tensors(self._train_items.fetch(places))
        if not self._synchronized:
            return None, None
        labels: Any = np.zeros((0, 1), np.int64)
        if self.scale is not None:
            labels = np.zeros((0, len(self.scale.target_mean)), np.float32)
        feeds = () if self._spec is None else self._spec.feeds
        if feeds:
            return to_tensors((tuple(np.zeros((0, *each.shape), each.dtype) for each in feeds), labels))
        return to_tensors((np.zeros((0, *self._shape), np.float32), labels))

    def _losses(self, step: Callable[..., Any], images: Any, labels: Any) -> tuple[Any, Any]:
        return self._shared_step(images, labels)

    def _shared_step(self, images: Any, labels: Any) -> tuple[Any, float | None]:
        """The forwards and backwards of all ranks; the loss of the batch, and the accuracy on it."""
        team, sums = self._team, np.zeros(2 + 3 * self._team.size)
        part = 0 if labels is None else int(labels.shape[0])
        if labels is not None:
            loss, accuracy = super()._losses(self.layer, images, labels)
            loss.backward(_filled(loss, part / self._count))
        if part:
            sums[:2] = float(loss) * part, float(0.0 if accuracy is None else accuracy) * part
        self._arena.fill(part > 0)
        sums[2 + 3 * team.rank : 5 + 3 * team.rank] = *self._pace, self._pace[0] > 0
        sums = team.sum(sums)
        self._arena.sum(team)
        self.paces += sums[2:].reshape(-1, 3)
        accuracy = float(sums[1]) / self._count if self.scale is None else None
        return SharedLoss(float(sums[0]) / self._count, self._arena), accuracy

    def read_share(self, first: int, which: int, images: Samples | None = None) -> list[Any]:
        """The scores of the batches from number ``first`` on, one for each rank; None behind the end.

        ``which`` of the measured splits it is; ``images``: those of this rank's batch, where they are at
        hand.
        """
        items = self._measured_items[which]
        begin = (first + self._team.rank) * self._test_batch
        places = range(begin, min(begin + self._test_batch, len(items.dataset)))
        if images is None and len(places):
            images, _ = to_tensors(items.fetch(list(places)))
        return self._team.collect(None if images is None else self._read(images).numpy())

    # ----- what those do that follow -----

    def follow(self, before: Callable[[int], object]) -> None:
        """Carry out the orders of rank 0 until the training is over.

        ``before`` is called as rank 0 does before each step and evaluation, with the steps so far, less one
        for an evaluation.
        """
        team = self._team
        team.collect(None)  # signals that the network is built
        while True:
            what, first, second = team.hear()
            if what == END:
                return
            if what == STEP:
                before(self._steps)
                self.learn(team.spread(np.zeros(first, np.int64)), bool(second))
            elif what == EVALUATE:
                before(self._steps - 1)
                with measuring(self.network), no_grad():
                    self.read_share(first, second)
            elif what == STATE:
                state = team.spread_value()
                self._steps = state["steps"]
                super().set_state_dict(state)
            elif what == STATISTICS:
                self._spread_statistics()
            elif what == RATE:
                super().set_rate(Rate.of_state(team.spread_value()))
            elif what == EPOCH:
                super().end_epoch(team.spread_value())

    def _spread_statistics(self) -> None:
        """All take the buffers of rank 0: running statistics of a layer that is not synchronized differ."""
        buffers = self.network.buffers()
        values = self._team.spread_value(arrays_of(buffers) if self._team.leads else None)
        if not self._team.leads:
            for buffer, value in zip(buffers, values, strict=True):
                write(buffer, value)


class LeadingStepper(SharedStepper):
    """The stepper of rank 0, which a TrainingRun drives; a batch is the places of its images."""

    _spread = False
    _pace_reported_at = 0.0

    def train(self, images: Samples, labels: Tensor, go_on: bool = False) -> tuple[float, float | None]:
        """One step of all ranks on the images at these places."""
        self._spread_state()
        batch = np.ascontiguousarray(cast(Tensor, images).numpy())
        self._team.order(STEP, len(batch), int(go_on))
        return self.learn(self._team.spread(batch), go_on)

    def evaluate(
        self, batches: Iterable[Any], classes: int, stopped: Callable[[], bool] = lambda: False
    ) -> Evaluation | None:
        """Measure the network; the ranks take turns at the batches, each read as one process reads it."""
        self._spread_state()
        if self.network.buffers():
            self._team.order(STATISTICS)
            self._spread_statistics()
        ready: list[Any] = []
        first = 0
        which = [items.dataset for items in self._measured_items].index(cast(DataLoader, batches).dataset)

        def scores(images: Any) -> Any:
            nonlocal first
            if not ready:
                self._team.order(EVALUATE, first, which)
                ready.extend(self.read_share(first, which, images))
                first += self._team.size
            return ready.pop(0)

        with measuring(self.network), no_grad():
            return self._evaluated(scores, batches, classes, stopped)

    def set_rate(self, rate: Rate) -> None:
        """From the next step on this holds in all ranks."""
        self._team.order(RATE)
        self._team.spread_value(rate.state())
        super().set_rate(rate)

    def end_epoch(self, measured: Mapping[str, float]) -> None:
        """The schedules of all ranks move on."""
        if self.schedule is not None:
            self._team.order(EPOCH)
            self._team.spread_value(dict(measured))
        super().end_epoch(measured)

    def set_state_dict(self, state: dict[str, Any]) -> None:
        """Take the state of a checkpoint, which may be of another number of ranks."""
        super().set_state_dict(state)
        self._steps = int(state.get("progress", {}).get("step", 0))
        self._spread = False

    def take_weights(self, weights: dict[str, Any]) -> None:
        """All ranks measure with these weights from here on."""
        super().take_weights(weights)
        self._spread = False

    def take_paces(self) -> list[RankPace] | None:
        """How fast each rank was since the last call, about once a second; None until then."""
        moment = time.perf_counter()
        if moment - self._pace_reported_at < PACE_SECONDS or not self.paces[:, 2].all():
            return None
        self._pace_reported_at = moment
        paces, self.paces = self.paces, np.zeros_like(self.paces)
        return [
            RankPace(rank=rank, steps_per_second=steps / busy, waiting=idle / (busy + idle))
            for rank, (busy, idle, steps) in enumerate(paces.tolist())
        ]

    def build(self, source: str, corrections: bytes, kernels: dict[str, Any]) -> None:
        """Let the others make the same network, with the user's code in ``source`` if that is not empty, read
        the same ``corrections``, and take the same kernels: ``kernels`` is the record of a KernelSwap."""
        self._team.order(BUILD)
        self._team.spread_value({"source": source, "corrections": corrections, "kernels": kernels})

    def check(self, images: Samples, classes: tuple[str, ...]) -> None:
        """Run the network once, and wait until the others have made theirs."""
        super().check(images, classes)
        self._team.collect(None)

    def end(self) -> None:
        """Let the others exit."""
        self._team.order(END)

    def _spread_state(self) -> None:
        """Before the first step all ranks take the state of rank 0."""
        if not self._spread:
            self._team.order(STATE)
            self._team.spread_value({**arrays_of(self.state_dict()), "steps": self._steps})
            self._spread = True


def _filled(loss: Any, value: float) -> Tensor:
    """A Tensor like ``loss`` with this value, where its gradient starts from."""
    array = arrays_of(loss)
    return Tensor(np.full(array.shape, value, array.dtype))


def _seed_all(text: str) -> None:
    """Seed all generators that a network may draw from with numbers derived from ``text``.

    A counter-based generator: it starts 50 times as fast as Paddle's, and none of its streams is known.
    """
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")
    default_generator().manual_seed(number, "philox")
    np.random.seed(number % 2**32)
    random.seed(number)

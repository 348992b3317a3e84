"""Worker: steps of the networks of ``bench.nets`` in torch.

``python -m bench.peers.torch_steps MODE`` with MODE ``eager`` or ``compile`` (the network goes through
``torch.compile``). The jobs are those of ``bench.contest``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from bench.nets import LEARNING_RATE, Job, cross_entropy
from bench.peers.answering import answer_jobs
from bench.peers.protocol import threads
from bench.peers.torch_nets import network


def training(mode: str, job: Job) -> Callable[[], Any]:
    """A step (forward, loss, backward, Adam) from the initial weights; gives its loss."""
    model = network(job)
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    x, y = (torch.from_numpy(array) for array in job.data())
    forward = torch.compile(model) if mode == "compile" else model

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def predicting(mode: str, job: Job) -> Callable[[], Any]:
    """A prediction; gives logits ``[N, 10]``."""
    model = network(job).eval()
    x = torch.from_numpy(job.data()[0])
    forward = torch.compile(model) if mode == "compile" else model

    def predict() -> Any:
        with torch.no_grad():
            return forward(x).numpy()

    return predict


def main(mode: str) -> None:
    """Serve jobs."""
    torch.set_num_threads(threads())

    def make(kind: str, job: Job) -> tuple[Callable[[], Any], Callable[[Any], float]]:
        if kind == "train":
            return training(mode, job), float
        labels = job.data()[1]
        return predicting(mode, job), lambda logits: cross_entropy(logits, labels)

    answer_jobs(f"torch {torch.__version__}", make)


if __name__ == "__main__":
    main(*sys.argv[1:])

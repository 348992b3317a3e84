"""A rank of a training: ``mpiexec -n N python -P -m engine.training.team.rank TICKET``.

Rank 0 runs the TrainingRun, the others follow its orders. All exchange messages with the process that
started them (``engine.training.team.processes``) and notice when it exits: rank 0 then writes a checkpoint,
and all exit.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.core.errors import EngineError
from engine.core.models.local_imports import AGREED
from engine.distributed import worker
from engine.distributed.groups import init_parallel_env
from engine.kernels.cpu.threads import computing_threads
from engine.training.config import TrainingConfig
from engine.training.corrections import require_same
from engine.training.kernel_swap import KernelSwap
from engine.training.problem import describe_problem
from engine.training.randomness import seed_everything
from engine.training.setup import Parts, build_parts, own_file
from engine.training.stepper import arrays_of
from engine.training.team.channel import Channel
from engine.training.team.team import BUILD, Team
from engine.training.training_run import TrainingRun
from resources.output_lines import OutputLines
from resources.regular_files import read_regular_text
from resources.training_events import TrainingEvent

ORPHAN_SECONDS = 5.0
ORPHANED = 3


class Rank:
    """This process among the ranks of a training."""

    def __init__(self, team: Team, channel: Channel, ticket: dict[str, Any]) -> None:
        self._team, self._channel = team, channel
        self._config = TrainingConfig.from_dict(ticket["config"])
        self._resume = ticket["resume"]
        self._run: TrainingRun | None = None
        self._gone = threading.Event()  # the process that started this one
        self._parts: Parts
        if team.leads:
            self._run = TrainingRun(self._config, [self._tell], resume=self._resume, parts=self._make_parts)

    def work(self) -> int:
        """Train; returns the exit status."""
        threading.Thread(target=self._listen, name="orders", daemon=True).start()
        try:
            with computing_threads(self._config.threads):
                if self._run is not None:
                    self._lead(self._run)
                else:
                    self._follow()
        except BaseException as error:
            self._failed(error)
            return 1
        return 0

    def _lead(self, run: TrainingRun) -> None:
        result = run.run()
        self._parts.stepper.end()
        weights = arrays_of(run.network.state_dict())
        self._channel.send({"result": asdict(result), "weights": weights})

    def _make_parts(self, config: TrainingConfig, source: Path | None) -> Parts:
        """Those of rank 0; only what went well here do the others do as well."""
        self._parts = build_parts(config, source, self._team)
        assert self._run is not None
        kernels = self._run.kernels.record
        self._parts.stepper.build("" if source is None else str(source), self._parts.corrections, kernels)
        return self._parts

    def _tell(self, event: TrainingEvent) -> None:
        self._channel.send({"event": dict(event)})

    def _follow(self) -> None:
        what, *_ = self._team.hear()
        assert what == BUILD
        plan = self._team.spread_value()
        source = plan["source"]
        seed_everything(self._config.seed)
        self._parts = build_parts(self._config, Path(source) if source else None, self._team)
        require_same(self._parts.corrections, plan["corrections"])
        swap = KernelSwap(self._config.kernels, **plan["kernels"], together=True)
        with swap.in_use():
            self._parts.stepper.follow(swap.due)

    def _failed(self, error: BaseException) -> None:
        files = own_file(self._config.model)
        if hasattr(self, "_parts"):
            files = [str(path) for path in self._parts.model_files] or files
        problem = asdict(describe_problem(error, files))
        self._channel.send({"problem": problem, "ours": isinstance(error, EngineError)})
        if self._run is None:
            # Rank 0 may fail of the same, and is to write it down before this rank's end ends all.
            self._gone.wait(ORPHAN_SECONDS)

    def _listen(self) -> None:
        """Carry out orders until the connection closes or brings an invalid one; then exit, with a
        checkpoint if possible."""
        try:
            while (message := self._channel.receive("command")) is not None:
                if self._run is not None:
                    self._run.obey(message["command"])
        except EngineError as error:
            print(str(error), file=sys.stderr, flush=True)
        self._gone.set()
        if self._run is not None:
            self._run.interrupt()
        threading.Event().wait(ORPHAN_SECONDS if self._run is not None else 2 * ORPHAN_SECONDS)
        os._exit(ORPHANED)


def main(path: str) -> None:
    """Join the others and the process that started all; a failure ends all ranks."""
    # What the terminal sends is for the process that started this one to decide about.
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    comm = worker.prepare()
    ticket = json.loads(read_regular_text(path))
    channel = Channel.connect(ticket)
    channel.send({"rank": comm.rank, "pid": os.getpid()})
    AGREED.set(ticket["agreed"])
    for stream in ("stdout", "stderr"):
        setattr(sys, stream, OutputLines(channel.send, stream))
    init_parallel_env()  # for layers that reduce over all processes
    status = Rank(Team(comm), channel, ticket).work()
    sys.stdout.flush()
    sys.stderr.flush()
    if status:
        comm.Abort(status)


if __name__ == "__main__":
    main(sys.argv[1])

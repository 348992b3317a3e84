"""What a launch starts: how many processes on which machines, with which devices and variables."""

from __future__ import annotations

import os
from dataclasses import dataclass

from engine.core.errors import ArgumentError, DeviceError
from engine.core.place import REDIRECT, CUDAPlace, backend, redirected
from engine.distributed.environment import SELECTED
from engine.distributed.launch.forwarding import EVENTS_IN_LINES, PATTERN
from engine.distributed.launch.hosts import is_here, read_hosts
from engine.distributed.launch.options import Options
from engine.distributed.launch.remote_shell import shell_variables
from engine.distributed.processes.starting import mpi_command, rank_command, rank_environment

_LONGEST = 120 * 1024  # of a variable, as in Paddle; the system refuses longer ones


@dataclass(frozen=True)
class Plan:
    """The processes of a job.

    Attributes:
        machines: each with its number of processes.
        endpoints: ``host:port`` of each process, which scripts receive.
        variables: environment variables of all of them, in addition to those of the launcher.
        words: what the worker is given: the runner, its options, the script and its arguments.
        log_dir: where ``workerlog.N`` goes, or None.
        wait_timeout: seconds after which ranks that wait for one that has exited are stopped; 0: never.
    """

    machines: list[tuple[str, int]]
    endpoints: list[str]
    variables: dict[str, str]
    words: list[str]
    log_dir: str | None
    wait_timeout: int = 0

    @property
    def count(self) -> int:
        """How many processes there are."""
        return len(self.endpoints)

    @property
    def is_local(self) -> bool:
        """Whether all processes are on this machine, and can have pipes to the launcher."""
        return all(is_here(host) for host, _ in self.machines) and hasattr(os, "fork")

    @property
    def here(self) -> int:
        """How many processes are on this machine."""
        return sum(count for host, count in self.machines if is_here(host))

    def command(self, channel: str | None) -> list[str]:
        """What starts the processes; one alone needs no MPI.

        Raises:
            DeviceError: there is no mpiexec.
        """
        logs = [] if self.log_dir is None else ["--log-dir", self.log_dir]
        rank = rank_command(*logs, *self.words, channel=channel)
        if self.count == 1 and self.is_local:
            return rank
        if all(is_here(host) for host, _ in self.machines):
            return mpi_command(self.count, rank)
        hosts = ",".join(f"{host}:{count}" for host, count in self.machines)
        return mpi_command(self.count, rank, "-prepend-pattern", PATTERN, "-hosts", hosts)

    def environment(self, restart: int, folder: str = "") -> dict[str, str]:
        """The variables of the processes when they are started for the ``restart``-th time again.

        ``folder``: the launcher's pipes, to which the connections to other machines report.
        """
        variables = self.variables | {"PADDLE_RESTART_COUNT": str(restart)}
        if folder and not all(is_here(host) for host, _ in self.machines):
            variables[EVENTS_IN_LINES] = "1"
            variables |= shell_variables(os.environ, [host for host, _ in self.machines], folder)
        return rank_environment(self.count, variables, self.is_local)

    def summary(self, options: Options) -> str:
        """The line that Paddle 1.6 prints below the configuration."""
        ips = [host for host, _ in self.machines]
        here = options.node_ip if options.node_ip in ips else ips[0]
        return (
            f"trainers_endpoints: {','.join(self.endpoints)} , node_id: {ips.index(here)} , current_node_ip: "
            f"{here} , num_nodes: {len(ips)} , node_ips: {ips} , nranks: {self.count}"
        )


def plan(options: Options) -> Plan:
    """The processes that ``options`` ask for.

    Raises:
        ArgumentError: options that do not fit each other.
        DataError: the file of hosts is not one.
        DeviceError: GPUs are chosen that can't be used here.
    """
    on_cpu = options.device == "cpu" or redirected()
    chosen = None if options.selected_gpus is None else _listed(options.selected_gpus)
    if not on_cpu and chosen is not None:
        chosen = _usable(chosen)
    elif not on_cpu and options.nproc_per_node is None:
        chosen = _all_gpus()
    each = options.nproc_per_node or (len(chosen) if chosen else 1)
    if chosen and 1 < each < len(chosen):
        chosen = chosen[:each]
    if chosen and each > len(chosen):
        raise ArgumentError(
            f"launch: {each} processes need a device each: got {','.join(chosen)}; name as many, or leave "
            "out --nproc_per_node"
        )
    machines = _machines(options, each)
    endpoints = [
        f"{host}:{options.started_port + number}" for host, count in machines for number in range(count)
    ]
    variables = {
        "PADDLE_GLOBAL_SIZE": str(len(endpoints)),
        "PADDLE_NNODES": str(len(machines)),
        "PADDLE_MASTER": options.master or endpoints[0],
        "PADDLE_JOB_ID": options.job_id or "default",
    }
    if len(text := ",".join(endpoints)) < _LONGEST:
        variables["PADDLE_TRAINER_ENDPOINTS"] = text
    if options.log_dir:
        variables["PADDLE_LOG_DIR"] = options.log_dir
    if chosen:
        variables[SELECTED] = ",".join(chosen)
    if on_cpu:
        variables[REDIRECT] = "cpu"
    if on_cpu or not chosen:
        variables["PADDLE_DISTRI_BACKEND"] = "gloo"  # as Paddle says where there is no GPU
    words = ["-m", "engine.run"]
    if options.mode:
        words += ["--mode", options.mode]
    if options.module:
        words.append("-m")
    return Plan(
        machines,
        endpoints,
        variables,
        [*words, options.script, *options.arguments],
        options.log_dir or None,
        options.wait_timeout,
    )


def _listed(text: str) -> list[str]:
    found = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() for word in found) or len(set(found)) != len(found):
        raise ArgumentError(f"launch: devices must be different numbers with commas: got {text!r}; e.g. 0,1")
    return found


def _usable(chosen: list[str]) -> list[str]:
    """The GPUs by their numbers among those that are visible."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    if visible != [""]:
        hidden = [number for number in chosen if number not in visible]
        if hidden:
            raise DeviceError(
                f"launch: GPU {hidden[0]} is not one of CUDA_VISIBLE_DEVICES={','.join(visible)}; choose "
                "among those"
            )
        chosen = [str(visible.index(number)) for number in chosen]
    for number in chosen:
        place = CUDAPlace(int(number))
        try:
            backend(place)
        except DeviceError as error:
            reason = error.message.partition(": ")[2].partition(";")[0]
            raise DeviceError(
                f"launch: GPUs {','.join(chosen)}: {reason}; start the processes on the CPU with "
                f"--device cpu ({REDIRECT}=cpu)"
            ) from None
    return chosen


def _all_gpus() -> list[str] | None:
    try:
        return [str(number) for number in range(backend(CUDAPlace(0)).count())]
    except DeviceError:
        return None


def _machines(options: Options, each: int) -> list[tuple[str, int]]:
    if options.hosts:
        return read_hosts(options.hosts, each)
    ips = [ip.strip() for ip in options.cluster_node_ips.split(",")]
    if not all(ips) or len(set(ips)) != len(ips):
        raise ArgumentError(
            f"launch: the machines must be different names with commas: got {options.cluster_node_ips!r}"
        )
    wanted = options.nnodes.partition(":")[0]
    if len(ips) == 1 and wanted.isdecimal() and int(wanted) > 1:
        raise ArgumentError(
            f"launch: --nnodes {options.nnodes}: no machines are named: name them with --ips A,B or --hosts "
            "FILE; MPI starts the processes of all from the first"
        )
    return [(ip, each) for ip in ips]

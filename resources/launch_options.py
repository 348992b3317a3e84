"""The options of ``launch``: their names in both generations of Paddle's launcher, and what each is for here.

This module is outside the engine because the help of the command line is shown without loading it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """One option, written ``--name VALUE`` or ``--name=VALUE``.

    Attributes:
        names: with which it is written, the one that the configuration shows first.
        help: what it does.
        kind: what its value is; a ``yes`` may stand without one.
        default: where it is not given.
        variable: the environment variable that is read where it is not given.
        choices, instead: the only values that it takes, and what to know where another was given.
        least: the smallest value of a ``count``.
        unused: why it does nothing here; empty where it does something.
    """

    names: tuple[str, ...]
    help: str
    kind: str = "text"
    default: str | int | bool | None = None
    variable: str = ""
    unused: str = ""
    choices: tuple[str, ...] = ()
    instead: str = ""
    least: int = 1

    @property
    def name(self) -> str:
        """The first name, without dashes."""
        return self.names[0].removeprefix("--")

    @property
    def metavar(self) -> str:
        """What stands for the value in the help."""
        return {"text": "TEXT", "count": "N", "yes": "[True|False]"}[self.kind]


_MPI = "MPI finds the processes"
_SERVERS = "there are no parameter servers here; gradients are exchanged by all processes"
_PLAIN = "a failed job ends as a whole, or starts again with --max_restart"

OPTIONS: tuple[Option, ...] = (
    Option(("--nproc_per_node",), "Processes on each machine.", "count", variable="PADDLE_NPROC_PER_NODE"),
    Option(
        ("--selected_gpus", "--devices", "--gpus"),
        "One process for each of these GPUs: 0,1. With --device cpu: so many processes on the CPU.",
        variable="PADDLE_DEVICES",
    ),
    Option(
        ("--device",),
        "cpu: compute there what the script puts on a GPU.",
        choices=("cpu",),
        instead="or name GPUs with --devices",
    ),
    Option(("--hosts",), "A file of machines, each line HOST or HOST:PROCESSES; MPI starts them over ssh."),
    Option(
        ("--log_dir",),
        "The output of process N goes to workerlog.N in this folder, not to the terminal.",
        variable="PADDLE_LOG_DIR",
    ),
    Option(
        ("--log_overwrite",),
        "False: append to the logs of an earlier job.",
        "yes",
        True,
        "PADDLE_LOG_OVERWRITE",
    ),
    Option(
        ("--max_restart",),
        "Start all processes again so often where one fails.",
        "count",
        0,
        "PADDLE_MAX_RESTART",
        least=0,
    ),
    Option(
        ("--wait_timeout", "--wait-timeout"),
        "Seconds after which the job is stopped if all its processes wait for one that has exited; 0: never.",
        "count",
        300,
        least=0,
    ),
    Option(
        ("--mode",), "static or dynamic: the mode that the script starts in.", choices=("static", "dynamic")
    ),
    Option(("--memory_per_worker",), "MB that a process is expected to take.", "count", 256),
    Option(("--force",), "Start also where memory looks too small.", "yes", False),
    Option(
        ("--cluster_node_ips", "--ips"),
        "The machines, the first one starts all.",
        default="127.0.0.1",
        variable="PADDLE_IPS",
    ),
    Option(("--node_ip", "--host"), "Which of them this one is.", default="127.0.0.1", variable="POD_IP"),
    Option(
        ("--started_port", "--start_port"),
        "The first port of the endpoints that scripts see.",
        "count",
        6170,
        "PADDLE_START_PORT",
    ),
    Option(("--print_config",), "False: do not print the configuration.", "yes", True),
    Option(("--master",), "host:port that scripts see as PADDLE_MASTER.", variable="PADDLE_MASTER"),
    Option(
        ("--nnodes",),
        "How many machines; name them with --ips or --hosts.",
        default="1",
        variable="PADDLE_NNODES",
    ),
    Option(("--job_id",), "A name that scripts see as PADDLE_JOB_ID.", variable="PADDLE_JOB_ID"),
    Option(
        ("--run_mode",),
        "collective is the only one.",
        variable="PADDLE_RUN_MODE",
        choices=("collective",),
        instead="there are no parameter servers here",
    ),
    Option(
        ("--use_paddlecloud",),
        "Shown in the configuration.",
        "yes",
        True,
        unused="there is no such platform here; name the machines with --hosts",
    ),
    Option(("--rank",), "Nothing.", unused="MPI finds the processes; --node_ip says which machine this is"),
    Option(("--legacy",), "Nothing.", "yes", unused="there is one launcher"),
    Option(("--log_level",), "Nothing.", unused="the launcher says what is needed"),
    Option(("--sort_ip",), "Nothing.", "yes", unused="machines keep their order"),
    Option(("--enable_gpu_log",), "Nothing.", "yes", unused="nvidia-smi shows what GPUs do"),
    Option(("--elastic_level",), "Nothing.", unused=_PLAIN),
    Option(("--elastic_timeout",), "Nothing.", unused=_PLAIN),
    Option(("--auto_parallel_config",), "Nothing.", unused="models are not split over processes"),
    Option(("--auto_tuner_json",), "Nothing.", unused="the number of processes is as given"),
    Option(("--servers",), "Nothing.", unused=_SERVERS),
    Option(("--trainers",), "Nothing.", unused=_SERVERS),
    Option(("--server_num",), "Nothing.", unused=_SERVERS),
    Option(("--trainer_num",), "Nothing.", unused=_SERVERS),
    Option(("--gloo_port",), "Nothing.", unused=_MPI),
    Option(("--with_gloo",), "Nothing.", unused=_MPI),
    Option(("--xpus",), "Nothing.", unused="there are no such devices here; use --devices for GPUs"),
    Option(("--npus",), "Nothing.", unused="there are no such devices here; use --devices for GPUs"),
)

ALWAYS_SHOWN = (
    "cluster_node_ips",
    "log_dir",
    "node_ip",
    "print_config",
    "selected_gpus",
    "started_port",
    "use_paddlecloud",
)
"""The options of Paddle 1.6, which its configuration shows whether given or not."""

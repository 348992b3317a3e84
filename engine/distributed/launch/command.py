"""The launcher as a command: reads its arguments, starts the processes, reports how they exited."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from engine.core.errors import ArgumentError, EngineError, SaveError
from engine.distributed.launch.ending import FAILED
from engine.distributed.launch.job import Job
from engine.distributed.launch.memory import available, require_memory
from engine.distributed.launch.options import USAGE, Options, configuration, parse, unused
from engine.distributed.launch.plan import Plan, plan
from resources.launch_options import OPTIONS
from resources.regular_files import path_problem


def main(words: Sequence[str]) -> int:
    """Carry out ``launch WORDS``, with one line on the standard error for what is wrong.

    Returns the exit status of ``carry_out``, or 2 for wrong usage.
    """
    if words[:1] in (["-h"], ["--help"]):
        print(help_text())
        return 0
    try:
        return carry_out(words)
    except ArgumentError as error:
        print(error.message, file=sys.stderr)
        return 2


def carry_out(words: Sequence[str]) -> int:
    """Read the arguments, start the processes, and report how they exited.

    The exit status is 0, that of a process that failed, or 1 for a signal and where nothing could be started.

    Raises:
        ArgumentError: wrong usage; nothing was started.
    """
    try:
        options = parse(words)
        if not options.module and (problem := path_problem(options.script)):
            raise ArgumentError(f"launch: the script {problem}: {options.script}; check the path")
        return launch(options)
    except BrokenPipeError:  # the reader of the output is gone (`| head`)
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:  # while no process was there
        print("stopped", file=sys.stderr)
        return 1
    except ArgumentError:
        raise
    except EngineError as error:
        print(error.message, file=sys.stderr)
        return 1


def launch(options: Options) -> int:
    """Start the processes that ``options`` ask for, again where one fails and that is wanted.

    Returns the exit status.

    Raises:
        EngineError: they can't be started.
    """
    wanted = plan(options)
    if not options.force:
        require_memory(wanted.here, options.memory_per_worker, available())
    if options.print_config:
        print(configuration(options))
        print(wanted.summary(options), flush=True)
    for line in unused(options):
        print(line, file=sys.stderr)
    hosts = [host for host, _ in wanted.machines]
    if options.node_ip not in ("127.0.0.1", hosts[0]):
        if options.node_ip not in hosts:
            raise ArgumentError(f"launch: --node_ip {options.node_ip} is not one of the machines: {hosts}")
        print(f"launch: {hosts[0]} starts the processes of this machine; nothing is to be done here")
        return 0
    if wanted.log_dir:
        _make_room_for_logs(wanted, options.log_overwrite)
    for restart in range(options.max_restart + 1):
        ending = Job(wanted, restart).run()
        if ending.message():
            print(ending.message(), file=sys.stderr, flush=True)
        if ending.how != FAILED:
            break
        if restart < options.max_restart:
            again = f"{restart + 1} of {options.max_restart}"
            print(f"launch: all processes are started again: {again}", file=sys.stderr, flush=True)
    return ending.status


def _make_room_for_logs(wanted: Plan, overwrite: bool) -> None:
    """Make the folder, and remove the logs of an earlier job."""
    folder = Path(wanted.log_dir or "")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for log in folder.glob("workerlog.*") if overwrite else ():
            log.unlink()
    except OSError as error:
        raise SaveError(f"launch: --log_dir {folder}: {error.strerror}; choose another folder") from None


def help_text() -> str:
    """What ``--help`` shows."""
    lines = [f"usage: {USAGE}", "", "Run a script in several processes that train together.", ""]
    for option in OPTIONS:
        text = f"No effect: {option.unused}." if option.unused else option.help
        lines += [f"  {', '.join(option.names)} {option.metavar}", f"        {text}"]
    return "\n".join(lines)

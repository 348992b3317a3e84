"""The command ``model-studio``: the window, and commands that train, look for settings, export and run.

Only the module of the command that is given is imported; ``app`` has all of them, for help and errors.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from studio.cli.application import app

__all__ = ["COMMANDS", "app", "main"]

# Each command with its module, in the order of the help.
COMMANDS = {
    "open": "open_command",
    "launch": "launch",
    "export": "export.model_commands",
    "predict": "export.model_commands",
    "run": "export.model_commands",
    "inspect": "export.model_commands",
    "convert": "export.convert_command",
    "diff": "export.diff_command",
    "compare": "compare.compare_command",
    "graph": "graph.graph_command",
    "verify": "export.verify_command",
    "profile": "train.profile",
    "debug": "debug.debug_command",
    "explain": "explain.explain_command",
    "activations": "explain.activations_command",
    "quantize": "export.quantize_command",
    "find-rate": "train.find_rate",
    "suggest": "train.suggest",
    "report": "runs.report_command",
    "checkpoints": "checkpoints.checkpoints_command",
    "sweep": "sweep.sweep_command",
    "train": "train.train_options",
    "runs": "runs.runs_command",
}


def __getattr__(name: str) -> Any:
    """``app``, the application of all commands."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for module in dict.fromkeys(COMMANDS.values()):
        importlib.import_module(f"{__name__}.{module}")
    from studio.cli.application import app

    globals()["app"] = app
    return app


def _open_window(file: str = "") -> None:
    """Open the window and leave with its exit status, without the libraries that only commands need.

    Returns where no window can be opened: then the application of commands says why.
    """
    from resources.blas_core import choose_core
    from studio.cli.streams import prepare_streams
    from studio.session.display_check import display_problem

    prepare_streams()
    if display_problem():
        return
    choose_core()
    try:
        gc.disable()  # what is imported and built until the window shows stays for good
        from studio.app import main as show
    except ImportError:
        gc.enable()
        return
    raise SystemExit(show(file=file))


def _train(words: list[str]) -> bool:
    """Carry out ``train`` without typer, where its words are plain; whether that was so.

    What they make no training of is left to typer, too, which says so as for every command.
    """
    from resources.blas_core import choose_core
    from studio.cli.streams import prepare_streams
    from studio.cli.train.fast_arguments import read_words

    read = read_words(words)
    if read is None:
        return False
    gc.disable()  # until the training has started: what is imported and built stays for good
    from studio.cli.output import WrongUsage
    from studio.cli.train.train_command import carry_out

    try:
        prepare_streams()
        choose_core()
        carry_out(**read)
    except WrongUsage:
        return False
    finally:
        gc.enable()
    return True


def main() -> None:
    """The entry point: exit status 0 done, 1 failed with one line on stderr, 2 wrong usage."""
    words = sys.argv[1:]
    try:
        if not words:
            _open_window()
        elif words[0] == "open" and len(words) <= 2 and not words[-1].startswith("-"):
            _open_window(os.path.abspath(words[1]) if words[1:] else "")
        elif words[0] == "train" and _train(words[1:]):
            return
    except KeyboardInterrupt:
        print("Aborted!", file=sys.stderr)
        raise SystemExit(1) from None
    from studio.cli.help_language import choose_language

    choose_language(words)  # before options are made, some of whose texts are joined from several
    if words and words[0] in COMMANDS:
        importlib.import_module(f"{__name__}.{COMMANDS[words[0]]}")
    else:
        __getattr__("app")
    from studio.cli.application import main as carry_out

    carry_out()

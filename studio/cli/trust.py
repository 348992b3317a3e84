"""Agreement to run the code that a run or sweep brings along, on the command line: refused unless --trust."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from studio.cli.output import fail, say, until_end

if TYPE_CHECKING:
    from studio.session.sweep.document import Sweep


def require_trust(command: str, run: Path, trust: bool) -> None:
    """End the command unless the code that ``run`` keeps may run; ``trust`` agrees to its content.

    Until the command ends no other code of the user runs in this process than what was looked at here.

    Raises:
        DataError: a link among its code.
    """
    from engine.core.models.local_imports import only_agreed

    until_end(only_agreed(trusted_digest(command, run, trust)))


def trusted_digest(command: str, run: Path, trust: bool) -> str:
    """The digest of the code that ``run`` keeps; ends the command as :func:`require_trust`."""
    from studio.session.project.code_agreement import (
        changed_in,
        check_run_code,
        remember_code,
    )
    from studio.session.project.project_file import read_preferences

    agreed = read_preferences()[0].agreed
    check = check_run_code(run, agreed)
    code = check.code
    if code is None:
        return check.digest
    new = changed_in(code, agreed)[0]
    if not trust:
        fail(
            f"{command}: the run's code was not written by this installation and was not agreed to: "
            f"{code.folder / new} (SHA-256 {code.digests[new][:12]}...); read it, then give --trust to run it"
        )
    _tell_trouble(command, remember_code(code))
    return code.digest


def require_sweep_trust(folder: Path, sweep: Sweep, trust: bool) -> None:
    """End the command unless the models of a sweep that was written before may run, those its runs keep too.

    Raises:
        DataError: a model's code is absent or has changed, or there is a link among the code of a run.
    """
    from studio.session.project.code_agreement import remember
    from studio.session.project.project_file import read_preferences
    from studio.session.sweep.models import code_of, not_agreed_model, require_same

    for file in sweep.models:
        require_same(sweep, file)
    file = not_agreed_model(sweep.models, sweep.mark, read_preferences()[0].agreed)
    if file and not trust:
        more = list(code_of(file).sources)[1:]
        fail(
            f"sweep: the sweep was not written by this installation, and its model was not agreed to: {file} "
            f"(SHA-256 {sweep.models[file][:12]}...); read {' and '.join(['it', *more])}, then give --trust "
            "to run it"
        )
    if file:
        _tell_trouble("sweep", remember(sweep.models.values()))
    for trial in sweep.trials:
        if (folder / trial.name).is_dir():
            trusted_digest("sweep", folder / trial.name, trust)


def _tell_trouble(command: str, trouble: str) -> None:
    if trouble:
        say(f"{command}: --trust holds for this time only: {trouble}", err=True)

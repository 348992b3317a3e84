"""``export --deploy``: writes the folder and prints what it holds."""

from __future__ import annotations

from pathlib import Path

from resources import quantities
from resources.settings.export import ExportSettings
from studio.cli.output import emit_json, say


def deploy_and_show(
    run: Path, folder: Path, settings: ExportSettings, step: int | None, as_json: bool
) -> None:
    """Deploy the run in ``run`` to ``folder``. Raises as ``deploy_run``."""
    from engine.training.deploy import deploy_run

    made = deploy_run(run, folder, settings, step=step)
    if as_json:
        emit_json(
            {
                "folder": str(made.folder),
                "step": made.event["step"],
                "sizes": made.event["sizes"],
                "difference": dict(made.differences),
            }
        )
        return
    compared = ", ".join(
        f"{name} {quantities.number(value, digits=3)}" for name, value in made.differences.items()
    )
    sizes = made.event["sizes"]
    size = sum(sizes.values())
    say(
        f"{made.folder}: step {made.event['step']}, {len(sizes)} files, {quantities.size(size)}; "
        f"largest difference, as a share of the largest result: {compared}"
    )

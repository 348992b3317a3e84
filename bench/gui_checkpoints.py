"""What a step of the slider over checkpoints takes, until everything that it moves is painted."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from PySide6.QtWidgets import QApplication

from bench.frames import Figure, Frames, wait

STEP_MS = 100.0
CHECKPOINTS = 16


def checkpoint_steps() -> list[Figure]:
    """A LeNet: weights with their changes, matrix, hardest samples, cursor, bars; then the saliency too."""
    from engine.training import TrainingConfig, TrainingRun
    from studio.app import Studio
    from studio.session.session import Session

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    folder = Path(tempfile.mkdtemp())
    run = folder / "lenet"
    config = TrainingConfig(
        model="lenet", data="digits", epochs=2, checkpoint_every=20, keep=CHECKPOINTS, out=str(run)
    )
    TrainingRun(config).run()
    session = Session(runs_folder=folder)
    session.files.begin()
    studio = Studio(app, session)
    studio.show()
    session.refresh_runs()
    wait(lambda: bool(session.runs))
    session.select_run(str(run))
    studio.actions.trigger("show_checkpoints")
    checkpoints, controller = session.checkpoints, studio.runs.doings.checkpoints
    view, maps = checkpoints.view, checkpoints.answers.maps.view
    wait(lambda: view.listed and bool(view.hardest) and view.hardest[0].image is not None)
    checkpoints.ask_about_hard(0)
    wait(lambda: bool(view.ranking) and maps.found is not None)

    def is_answered() -> bool:
        return view.current is not None and not checkpoints.busy and view.answer_step == view.current.step

    dialog = controller.dialog
    assert dialog is not None
    all_but_maps, whole = Frames(), Frames()
    for _ in range(3):
        for place in (*range(len(view.checkpoints)), *reversed(range(len(view.checkpoints) - 1))):
            if place == view.place:
                continue
            with whole.frame():
                with all_but_maps.frame():
                    dialog.bar.slider.setValue(place)
                    wait(is_answered)
                    dialog.repaint()
                    QApplication.processEvents()
                wait(lambda: maps.found is not None)
                QApplication.processEvents()
            time.sleep(0.005)
    count = len(view.checkpoints)
    studio.close()
    return [
        *all_but_maps.p95(f"step of the slider, {count} checkpoints of LeNet", STEP_MS),
        *whole.p95("the same, with the saliency", STEP_MS),
    ]

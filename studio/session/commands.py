"""The one table of commands, read by menus, toolbar, palette and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Owner = Literal["session", "window"]


@dataclass(frozen=True)
class Command:
    """One thing that a user can do.

    Args:
        id: the stable name; ``session.execute(id)`` runs it where ``owner`` is ``session``.
        title: as it stands in menus and on buttons.
        shortcut: in Qt's portable form, such as ``Ctrl+O``; empty for none.
        help: one sentence for tooltips and the palette.
        menu: File, Edit, Run, View or Help.
        owner: who carries it out: the session, or the window (pages, theme, dialogs).
        checkable: True where it is on or off.
        icon: the name of its icon in ``resources/icons``; empty for none.
    """

    id: str
    title: str
    shortcut: str
    help: str
    menu: str
    owner: Owner = "session"
    checkable: bool = False
    icon: str = ""


COMMANDS: tuple[Command, ...] = (
    Command(
        "new_project",
        "New project",
        "Ctrl+N",
        "Begin a project with the built-in digits and LeNet.",
        "File",
        icon="plus",
    ),
    Command(
        "open_project",
        "Open project...",
        "Ctrl+O",
        "Open a project.",
        "File",
        "window",
        icon="open",
    ),
    Command(
        "save_project",
        "Save project",
        "Ctrl+S",
        "Give the project a place of its own; from then on each change is saved at once.",
        "File",
        "window",
    ),
    Command(
        "save_project_as",
        "Save project as...",
        "",
        "Give the project another place; its runs stay in the list.",
        "File",
        "window",
    ),
    Command("rename_project", "Rename project...", "", "Call the project something else.", "File", "window"),
    Command(
        "report",
        "Save report...",
        "",
        "Write one HTML file about the selected run: settings, curves, confusion, hardest pictures.",
        "File",
        "window",
        icon="download",
    ),
    Command(
        "save_quantization",
        "Save quantization report...",
        "",
        "Write what a quantization cost and gained as text, or its layers as a CSV table.",
        "File",
        "window",
        icon="download",
    ),
    Command(
        "export_script",
        "Export session as script...",
        "",
        "Write the commands that do again, without the window, what was done here.",
        "File",
        "window",
        icon="code",
    ),
    Command(
        "open_folder",
        "Open run folder",
        "",
        "Show the run's files in the file manager.",
        "File",
        "window",
        icon="open",
    ),
    Command(
        "load_model",
        "Load model...",
        "Ctrl+L",
        "Load saved inference files for Predict.",
        "File",
        "window",
        icon="open",
    ),
    Command(
        "preferences", "Settings", "Ctrl+,", "Theme, language and folders.", "File", "window", icon="settings"
    ),
    Command(
        "quit", "Quit", "Ctrl+Q", "Close the window; a running training is stopped first.", "File", "window"
    ),
    Command("undo", "Undo", "Ctrl+Z", "Take the last change of settings back.", "Edit", icon="undo"),
    Command(
        "redo", "Redo", "Ctrl+Shift+Z", "Make the change again that was taken back.", "Edit", icon="redo"
    ),
    Command("start", "Start", "F5", "Start a training with the settings shown.", "Run", icon="play"),
    Command("pause", "Pause", "F6", "Hold the training after the step in progress.", "Run", icon="pause"),
    # F5 starts or resumes: only one of the two is enabled at a time.
    Command("resume", "Resume", "F5", "Go on with the paused training.", "Run", icon="play"),
    Command(
        "resume_run",
        "Resume from checkpoint",
        "",
        "Go on with a run from its last checkpoint.",
        "Run",
        icon="refresh",
    ),
    Command(
        "train_corrected",
        "Train again with corrections",
        "",
        "Start a run with the settings of the selected one, on data with the project's corrections.",
        "Run",
        icon="refresh",
    ),
    Command(
        "corrections",
        "Corrections...",
        "",
        "Labels that were set right and pictures that were dropped.",
        "Run",
        "window",
        icon="pen",
    ),
    Command(
        "run_notes", "Name, tags and note...", "F2", "Say what a run is about.", "Run", "window", icon="pen"
    ),
    Command(
        "add_to_queue",
        "Add to queue",
        "Ctrl+F5",
        "Train with the settings shown when what runs, and what waits already, has ended.",
        "Run",
        icon="clock",
    ),
    Command("start_queue", "Start queue", "", "Train what waits, one after another.", "Run", icon="play"),
    Command(
        "start_sweep",
        "Start sweep...",
        "",
        "Train with every combination of some settings, one after another.",
        "Run",
        "window",
        icon="table",
    ),
    Command("queue_earlier", "Earlier in queue", "", "Let the chosen entry start earlier.", "Run", "window"),
    Command("queue_later", "Later in queue", "", "Let the chosen entry start later.", "Run", "window"),
    Command("queue_remove", "Remove from queue", "", "Take the chosen entries out.", "Run", "window"),
    Command(
        "try_run",
        "Try on Predict",
        "",
        "Ask the selected run on the page Predict, without an export.",
        "Run",
        "window",
        icon="pen",
    ),
    Command(
        "compare_runs",
        "Compare runs",
        "",
        "Show settings, source and results of the chosen runs side by side.",
        "Run",
        "window",
        icon="table",
    ),
    Command(
        "duplicate_run",
        "Duplicate run",
        "",
        "Take the settings of the selected run for a new one.",
        "Run",
        "window",
        icon="copy",
    ),
    Command("hide_run", "Hide run", "", "Leave the chosen runs out of the list.", "Run", "window"),
    Command("delete_run", "Delete run", "", "Move the chosen runs to the trash.", "Run", "window"),
    Command(
        "stop_early",
        "Stop early",
        "Shift+F5",
        "End the training and keep the best weights.",
        "Run",
        icon="stop",
    ),
    Command("cancel", "Cancel", "", "End the training and discard what it wrote.", "Run", icon="cancel"),
    Command(
        "end_process",
        "End the process",
        "",
        "End a training that does not answer, at once; its checkpoints stay.",
        "Run",
        icon="warning",
    ),
    Command(
        "checkpoint_now",
        "Checkpoint now",
        "Ctrl+Shift+S",
        "Write a checkpoint without stopping.",
        "Run",
        icon="download",
    ),
    Command(
        "find_rate",
        "Find learning rate...",
        "",
        "Try rates in a few steps and show where the loss falls fastest; no weights are kept.",
        "Run",
    ),
    Command(
        "change_rate",
        "Change learning rate...",
        "",
        "Train with another learning rate from the next step on; a checkpoint is made first.",
        "Run",
    ),
    Command(
        "show_graph", "Show graph", "Ctrl+G", "Trace the model and show its Program.", "Run", icon="graph"
    ),
    Command(
        "export",
        "Export",
        "Ctrl+E",
        "Write the inference files and check them by reloading.",
        "Run",
        icon="export",
    ),
    Command(
        "quantize",
        "Quantize...",
        "",
        "Choose how the run to export becomes a model of small integers, and what that costs.",
        "Run",
        "window",
        icon="export",
    ),
    Command("cancel_task", "Cancel task", "", "Stop the tracing or export in progress.", "Run"),
    Command(
        "new_model",
        "New model...",
        "",
        "Write a model of your own, from a template.",
        "File",
        "window",
        icon="plus",
    ),
    Command(
        "open_model",
        "Open model source...",
        "",
        "Edit the Python file of a model.",
        "File",
        "window",
        icon="open",
    ),
    Command(
        "save_model",
        "Save model source",
        "",
        "Write the model's text to its file.",
        "File",
        "window",
        icon="download",
    ),
    Command(
        "measure_model",
        "Measure model",
        "",
        "Train a few steps of the edited model and show where their time goes, by operator and by line.",
        "Run",
        "window",
        icon="clock",
    ),
    Command(
        "stop_measuring",
        "Stop measuring",
        "",
        "End the measurement in progress; what was measured before stays.",
        "Run",
        "window",
        icon="cancel",
    ),
    Command(
        "plan_model",
        "Plan model",
        "",
        "Show what passes and plans make of the edited model, with the settings of the page Train.",
        "Run",
        "window",
        icon="refresh",
    ),
    Command("page_data", "Data", "Ctrl+1", "Show the page Data.", "View", "window", icon="table"),
    Command("page_code", "Code", "Ctrl+2", "Show the page Code.", "View", "window", icon="code"),
    Command("page_train", "Train", "Ctrl+3", "Show the page Train.", "View", "window", icon="chart"),
    Command("page_graph", "Graph", "Ctrl+4", "Show the page Graph.", "View", "window", icon="graph"),
    Command("page_export", "Export", "Ctrl+5", "Show the page Export.", "View", "window", icon="export"),
    Command("page_predict", "Predict", "Ctrl+6", "Show the page Predict.", "View", "window", icon="pen"),
    Command(
        "quantization_report",
        "Quantization report",
        "",
        "Show what a quantization cost and gained, layer by layer.",
        "View",
        "window",
        icon="table",
    ),
    Command("find", "Find in view", "Ctrl+F", "Search in what is shown.", "View", "window", icon="search"),
    Command("palette", "Command palette", "Ctrl+Shift+P", "Find a command by its name.", "View", "window"),
    Command(
        "theme_system",
        "Follow the system",
        "",
        "Use the system's light or dark theme.",
        "View",
        "window",
        True,
    ),
    Command("theme_light", "Light", "", "Use the light theme.", "View", "window", True),
    Command("theme_dark", "Dark", "", "Use the dark theme.", "View", "window", True),
    Command(
        "reset_layout", "Reset layout", "", "Put docks and pages back where they were.", "View", "window"
    ),
    Command("help", "Help", "F1", "Read about the page that is shown.", "Help", "window", icon="info"),
    Command("keys", "Keys", "Ctrl+K", "List all shortcuts.", "Help", "window"),
    Command(
        "copy_report",
        "Copy report",
        "",
        "Copy the last problem with its traceback.",
        "Help",
        "window",
        icon="copy",
    ),
    Command("about", "About Model Studio", "", "Version and licence.", "Help", "window", icon="info"),
)

BY_ID: dict[str, Command] = {command.id: command for command in COMMANDS}


def command(command_id: str) -> Command:
    """The command of that id.

    Raises:
        KeyError: there is none; names those that there are.
    """
    try:
        return BY_ID[command_id]
    except KeyError:
        raise KeyError(f"commands: no such command: {command_id!r}; there are {', '.join(BY_ID)}") from None

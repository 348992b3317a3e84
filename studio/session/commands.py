"""The one table of commands: menus, toolbar, palette, shortcuts, handlers, conditions and tests read it."""

from __future__ import annotations

from studio.session import look_commands
from studio.session.checkpoints import commands as checkpoint_commands
from studio.session.command import Command, Position
from studio.session.conditions import (
    NO_LABELLING,
    NO_RUN,
    does_not_answer,
    is_missing,
    may_be_deleted,
    may_check,
    may_export,
    may_find_rate,
    may_label,
    may_resume,
    may_start,
    may_suggest,
    may_train_corrected,
    may_train_labelled,
    needs,
    no_script,
    no_task,
    of_run,
    of_selected_images,
    queue_is_held,
    report_is_shown,
    settings_are_valid,
    while_training,
)
from studio.session.debug import commands as debug_commands
from studio.session.explain import commands as explain_commands
from studio.session.graph import commands as graph_commands

NEW_PROJECT = Command(
    "new_project", "New project", "File", "Begin a project with the built-in digits and LeNet.",
    keys="Ctrl+N", icon="plus",
    possible=needs(lambda session: not session.train.busy, "A training is running.")
)
OPEN_PROJECT = Command("open_project", "Open project…", "File", "Open a project.", keys="Ctrl+O", icon="open")
SAVE_PROJECT = Command(
    "save_project", "Save project", "File",
    "Give the project a place of its own; from then on each change is saved at once.", keys="Ctrl+S"
)
SAVE_PROJECT_AS = Command(
    "save_project_as", "Save project as…", "File",
    "Give the project another place; its runs stay in the list."
)
RENAME_PROJECT = Command("rename_project", "Rename project…", "File", "Call the project something else.")
NEW_MODEL = Command(
    "new_model", "New model…", "File", "Write a model of your own, from a template.", icon="plus",
    shown=(Position("code", 1),), separate=True, group="Model source"
)
OPEN_MODEL = Command(
    "open_model", "Open model source…", "File", "Edit the Python file of a model.", icon="open",
    shown=(Position("code", 2),), group="Model source", button="Open file…"
)
SAVE_MODEL = Command(
    "save_model", "Save model source", "File", "Write the model's text to its file.", icon="download",
    shown=(Position("code", 3, primary=True),), group="Model source", button="Save file"
)
LOAD_MODEL = Command(
    "load_model", "Load model…", "File", "Load saved inference files for Predict.", keys="Ctrl+L",
    icon="open", shown=(Position("predict", 1),), group="Saved model"
)
EDIT_MODEL = Command(
    "edit_model", "Edit saved model…", "File",
    "Rename inputs and outputs of a saved model, change dimensions, or cut a part out.", icon="pen",
    group="Saved model"
)
COMPARE_MODELS = Command(
    "compare_models", "Compare models…", "File",
    "Show what differs between two saved models: operators, weights, information.", icon="table",
    group="Saved model"
)
CHECK_MODEL = Command(
    "check_model", "Check model", "File",
    "Compare a saved model's predictions with the model as it was saved, in a clean process, and time them.",
    icon="check", possible=may_check, shown=(Position("predict", 2),), group="Saved model"
)
EXPLAIN, SAVE_MAP = explain_commands.EXPLAIN, explain_commands.SAVE_MAP
REPORT = Command(
    "report", "Save report…", "File",
    "Write one HTML file about the selected run: settings, curves, confusion, hardest images.",
    icon="download", possible=needs(lambda session: session.listed_run(session.selected_run), NO_RUN),
    group="Reports"
)
SAVE_QUANTIZATION = Command(
    "save_quantization", "Save quantization report…", "File",
    "Write what a quantization cost and gained as text, or its layers as a CSV table.", icon="download",
    possible=report_is_shown, group="Reports"
)
SAVE_RUNS = Command(
    "save_runs", "Save table of runs…", "File",
    "Write the table of the page Runs, as it is filtered and sorted, as CSV with all digits.",
    icon="download", shown=(Position("runs", 1),), group="Reports"
)
EXPORT_SCRIPT = Command(
    "export_script", "Export session as script…", "File",
    "Write the commands that do again, without the window, what was done here.", icon="code",
    possible=needs(lambda session: session.script.steps, "Nothing was trained or exported yet."),
    group="Reports"
)
OPEN_FOLDER = Command(
    "open_folder", "Open run folder", "File", "Show the run's files in the file manager.", icon="open",
    possible=needs(lambda session: session.selected_run, NO_RUN), shown=(Position("run menu", 12),),
    separate=True
)
PREFERENCES = Command(
    "preferences", "Settings", "File", "Theme, folder of the runs, agreed model files.", keys="Ctrl+,",
    icon="settings", separate=True
)
QUIT = Command(
    "quit", "Quit", "File", "Close the window; a running training is stopped first.", keys="Ctrl+Q",
    separate=True
)
UNDO = Command(
    "undo", "Undo", "Edit", "Take the last change of the project back.", keys="Ctrl+Z", icon="undo",
    possible=needs(lambda session: session.undo_stack.undoable, "There is nothing to undo.")
)
REDO = Command(
    "redo", "Redo", "Edit", "Make the change again that was taken back.", keys="Ctrl+Shift+Z", icon="redo",
    possible=needs(lambda session: session.undo_stack.redoable, "There is nothing to redo.")
)
LABEL_IMAGES = Command(
    "label_images", "Label images", "Edit", "Change the labels of the images in the data's folder.",
    icon="pen", possible=may_label, shown=(Position("data", 1),), separate=True
)
NEXT_UNLABELLED = Command(
    "next_unlabelled", "Next unlabelled", "Edit", "Select the next image without a label.", keys="F8",
    possible=needs(lambda session: session.labelling.view.folder, NO_LABELLING)
)
EXCLUDE_IMAGES = Command(
    "exclude_images", "Exclude images", "Edit",
    "Exclude the selected images from the data, or include them again.", possible=of_selected_images
)
FINISH_LABELLING = Command(
    "finish_labelling", "Finish labelling", "Edit", "Show the labelled images as data.", icon="check",
    possible=may_train_labelled, shown=(Position("data", 2),)
)
TRAIN_LABELLED = Command(
    "train_labelled", "Train on these", "Edit", "Show the page Train for the images that have a label.",
    icon="play", possible=may_train_labelled, shown=(Position("data", 3, primary=True),)
)
START = Command(
    "start", "Start", "Run", "Start a training with the settings shown.", keys="F5", icon="play",
    possible=may_start, shown=(Position("train", 9, primary=True),)
)
PAUSE = Command(
    "pause", "Pause", "Run", "Hold the training after the step in progress.", keys="F6", icon="pause",
    possible=while_training(starting="The training is starting.", pausing="Pausing…",
    paused="The training is paused.", stopping="The training is stopping."),
    shown=(Position("train", 3), Position("status", 1))
)
# F5 starts or resumes: only one of the two is enabled at a time.
RESUME = Command(
    "resume", "Resume", "Run", "Go on with the paused training.", keys="F5", icon="play",
    possible=while_training("No training is paused.", starting="The training is starting.",
    running="The training is running.", pausing="Pausing…", stopping="The training is stopping."),
    shown=(Position("train", 2, primary=True), Position("status", 2))
)
STOP_EARLY = Command(
    "stop_early", "Stop early", "Run", "End the training and keep the best weights.", keys="Shift+F5",
    icon="stop", possible=while_training(stopping="The training is stopping."),
    shown=(Position("train", 5), Position("status", 3))
)
CANCEL = Command(
    "cancel", "Cancel", "Run", "End the training and discard what it wrote.", icon="cancel",
    possible=while_training(), shown=(Position("train", 6),)
)
CHECKPOINT_NOW = Command(
    "checkpoint_now", "Checkpoint now", "Run", "Write a checkpoint without stopping.", keys="Ctrl+Shift+S",
    icon="download",
    possible=while_training(starting="The training is starting.", stopping="The training is stopping."),
    shown=(Position("train", 4),), separate=True, group="Running training"
)
CHANGE_RATE = Command(
    "change_rate", "Change learning rate…", "Run",
    "Train with another learning rate from the next step on; a checkpoint is made first.",
    possible=while_training(starting="The training is starting.", stopping="The training is stopping."),
    group="Running training"
)
END_PROCESS = Command(
    "end_process", "End the process", "Run",
    "End a training that does not answer, at once; its checkpoints stay.", icon="warning",
    possible=does_not_answer, shown=(Position("train", 8),), group="Running training"
)
RESUME_RUN = Command(
    "resume_run", "Resume from checkpoint", "Run", "Go on with a run from its last checkpoint.",
    icon="refresh", possible=may_resume,
    shown=(Position("train", 1), Position("run strip", 1, primary=True), Position("run menu", 1)),
    group="Selected run"
)
TRY_RUN = Command(
    "try_run", "Try on Predict", "Run", "Ask the selected run on the page Predict, without an export.",
    icon="pen", possible=of_run(lambda session, run: run.exportable),
    shown=(Position("run strip", 2), Position("run menu", 2)), group="Selected run"
)
RUN_NOTES = Command(
    "run_notes", "Name, colour and note…", "Run", "Name a run, choose its colour, say what it is about.",
    keys="F2", icon="pen", possible=of_run(), shown=(Position("run menu", 3),), group="Selected run"
)
FIND_OPERATOR = debug_commands.FIND_OPERATOR
COMPARE_RUNS = Command(
    "compare_runs", "Compare runs", "Run",
    "Show settings, source and results of the chosen runs side by side.", icon="table",
    shown=(Position("run strip", 3), Position("run menu", 5)), group="Selected run"
)
COMPARE_NUMBERS = Command(
    "compare_numbers", "Compare numbers…", "Run",
    "Find the first operator whose numbers differ: eager and static, two runs, devices or models.",
    icon="table", shown=(Position("graph", 3), Position("run menu", 6)), group="Selected run",
)
SHOW_CHECKPOINTS = checkpoint_commands.SHOW
DUPLICATE_RUN = Command(
    "duplicate_run", "Duplicate run", "Run", "Take the settings of the selected run for a new one.",
    icon="copy", possible=of_run(no_script), shown=(Position("run menu", 4),), group="Selected run"
)
HIDE_RUN = Command(
    "hide_run", "Hide run", "Run", "Leave the chosen runs out of the list.", possible=of_run(),
    shown=(Position("run menu", 8),), group="Selected run"
)
DELETE_RUN = Command(
    "delete_run", "Delete run", "Run", "Move the chosen runs to the trash.", possible=of_run(may_be_deleted),
    shown=(Position("run menu", 9),), group="Selected run"
)
REMOVE_RUN = Command(
    "remove_run", "Remove from list", "Run",
    "Remove the chosen runs whose folders have disappeared from the list; no file is changed.",
    possible=of_run(is_missing), shown=(Position("run strip", 4), Position("run menu", 10)),
    group="Selected run"
)
ADD_TO_QUEUE = Command(
    "add_to_queue", "Add to queue", "Run",
    "Train with the settings shown when what runs, and what waits already, has ended.", keys="Ctrl+F5",
    icon="clock", possible=settings_are_valid, shown=(Position("train", 7),), group="Queue and sweeps"
)
START_QUEUE = Command(
    "start_queue", "Start queue", "Run", "Train what waits, one after another.", icon="play",
    possible=queue_is_held,
    shown=(Position("queue", 1),), group="Queue and sweeps"
)
START_SWEEP = Command(
    "start_sweep", "Start sweep…", "Run",
    "Train with every combination of some settings, one after another.", icon="table",
    group="Queue and sweeps"
)
QUEUE_EARLIER = Command(
    "queue_earlier", "Earlier in queue", "Run", "Let the chosen entries start earlier (Alt+Up in the list).",
    shown=(Position("queue", 2),), group="Queue and sweeps"
)
QUEUE_LATER = Command(
    "queue_later", "Later in queue", "Run", "Let the chosen entries start later (Alt+Down in the list).",
    shown=(Position("queue", 3),), group="Queue and sweeps"
)
QUEUE_REMOVE = Command(
    "queue_remove", "Remove from queue", "Run", "Take the chosen entries out.",
    shown=(Position("queue", 4),), group="Queue and sweeps"
)
SUGGEST = Command(
    "suggest", "Suggest settings", "Run",
    "Choose a model and settings that fit the data, each with its reason; what you changed stays.",
    icon="settings", possible=may_suggest, group="Next run"
)
FIND_RATE = Command(
    "find_rate", "Find learning rate…", "Run",
    "Try rates in a few steps and show where the loss falls fastest; no weights are kept.",
    possible=may_find_rate, group="Next run"
)
TRAIN_CORRECTED = Command(
    "train_corrected", "Train again with corrections", "Run",
    "Start a run with the settings of the selected one, on data with the project's corrections.",
    icon="refresh", possible=may_train_corrected, group="Next run"
)
CORRECTIONS = Command(
    "corrections", "Corrections…", "Run", "Labels that were set right and images that were dropped.",
    icon="pen", group="Next run"
)
SHOW_GRAPH = Command(
    "show_graph", "Show graph", "Run", "Trace the model and show its Program.", keys="Ctrl+G", icon="graph",
    possible=no_task, shown=(Position("graph", 1),), group="Model"
)
MEASURE_MODEL = Command(
    "measure_model", "Measure model", "Run",
    "Train a few steps of the edited model and show where their time goes, by operator and by line.",
    icon="clock",
    possible=needs(
        lambda session: not session.model_editor.trials.measuring.view.running, "It is being measured."
    ),
    shown=(Position("measured", 1, primary=True),), group="Model"
)
STOP_MEASURING = Command(
    "stop_measuring", "Stop measuring", "Run",
    "End the measurement in progress; what was measured before stays.", icon="cancel",
    possible=needs(
        lambda session: session.model_editor.trials.measuring.view.running, "Nothing is being measured."
    ),
    shown=(Position("measured", 2),), group="Model"
)
MEASURE_STEP = Command(
    "measure_step", "Measure step", "Run",
    "Train a few steps of the model on the page Graph and show what each operator costs.", icon="clock",
    possible=lambda session: session.graph_tools.why_not_measured(), shown=(Position("graph", 2),),
    group="Model"
)
STOP_MEASURING_STEP = Command(
    "stop_measuring_step", "Stop measuring step", "Run", "End the measurement of a step in progress.",
    icon="cancel", possible=lambda session: session.graph_tools.why_not_stopped(), group="Model"
)
PLAN_MODEL = Command(
    "plan_model", "Plan model", "Run",
    "Show what passes and plans make of the edited model, with the settings of the page Train.",
    icon="refresh",
    possible=needs(
        lambda session: not session.model_editor.trials.planning.view.running, "It is being planned."
    ),
    shown=(Position("planned", 1),), group="Model"
)
# Their keys hold on the page Debug alone.
DEBUG, DEBUG_CONTINUE = debug_commands.DEBUG, debug_commands.CONTINUE
DEBUG_STEP, DEBUG_STEP_BACK = debug_commands.STEP, debug_commands.STEP_BACK
DEBUG_UNTIL_NAN, DEBUG_BREAKPOINT = debug_commands.UNTIL_NAN, debug_commands.BREAKPOINT
DEBUG_RESTART, DEBUG_STOP = debug_commands.RESTART, debug_commands.STOP
EXPORT = Command(
    "export", "Export", "Run", "Write the inference files and check them by reloading.", keys="Ctrl+E",
    icon="export", possible=may_export, shown=(Position("export", 1, primary=True),),
    group="Export and quantize"
)
QUANTIZE = Command(
    "quantize", "Quantize…", "Run",
    "Choose how the run to export becomes a model of small integers, and what that costs.", icon="export",
    group="Export and quantize"
)
CANCEL_TASK = Command(
    "cancel_task", "Cancel task", "Run", "Stop the tracing or export in progress.",
    possible=needs(lambda session: session.task_runs, "No task is running."),
    separate=True
)
PAGE_DATA = Command(
    "page_data", "Data", "View", "Show the page Data.", keys="Ctrl+1", icon="table", page="data"
)
PAGE_CODE = Command(
    "page_code", "Code", "View", "Show the page Code.", keys="Ctrl+2", icon="code", page="code"
)
PAGE_TRAIN = Command(
    "page_train", "Train", "View", "Show the page Train.", keys="Ctrl+3", icon="chart", page="train"
)
PAGE_RUNS = Command(
    "page_runs", "Runs", "View", "Show the page Runs: all runs as a table and as diagrams.", keys="Ctrl+4",
    icon="sort", page="runs"
)
PAGE_GRAPH = Command(
    "page_graph", "Graph", "View", "Show the page Graph.", keys="Ctrl+5", icon="graph", page="graph"
)
FIT_DIAGRAM, ZOOM_IN = graph_commands.FIT_DIAGRAM, graph_commands.ZOOM_IN
ZOOM_OUT, OPEN_GROUPS = graph_commands.ZOOM_OUT, graph_commands.OPEN_GROUPS
CLOSE_GROUPS, SAVE_DIAGRAM = graph_commands.CLOSE_GROUPS, graph_commands.SAVE_DIAGRAM
PAGE_EXPORT = Command(
    "page_export", "Export", "View", "Show the page Export.", keys="Ctrl+6", icon="export", page="export"
)
PAGE_DEBUG = Command(
    "page_debug", "Debug", "View", "Show the page Debug: one batch, operator by operator.", keys="Ctrl+7",
    icon="bug", page="debug"
)
PAGE_PREDICT = Command(
    "page_predict", "Predict", "View", "Show the page Predict.", keys="Ctrl+8", icon="pen", page="predict"
)
QUANTIZATION_REPORT = Command(
    "quantization_report", "Quantization report", "Run",
    "Show what a quantization cost and gained, layer by layer.", icon="table", possible=report_is_shown,
    group="Export and quantize"
)
FIND = Command(
    "find", "Find in view", "Edit", "Search in what is shown.", keys="Ctrl+F", icon="search", separate=True
)
PALETTE = Command("palette", "Command palette", "View", "Find a command by its name.", keys="Ctrl+Shift+P")
THEME_SYSTEM, THEME_LIGHT, THEME_DARK = look_commands.THEMES.values()
LANGUAGE_SYSTEM, LANGUAGE_ENGLISH, LANGUAGE_CHINESE = look_commands.LANGUAGES.values()
RESET_LAYOUT = Command(
    "reset_layout", "Reset layout", "View", "Put docks and pages back where they were.", separate=True,
    group="Panels"
)
HELP = Command("help", "Help", "Help", "Read about the page that is shown.", keys="F1", icon="info")
KEYS = Command("keys", "Keys", "Help", "List all shortcuts.", keys="Ctrl+K")
COPY_REPORT = Command(
    "copy_report", "Copy report", "Help", "Copy the last problem with its traceback.", icon="copy"
)
ABOUT = Command("about", "About Model Studio", "Help", "Version and licence.", icon="info", separate=True)

# Every row above, in this order.
COMMANDS: tuple[Command, ...] = tuple(each for each in list(globals().values()) if isinstance(each, Command))
BY_ID: dict[str, Command] = {each.id: each for each in COMMANDS}
# Page -> the command that opens it; theme or language -> the command that uses it.
PAGES: dict[str, Command] = {each.page: each for each in COMMANDS if each.page}
THEMES, LANGUAGES = look_commands.THEMES, look_commands.LANGUAGES
# Not possible while the project is being saved in another folder: they use or change its files or runs.
OF_PROJECT = frozenset(
    (
        *(NEW_PROJECT, OPEN_PROJECT, SAVE_PROJECT, SAVE_PROJECT_AS, RENAME_PROJECT, UNDO, REDO, REPORT),
        *(LABEL_IMAGES, TRAIN_LABELLED, START, RESUME_RUN, TRY_RUN, RUN_NOTES, COMPARE_RUNS, HIDE_RUN),
        *(COMPARE_NUMBERS, SHOW_CHECKPOINTS),
        *(DELETE_RUN, REMOVE_RUN, ADD_TO_QUEUE, START_QUEUE, START_SWEEP, QUEUE_EARLIER, QUEUE_LATER),
        *(QUEUE_REMOVE, TRAIN_CORRECTED, EXPORT, QUANTIZE, DEBUG, FIND_OPERATOR),
    )
)


def command(which: Command | str) -> Command:
    """The command of that id; a command itself is returned as it is.

    Raises:
        KeyError: there is none; lists the available ones.
    """
    if isinstance(which, Command):
        return which
    try:
        return BY_ID[which]
    except KeyError:
        raise KeyError(f"commands: no such command: {which!r}; there are {', '.join(BY_ID)}") from None


def shown_in(area: str) -> list[tuple[Command, Position]]:
    """The commands of an area in their order, each with its position there."""
    found = [(each, position) for each in COMMANDS for position in each.shown if position.area == area]
    return sorted(found, key=lambda pair: pair[1].index)

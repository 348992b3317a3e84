"""The list of runs in the left dock: which are shown in which order, and what their rows say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from resources.metrics import metric_of
from resources.words import language, shown, tr
from studio.controllers.bindings import Bindings
from studio.controllers.runs.run_facts import metric_text, state_mark, state_of, state_word
from studio.controllers.train.train_controller import TrainController
from studio.session.runs.run_list_view import metric
from studio.session.runs.run_titles import NONE, Change, Differences, changed_settings
from studio.session.runs.runs_folder import Run
from studio.session.session import Session
from studio.session.train.run_settings import title_of
from studio.windows.project.project_panel import ProjectPanel
from studio.windows.runs.runs_list import LateRow, RunRow
from widgets import theme
from widgets.delayed import delayed

LOOK_MS = 1000
QUEUED = "queue "  # begins the keys of rows that wait
LOOK_SHARE = 20  # looking for runs takes a twentieth of the time at most, unless that is longer than
MOST_LOOK_MS = 10_000


class RunListController(QObject):
    """Follows the list of runs; the first of those chosen in it is the selected one of the session."""

    def __init__(self, session: Session, panel: ProjectPanel, train: TrainController) -> None:
        super().__init__(panel)
        self._session, self._panel, self._train = session, panel, train
        self._differences = Differences()
        self._queued: tuple[object, list[Run], list[RunRow]] | None = None
        self._sweeps: set[str] = set()  # that have trials in the queue
        self._bonds = Bindings()
        follow = self._bonds.follow
        follow(session.runs_changed, self._take_runs)
        # Once for all that an event of the training changes.
        self._soon = delayed(self, 0, self.show_runs)
        for name in ("state", "epoch", "folder", "validation_accuracy", "validation_r2"):
            follow(getattr(session.train.events, name), lambda _: self._soon.start())
        follow(session.train.events.state, lambda _: self._settled())
        follow(session.train.events.last_checkpoint, lambda _: self._checkpoint_written())
        for name in ("filter", "sort", "descending", "show_hidden"):
            follow(getattr(session.run_list.events, name), lambda _: self.show_runs())
        follow(session.selected_run_changed, self._show_selected)
        follow(session.queue.changed, self._show_queue)
        panel.runs.chosen_changed.connect(self._chosen)
        view = session.run_list
        self._bonds.store(panel.filter.filter_changed, view, "filter")
        self._bonds.follow(view.events.filter, self._show_filter)
        self._bonds.store(panel.filter.hidden_toggled, view, "show_hidden")
        panel.filter.sort_chosen.connect(view.sort_by)
        self._take_runs(session.runs)
        self._bonds.again(self._show_choices)
        session.queue.look()
        # Scripts write runs into the folder too (`model-studio run --runs`): they are looked for.
        self._looking = QTimer(self)
        self._looking.setInterval(LOOK_MS)
        self._looking.timeout.connect(self._look)
        self._looking.start()

    def _show_filter(self, text: str) -> None:
        box = self._panel.filter.box
        if box.text() != text:  # which would move the caret
            box.setText(text)

    def _look(self) -> None:
        idle = not self._session.files.listing.working  # before the queue is read, in the same thread
        self._session.queue.look()
        if idle and not self._session.train.busy:
            self._session.refresh_runs()
            taken = round(1000 * self._session.listing_seconds)
            self._looking.setInterval(min(max(LOOK_MS, LOOK_SHARE * taken), MOST_LOOK_MS))

    def _take_runs(self, runs: list[Run]) -> None:
        self._differences.take(runs)
        self.show_runs()

    def show_runs(self) -> None:
        """Show the runs as they are, filtered and in their order."""
        self._soon.stop()
        session, view, panel = self._session, self._session.train, self._panel
        runs, order = session.runs, session.run_list
        trials = Counter(run.sweep for run in runs)
        rows: list[RunRow | LateRow] = []
        sweep = ""
        live = view.folder if view.busy else ""
        for run in order.arranged(runs, session.run_titles):
            if order.sort == "date" and run.sweep and run.sweep != sweep:
                rows.append(self._heading(run, trials[run.sweep]))
            sweep = run.sweep
            rows.append(self._new_row(run, live=True) if run.path == live else self._row(run))
        listed = session.listed_run(view.folder) is not None
        if view.folder and view.state not in ("idle", "finished") and not listed:
            # It has not written anything, or has failed before.
            state = self.tr("starting") if view.busy else state_word("failed", self)
            mark, tint = state_mark("running" if view.busy else "failed")
            name, color = session.run_title(view.folder), session.run_color(view.folder)
            rows.insert(0, RunRow(view.folder, name, "", color, mark=mark, tint=tint, detail=state))
        rows[:0] = self._queue_rows()
        by_path = {run.path: run for run in runs}
        panel.runs.set_rows(rows, lambda key: self._new_row(by_path[key]))
        if session.selected_run and not panel.runs.chosen():  # a filter had left it out
            panel.runs.mark([session.selected_run])
        panel.set_counts(len(rows), len(runs))
        panel.filter.show_order(order.sort, order.descending, order.show_hidden)

    def _settled(self) -> None:
        view = self._session.train
        if view.state == "starting":
            # Its journal may not be there yet. A run that goes on may be selected already.
            self.show_runs()
            if self._session.selected_run == view.folder:
                self._panel.runs.choose(view.folder)
        elif view.state not in ("pausing", "paused", "stopping"):
            # Reading journals takes its time: a pause is to be seen at once, and changes nothing in them.
            self._session.refresh_runs()

    def _checkpoint_written(self) -> None:
        """With its first checkpoint a run can predict, while it still trains."""
        run = self._session.listed_run(self._session.train.folder)
        if run is not None and not run.checkpoint:
            self._session.refresh_runs()

    def _chosen(self, folders: list[str]) -> None:
        """Show the runs chosen in the list; the first of them is the one that all pages mean."""
        waiting = [key for key in folders if key.startswith(QUEUED)]
        folders = [key for key in folders if key not in waiting]
        if waiting and not folders:
            return  # a waiting entry is not a run yet: the previous selection still applies
        self._session.select_run(folders[0] if folders else "")
        self._train.show_runs(folders)

    def _show_selected(self, folder: str) -> None:
        chosen = self._panel.runs.chosen()
        if not folder and chosen and chosen[0].startswith(QUEUED):
            self._train.show_runs([])
            return
        if folder and chosen[:1] == [folder]:
            return
        if folder in chosen:  # a curve of several was clicked: the others stay for comparison
            keys = [folder, *(key for key in chosen if key != folder)]
            self._panel.runs.mark(keys)
            self._train.show_runs([key for key in keys if not key.startswith(QUEUED)])
        elif not folder or self._panel.runs.row(folder) is not None:
            self._panel.runs.choose(folder)
        else:  # the filter leaves it out
            self._panel.runs.mark([])
            self._train.show_runs([folder])

    # ----- rows -----

    def _show_queue(self) -> None:
        """The queue has changed; what the trials of a new sweep chose is read before they can be named."""
        sweeps = {each.folder.partition("/")[0] for each in self._session.queue.waiting if each.folder}
        if sweeps - self._sweeps:
            self._session.refresh_runs(self._show_choices)
        self._sweeps = sweeps
        self.show_runs()

    def _show_choices(self) -> None:
        """What the trials that wait chose has been read."""
        self._queued = None
        self.show_runs()

    def _queue_rows(self) -> list[RunRow]:
        """What waits, the next one first, under a heading; made anew where something of it has changed."""
        session, queue = self._session, self._session.queue
        if not queue.waiting:
            return []
        titles = session.run_titles
        of = (list(queue.waiting), queue.held, queue.why, session.train.folder, titles, len(titles))
        if self._queued is None or self._queued[0] != of or self._queued[1] is not session.runs:
            self._queued = of, session.runs, self._new_queue_rows()
        return self._queued[2]

    def _new_queue_rows(self) -> list[RunRow]:
        queue = self._session.queue
        state = self.tr("held") if queue.held else self.tr("waiting")
        title, count = self.tr("Queue"), self.tr("{0} {1}").format(len(queue.waiting), state)
        rows = [RunRow(QUEUED, title, count, 0, shown(queue.why), True)]
        last = self._session.runs[0].config if self._session.runs else queue.waiting[0].settings.as_dict()
        mark, tint = state_mark("waiting")
        # The trials of a search share their settings, which are copied once.
        settings = {id(each.settings): each.settings for each in queue.waiting}
        configs = {key: each.as_config("") for key, each in settings.items()}
        names = self._session.coming_titles(
            (str(queue.folder / each.folder) if each.folder else "", configs[id(each.settings)])
            for each in queue.waiting
        )
        later = Counter(waiting.search for waiting in queue.waiting)
        begun = {sweep: max(self._begun(sweep), default=0) for sweep in later if sweep}
        number = dict(begun)
        for waiting, name in zip(queue.waiting, names, strict=True):
            config = waiting.settings.as_dict()
            changes = changed_settings(last, config)
            words = _words_of(changes)
            detail = " · ".join(filter(None, (state, words)))
            if waiting.search:
                sweep = waiting.search
                number[sweep] += 1
                total = begun[sweep] + later[sweep]
                name = self.tr("{0}: trial {1} of {2}").format(sweep, number[sweep], total)
                chosen = self.tr("chosen after trial {0}").format(number[sweep] - 1)
                detail = chosen if number[sweep] > 1 else state
            key = f"{QUEUED}{waiting.number}"
            drag = self.tr("Drag it, or press Alt+Up or Alt+Down, to change the order.")
            tip = "\n".join(filter(None, (waiting.folder, detail, drag)))
            rows.append(RunRow(key, name, "", "", tip, False, mark, tint, detail, True, True))
            last = config
        return rows

    def _begun(self, sweep: str) -> set[int]:
        """The numbers of the trials of a sweep that have begun."""
        session = self._session
        names = [Path(run.path).name for run in session.runs if run.sweep == sweep]
        train = Path(session.train.folder)
        names += [train.name] if train.parent == session.queue.folder / sweep else []
        numbers = (name.rpartition("-")[2] for name in names)
        return {int(number) for number in numbers if number.isdecimal()}

    def _heading(self, first: Run, trials: int) -> RunRow:
        """The line over the trials of a sweep."""
        folder = Path(first.path).parent
        left = sum(each.folder.startswith(f"{folder.name}/") for each in self._session.queue.waiting)
        words = self.tr("{0} trials").format(trials)
        if left:
            begun = len(self._begun(folder.name))
            words = self.tr("trial {0} of {1}").format(begun, begun + left)
        return RunRow(f"sweep {folder}", first.sweep, words, 0, str(folder), True)

    def _row(self, run: Run) -> LateRow:
        """A run's row, made when it is seen."""
        session = self._session
        titles, colors = session.run_titles, session.run_colors
        title, color = titles.get(run.path), colors.get(run.path)
        return (run.path, id(run), title, color, session.run_list.sort, language())

    def _new_row(self, run: Run, live: bool = False) -> RunRow:
        session = self._session
        title, color = session.run_title(run.path), session.run_color(run.path)
        words = _words_of(self._differences.changes(run))
        view, order = session.train, session.run_list
        state, figure, task = state_of(run, self), run.figure, run.task
        if live:
            state, figure, task = shown(view.message), view.figure, view.task
        if run.state == "running" or live:
            epoch = view.epoch if live else run.epoch
            running = self.tr("epoch {0}").format(max(1, epoch)) if epoch else self.tr("training")
        else:
            running = ""
        if order.sort in ("loss", "time", "steps"):
            value = metric_text(order.sort, metric(run, order.sort))
        elif figure == figure and not (running and not live):
            value = metric_of(task).named_text(figure)
        else:
            value = running
        name = "running" if live else run.state
        mark, tint = state_mark(name)
        plain = "" if name == "finished" else self._state_words(run, state, live)
        hidden = self.tr("hidden") if run.notes.hidden else ""
        # Of a missing folder the note is the state.
        damaged = "" if run.missing else " · ".join(shown(run.note).splitlines())
        parts = (hidden, plain, damaged, ", ".join(run.notes.tags), words)
        detail = " · ".join(filter(None, parts)) or state
        tip = "\n".join(
            filter(
                None,
                (
                    run.name,
                    state,
                    "" if live else shown(run.holder),
                    tr(title_of(str(run.config.get("data", "")))),
                    run.path,
                    words,
                    run.notes.note,
                    shown(run.note),
                    shown(run.failure),
                ),
            )
        )
        return RunRow(run.path, title, value, color, tip, False, mark, tint, detail, run.notes.hidden)

    def _state_words(self, run: Run, state: str, live: bool) -> str:
        if run.state == "interrupted" and not live:
            return self.tr("interrupted at step {0} of {1}").format(
                theme.format_number(run.step), theme.format_number(run.total_steps)
            )
        return state

    def close(self) -> None:
        """Follow the session no longer."""
        self._looking.stop()
        self._soon.stop()
        self._bonds.release()


def _words_of(changes: Iterable[Change]) -> str:
    """``Learning rate 0.01, Batch size 128`` in the language that holds now."""
    return tr(", ").join(
        tr("{0} {1}", "a setting and its value").format(tr(change.title), tr(change.after) or NONE)
        for change in changes
    )

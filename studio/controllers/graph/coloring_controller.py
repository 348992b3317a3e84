"""What the operators of the page Graph are coloured by: the bar above them, the tree, and the line below."""

from __future__ import annotations

from PySide6.QtCore import QObject

from resources import quantities
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.graph import figures as figure
from studio.session.graph.figures import LOOKED, SUBJECTS, Place
from studio.session.graph.measured_step import MeasuredStep
from studio.session.session import Session
from studio.windows.graph.graph_page import GraphPage
from studio.windows.project.project_panel import ProjectPanel
from widgets.program_tree import OperatorColors


class ColoringController(QObject):
    """Shows the choice of :class:`studio.session.graph.coloring.Coloring`."""

    def __init__(self, session: Session, page: GraphPage, project: ProjectPanel, actions: Actions) -> None:
        super().__init__(page)
        self._session, self._page, self._actions = session, page, actions
        self._graph, self._tools = session.graph, session.graph_tools
        self._coloring = session.graph_tools.coloring
        self._bonds = Bindings()
        bar = page.bar
        bar.color_chosen.connect(self._coloring.choose)
        bar.look_chosen.connect(self._coloring.choose_look)
        bar.step_toggled.connect(self._ask_step)
        self._bonds.follow(self._coloring.changed, self._show_bar)
        self._bonds.follow(self._coloring.painted, self.show)
        self._bonds.follow(self._tools.measuring.job.changed, self._measuring)
        self._bonds.follow(self._tools.diagram.drawn, lambda _: self._show_note())
        for name in ("subject", "loading", "program"):
            self._bonds.follow(getattr(self._graph.events, name), lambda _: self._show_step())
        self._bonds.again(self._show_bar)
        self._bonds.again(self._show_step)
        self._bonds.again(self._color_tree)
        self._bonds.again(self._show_note)

    # ----- the bar -----

    def titles(self) -> dict[str, str]:
        """What can be chosen, by its words."""
        tr = self.tr
        words = (
            *(tr("Time"), tr("Time forward"), tr("Time backward"), tr("Time of updates"), tr("Bytes moved")),
            *(tr("GFLOP/s"), tr("Share of the peak"), tr("Calls"), tr("Memory of results"), tr("Parameters")),
            *(tr("dtype"), tr("Gradient norm"), tr("Update to weights"), tr("Dead units")),
            *(tr("Quantization error"), tr("Difference")),
        )
        return dict(zip(SUBJECTS, words, strict=True))

    def _ask_step(self, whole: bool) -> None:
        graph = self._graph
        if graph.subject:
            graph.ask_again(whole)
            self._session.loader.load_program()
        else:
            graph.whole_step = whole
            if self._actions.trigger(commands.SHOW_GRAPH):
                graph.whole_step = graph.is_step
        self._show_step()

    def _show_step(self) -> None:
        graph, bar = self._graph, self._page.bar
        whole = graph.whole_step if graph.loading else graph.is_step
        bar.set_step(whole, shown(self._tools.why_no_step()))
        bar.show_phases([phase for phase in figure.PHASES if phase in self._coloring.shown.phases])

    def _measuring(self) -> None:
        self._actions.refresh()
        self._show_note()

    # ----- colours -----

    def show(self) -> None:
        """Show the numbers that were found."""
        if self._page.isVisible():
            self._show_bar()
            self._show_step()
            self._color_tree()
            self._show_note()

    def _show_bar(self) -> None:
        coloring, bar = self._coloring, self._page.bar
        why_not = {subject: shown(reason) for subject, reason in coloring.possible().items()}
        bar.set_colors(self.titles(), why_not, coloring.subject)
        looks = [self.tr("step {0}").format(quantities.count(look.step)) for look in coloring.looks]
        bar.set_looks(looks, coloring.look, coloring.subject in LOOKED)

    def _color_tree(self) -> None:
        shown = self._coloring.shown
        found = shown.figures
        if found is None:
            self._page.tree.set_colors(None)
            return
        notes = {place: self.tr("{0} fused").format(count) for place, count in shown.fused.items()}
        title = self._page.bar.title_of(found.subject)
        colors = OperatorColors(shown.values, title, found.unit, found.scale, found.labels, notes)
        self._page.tree.set_colors(colors)

    # ----- words -----

    def _show_note(self) -> None:
        parts = [self._groups(), *self._figures()]
        job = self._tools.measuring.job
        if job.running:
            parts.append(self.tr("Measuring a step…"))
        stale = self._coloring.is_stale
        if stale:
            parts.insert(0, self.tr("The source has changed since the step was measured: measure again."))
        self._page.set_note(" · ".join(part for part in parts if part), stale)

    def _groups(self) -> str:
        diagram = self._tools.diagram.diagram
        if diagram is None:
            return ""
        tr = self.tr
        words = {
            "layer": tr("Groups: calls of layers"),
            "line": tr("Groups: source lines, as the file has no paths of layer calls"),
            "prefix": tr("Groups: prefixes of parameter names, as the file has no paths of layer calls"),
        }.get(diagram.grouped_by, "")
        return f"{words}; {shown(diagram.shortened)}" if diagram.shortened else words

    def _figures(self) -> list[str]:
        found, step = self._coloring.shown.figures, self._coloring.measured_step
        if found is None:
            why = self._coloring.why_not(self._coloring.subject) if self._coloring.subject else ""
            return [shown(why)]
        if found.subject not in figure.MEASURED or step is None:
            return []
        words = [about(step, self)]
        if found.unit == "s" and found.rest > 0:
            rest = quantities.duration(found.rest)
            words.append(self.tr("other operators (loss, backward, updates): {0}").format(rest))
        drawn = self._tools.diagram.shown
        if drawn is not None and drawn.figures is found and found.unit == "s" and drawn.apart > 0:
            shared = quantities.duration(drawn.apart)
            words.append(self.tr("in fused kernels of several groups: {0}").format(shared))
        return words

    def facts(self, place: Place) -> list[tuple[str, str]]:
        """What a step of an operator costs, for the inspector."""
        step = self._coloring.measured_step
        if step is None or self._coloring.is_stale_step:
            return []
        costs, tr = self._coloring.costs_at(place), self.tr
        rows = []
        for cost in costs:
            if cost.fused > 1:
                rows.append((tr("Kernel"), tr("{0}, fused: {1} operators").format(cost.name, cost.fused)))
            rows.append((tr("Time"), quantities.duration(cost.seconds)))
            rows.append((tr("Calls"), f"{cost.calls:g}"))
            rows.append((tr("Bytes moved"), quantities.size(cost.bytes)))
            if cost.gflops is not None:
                rate = tr("{0} GFLOP/s").format(quantities.number(cost.gflops))
                if step.peak:
                    share = quantities.percent(cost.gflops / step.peak)
                    rate = tr("{0}, {1} of the peak").format(rate, share)
                rows.append((tr("Rate"), rate))
        return rows

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()


def about(step: MeasuredStep, of: QObject) -> str:
    """How long a step takes, and what computed it, in words."""
    tr = of.tr
    mode = tr("static") if step.static else tr("eager")
    threads = tr("1 thread") if step.threads == 1 else tr("{0} threads").format(step.threads)
    return tr("A step takes {0}: {1}, batch {2}, {3}").format(
        quantities.duration(step.unrecorded), mode, step.batch, threads
    )

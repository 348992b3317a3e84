"""The page Graph: the Program from the view model into both trees; the link of operators and source lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from resources import quantities
from resources.words import tr as translated
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.graph.coloring_controller import ColoringController
from studio.controllers.graph.diagram_controller import DiagramController
from studio.controllers.graph.program_words import subject_name, why_no_program
from studio.controllers.when_visible import WhenVisible
from studio.session.graph.figures import Place
from studio.session.graph.group_facts import GroupFacts
from studio.session.graph.line_map import line_map
from studio.session.graph.operator_source import gradient_sources, kernel_source
from studio.session.graph.text_lines import TextLines
from studio.session.session import Session
from studio.session.train.run_settings import title_of
from studio.windows.graph.graph_inspector import GraphInspector
from studio.windows.graph.graph_page import TEXT, GraphPage
from studio.windows.project.project_panel import ProjectPanel
from studio.windows.top_bar import PageActions
from widgets import theme
from widgets.program_tree import BlockData, Later, OperatorData, ProgramData, ProgramTree, VariableData


class GraphController(QObject):
    """A click on an operator marks its source line; a click on a line chooses its operators."""

    def __init__(
        self,
        session: Session,
        page: GraphPage,
        inspector: GraphInspector,
        project: ProjectPanel,
        bar: PageActions,
        actions: Actions,
        window: QWidget,
    ) -> None:
        super().__init__(page)
        self.diagram = DiagramController(session, page, actions, window)
        self.coloring = ColoringController(session, page, project, actions)
        self._session, self._page, self._inspector, self._project = session, page, inspector, project
        self._view = session.graph
        self._lines: dict[int, list[int]] = {}
        self._turn: tuple[int, int] = (0, 0)
        self._text: TextLines | None = None
        self._lines_of: dict[str, Any] = {}  # the Program that they are of
        self._bonds = Bindings()
        self._on_page, self._in_dock = WhenVisible(page), WhenVisible(project)
        actions.fill_bar(bar, "graph")
        page.line_chosen.connect(self._choose_line)
        page.converted_line_chosen.connect(self._choose_converted)
        page.text_line_chosen.connect(self._choose_text)
        page.view_chosen.connect(lambda _: self._mark_text())
        for tree in (page.tree, project.tree):
            tree.operator_selected.connect(lambda found: self._view.select(found[0], found[1]))
            tree.variable_selected.connect(lambda found: self._show_variable(found[1]))
        self.diagram.group_selected.connect(self._show_group)
        for event in (self._view.events.program, self._view.events.selected):
            self._bonds.follow(event, lambda _: self._forget_facts())
        self._bonds.show(self._view, "program", lambda _: self._show_program())
        self._bonds.show_any(self._view, ("subject", "loading", "why_empty", "unagreed"), self._show_empty)
        for name in (session.runs_changed, session.selection.events.item):
            self._bonds.follow(name, lambda _: self._show_title())
        self._bonds.show(self._view, "selected", lambda _: self._show_selected())
        self._bonds.again(self._show_title)
        self._bonds.again(lambda: self._on_page.call(self._show_facts_again))
        for event in (self._view.events.loading, self._view.events.program):
            self._bonds.follow(event, lambda _: actions.refresh())

    # ----- the Program -----

    def _show_program(self) -> None:
        self._in_dock.call(self._fill_dock)
        self._on_page.call(self._fill_page)
        self._show_title()
        self._show_empty()

    def _fill_dock(self) -> None:
        program = program_data(self._view.program, translated(title_of(self._view.model)))
        self._project.tree.set_program(program)
        self._project.set_has_program(bool(program.blocks))
        self._project.open_block()

    def _fill_page(self) -> None:
        view, page = self._view, self._page
        page.tree.set_program(program_data(view.program, translated(title_of(view.model))))
        page.set_text(view.text)
        page.set_sources(view.source_file, view.source, view.source_line, view.converted)
        self.diagram.show_program()
        self.coloring.show()
        self._session.graph_tools.select_wanted()
        self._lines = line_map(view.source, view.source_line, view.converted) if view.source else {}
        self._show_operator()

    def _show_title(self) -> None:
        blocks = self._view.program.get("blocks", [])
        count = theme.format_number(sum(len(block["ops"]) for block in blocks))
        words = self.tr("{0} · {1} operators").format(subject_name(self._session), count)
        self._page.set_program_title(words if blocks else "")

    def _show_empty(self) -> None:
        self._page.show_empty(not self._view.program, *why_no_program(self._session))

    # ----- selection -----

    def _show_selected(self) -> None:
        self._in_dock.call(self._select_in_dock)
        self._on_page.call(self._show_operator)

    def _select_in_dock(self) -> None:
        self._select_in(self._project.tree)

    def _select_in(self, tree: ProgramTree) -> None:
        selected = self._view.selected
        if selected is not None and tree.selected_operator() != selected:
            tree.select_operator(*selected)

    def _show_operator(self) -> None:
        operator = self._view.selected_operator()
        if operator is None:
            self._inspector.show_nothing(
                self.tr(
                    "Select an operator or a variable to see its inputs, outputs, attributes and source line."
                )
            )
            return
        self._select_in(self._page.tree)
        self.diagram.show_selected()
        self._mark_text()
        line = operator["line"] if operator["file"] == self._view.source_file else 0
        self._mark([line] if line else [])
        cost = self.coloring.facts(self._view.selected) if self._view.selected is not None else []
        self._inspector.set_sections([*self._sections(operator), (self.tr("Cost of a step"), cost)])
        self._inspector.set_code(self._code_of(operator["type"]))

    def _show_group(self, name: str, places: list[Place]) -> None:
        self._session.graph_tools.coloring.ask_of_group(places, lambda facts: self._show_facts(name, facts))

    _facts: Callable[[], None] | None = None  # shows those of a group or variable

    def _forget_facts(self) -> None:
        self._facts = None

    def _show_facts_again(self) -> None:
        if self._facts is not None:
            self._facts()

    def _show_facts(self, name: str, facts: GroupFacts) -> None:
        self._facts = lambda: self._show_facts(name, facts)
        tr = self.tr
        rows = [(tr("Operators"), quantities.count(facts.operators))]
        if facts.parameters is not None:
            rows.append((tr("Numbers in parameters"), quantities.count(int(facts.parameters))))
        if facts.bytes is not None:
            rows.append((tr("Memory of results"), quantities.size(facts.bytes)))
        if facts.seconds is not None:
            rows.append((tr("Time"), quantities.duration(facts.seconds)))
        kinds = [(kind, quantities.count(count)) for kind, count in facts.kinds]
        if facts.other:
            kinds.append((tr("other types"), quantities.count(facts.other)))
        self._inspector.set_sections(
            [(tr("{0} · group").format(name), rows), (tr("Operators by type"), kinds)]
        )
        self._inspector.set_code([])

    # ----- the text -----

    def _text_lines(self) -> TextLines:
        view = self._view
        if self._lines_of is not view.program or self._text is None:
            self._text, self._lines_of = TextLines(view.text, view.program), view.program
        return self._text

    def _mark_text(self) -> None:
        """Mark the operator in the text, while that can be seen."""
        selected = self._view.selected
        if self._page.current_view() == TEXT and selected is not None:
            self._page.mark_text_line(self._text_lines().line_of.get(selected))

    def _choose_text(self, line: int) -> None:
        place = self._text_lines().operator_at.get(line)
        if place is not None and place != self._view.selected:
            self._view.select(*place)

    def _code_of(self, kind: str) -> list[tuple[str, str, str]]:
        """Title, place and text of kernel and gradient rules of an operator."""
        kernel, rules = kernel_source(kind), gradient_sources(kind)
        found = [] if kernel is None else [(self.tr("Kernel"), kernel.place, kernel.text)]
        return found + [(self.tr("Gradient rule"), rule.place, rule.text) for rule in rules]

    def _mark(self, lines: Iterable[int]) -> None:
        lines = list(lines)
        self._page.source.mark_lines(lines)
        self._page.converted.mark_lines(other for line in lines for other in self._lines.get(line, []))
        if lines:
            self._page.source.centerCursor()

    def _choose_line(self, line: int) -> None:
        """Choose the operators of a line: the first one, and with each further click the next."""
        found = self._view.operators_at_line(line)
        if not found:
            self._mark([line])
            return
        before, turn = self._turn
        turn = (turn + 1) % len(found) if before == line and self._view.selected in found else 0
        self._turn = (line, turn)
        if self._view.selected == found[turn]:
            self._mark([line])
        self._view.select(*found[turn])

    def _choose_converted(self, line: int) -> None:
        for source, others in self._lines.items():
            if line in others:
                self._choose_line(source)
                return

    def _sections(self, operator: dict[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
        variables = {
            variable["name"]: variable for block in self._view.program["blocks"] for variable in block["vars"]
        }
        head = self.tr("{0} · operator {1}").format(operator["type"], (self._view.selected or (0, 0))[1])
        outputs = [name for names in operator["outputs"].values() for name in names]
        first = variables.get(outputs[0]) if outputs else None
        rows = [(self.tr("Layer"), operator["layer"])] if operator.get("layer") else []
        rows += [(slot, ", ".join(names)) for slot, names in operator["inputs"].items()]
        rows += [(slot, ", ".join(names)) for slot, names in operator["outputs"].items()]
        if first is not None:
            rows += [(self.tr("Shape"), shape_text(first["shape"])), (self.tr("dtype"), first["dtype"])]
        file = (operator["file"] or "").replace("\\", "/").rpartition("/")[2]
        if file:
            rows.append((self.tr("Source"), f"{file} : {operator['line']}"))
        attributes = [(name, attribute_text(value)) for name, value in sorted(operator["attrs"].items())]
        slots = (*operator["inputs"].values(), *operator["outputs"].values())
        names = [name for slot in slots for name in slot]
        tensors = [
            (name, f"{shape_text(variables[name]['shape'])} {variables[name]['dtype']}")
            for name in dict.fromkeys(names)
            if name in variables
        ]
        return [(head, rows), (self.tr("Attributes"), attributes), (self.tr("Tensors"), tensors)]

    def _show_variable(self, variable: VariableData) -> None:
        self._facts = lambda: self._show_variable(variable)
        yes, no = self.tr("yes"), self.tr("no")
        writes, reads = [], []
        for block in self._view.program.get("blocks", []):
            for index, operator in enumerate(block["ops"]):
                words = f"{operator['type']} ({index})"
                if any(variable.name in names for names in operator["outputs"].values()):
                    writes.append(words)
                if any(variable.name in names for names in operator["inputs"].values()):
                    reads.append(words)
        self._inspector.set_sections(
            [
                (
                    self.tr("{0} · variable").format(variable.name),
                    [
                        (self.tr("Shape"), shape_text(variable.shape)),
                        (self.tr("dtype"), variable.dtype),
                        (self.tr("Parameter"), yes if variable.parameter else no),
                        (self.tr("Kept"), yes if variable.persistable else no),
                        (self.tr("Gradient"), no if variable.stop_gradient else yes),
                        (self.tr("Written by"), ", ".join(writes)),
                        (self.tr("Read by"), ", ".join(reads)),
                    ],
                )
            ]
        )

    def close(self) -> None:
        """Follow the view model no longer."""
        self.diagram.close()
        self.coloring.close()
        self._bonds.release()
        self._on_page.forget()
        self._in_dock.forget()


def program_data(plain: dict[str, Any], name: str) -> ProgramData:
    """The Program's plain values as the tree wants them."""
    return ProgramData(name, tuple(_block(block) for block in plain.get("blocks", [])))


def _block(block: dict[str, Any]) -> BlockData:
    operators, variables = Later(block["ops"], _operator), Later(block["vars"], _variable)
    return BlockData(block["idx"], operators, variables, block["parent"])


def _variable(variable: dict[str, Any]) -> VariableData:
    return VariableData(
        variable["name"],
        tuple(variable["shape"]),
        variable["dtype"],
        variable["persistable"],
        variable["parameter"],
        variable["stop_gradient"],
    )


def _operator(operator: dict[str, Any]) -> OperatorData:
    attributes = operator["attrs"]
    blocks = tuple(region["block"] for region in operator["regions"])
    return OperatorData(
        operator["type"],
        {slot: tuple(names) for slot, names in operator["inputs"].items()},
        {slot: tuple(names) for slot, names in operator["outputs"].items()},
        {
            key: attribute_text(value) if isinstance(value, dict) else value
            for key, value in attributes.items()
        },
        operator["file"] or "",
        operator["line"] or 0,
        blocks,
    )


def attribute_text(value: Any) -> str:
    """An attribute for people; dtypes and specs by their names."""
    if isinstance(value, dict):
        if "dtype" in value:
            return str(value["dtype"])
        if "spec" in value:
            shape, dtype = value["spec"]
            return f"{shape_text(shape)} {dtype}"
    return str(value)


def shape_text(shape: Iterable[int]) -> str:
    """A shape with a question mark for a size that is known only when it runs."""
    return "[" + ", ".join("?" if size < 0 else str(size) for size in shape) + "]"

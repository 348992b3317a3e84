"""Help: the guide in a window of its own, at the page that belongs to what is shown; the list of keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices, QKeySequence

from resources.help_pages import FIRST, HelpPage, guide_folder, help_pages, page_text, section_in
from resources.words import marked
from studio.controllers.actions import Actions, command_text
from studio.session import commands
from studio.session.command import MENUS
from studio.session.commands import COMMANDS
from studio.windows.help_window import HelpWindow
from studio.windows.main_window import MainWindow
from studio.windows.palette import Entry

KEYS = "keys"
# The page of the guide for each page of the window.
OF_PAGE = {
    "data": "data.md",
    "code": "your-own-model.md",
    "train": "train.md",
    "runs": "runs.md",
    "graph": "graph.md",
    "export": "export.md",
    "debug": "debug.md",
    "predict": "predict.md",
}
# What the widgets do with keys next to the commands: where, and what.
WIDGET_KEYS = (
    ("Ctrl+Z", marked("Digit pad"), marked("Take the last stroke back.")),
    ("Delete", marked("Digit pad"), marked("Clear the pad.")),
    ("Left, Right", marked("Charts"), marked("Move the reading line by a step of the image.")),
    ("+, -, Home", marked("Charts"), marked("Closer, further away, everything.")),
    ("Ctrl+V", marked("Page Predict"), marked("Predict on the image in the clipboard.")),
    ("Space, Return", marked("Any button or chip"), marked("Press it.")),
    ("Tab, Shift+Tab", marked("Everywhere"), marked("The next control, the one before.")),
    ("Escape", marked("Dialogs, palette"), marked("Close without a change.")),
)


class HelpController(QObject):
    """Opens the help; the window is made when it is asked for first."""

    def __init__(self, window: MainWindow, actions: Actions) -> None:
        super().__init__(window)
        self._window, self._actions = window, actions
        self.shown: HelpWindow | None = None
        actions.handle(commands.HELP, self.open_for_page)
        actions.handle(commands.KEYS, lambda: self.open(KEYS))

    def pages(self) -> list[HelpPage]:
        """What the list of the help shows."""
        return [*help_pages(), HelpPage(self.tr("Keys"), KEYS, self.tr("All shortcuts"))]

    def entries(self) -> list[tuple[Entry, Callable[[], object]]]:
        """The pages of the help, for the palette."""
        word = self.tr("Help")
        return [
            (
                Entry(f"help:{page.file}", f"{word}: {page.title}", "", page.about),
                lambda file=page.file: self.open(file),
            )
            for page in self.pages()
        ]

    def open_for_page(self) -> None:
        """The help about the page that is shown."""
        file = OF_PAGE.get(self._window.current_page(), FIRST)
        self.open(file if (guide_folder() / file).is_file() else FIRST)

    def open(self, file: str) -> None:
        """Show a page of the guide, or ``keys``; after ``#`` a section of it."""
        if self.shown is None:
            self.shown = HelpWindow(self._window, self.pages, self._text, guide_folder())
            self.shown.link_activated.connect(self._follow)
        page, _, section = file.partition("#")
        if not self.shown.show_file(page):
            self.shown.show_file(KEYS)
        self.shown.show()
        self.shown.raise_()
        self.shown.activateWindow()
        if section:
            self._show_section(section)

    def _show_section(self, section: str) -> None:
        assert self.shown is not None
        if self.shown.file != KEYS:
            section = section_in(self.shown.file, section)
        self.shown.page.show_section(section)

    def _text(self, file: str) -> str:
        return self.keys_text() if file == KEYS else page_text(file)

    def _follow(self, link: str) -> None:
        assert self.shown is not None
        url = QUrl(link)
        if url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)
        else:
            file, _, section = link.partition("#")
            if file:
                self.shown.show_file(file)
            if section:
                self._show_section(section)

    def keys_text(self) -> str:
        """All shortcuts as Markdown tables, from the table of commands."""
        heads = (self.tr("Keys"), self.tr("Command"), self.tr("Action"))
        lines = [f"# {heads[0]}"]
        for menu in MENUS:
            rows = list(self._rows(menu))
            if rows:
                lines += ["", f"## {command_text(menu)}", "", *_table(heads, rows)]
        lines += ["", f"## {self.tr('In the window')}", ""]
        lines += _table(
            heads, [(keys, command_text(where), command_text(what)) for keys, where, what in WIDGET_KEYS]
        )
        return "\n".join(lines)

    def _rows(self, menu: str) -> Iterator[tuple[str, str, str]]:
        for command in COMMANDS:
            if command.menu == menu and command.keys:
                keys = QKeySequence(command.keys).toString(QKeySequence.SequenceFormat.NativeText)
                if command.on_page:
                    page = command_text(commands.PAGES[command.on_page].title)
                    keys = self.tr("{0}, page {1}").format(keys, page)
                yield keys, command_text(command.title), command_text(command.help)

    def close(self) -> None:
        """Close the help with the window."""
        if self.shown is not None:
            self.shown.close()


def _table(heads: tuple[str, str, str], rows: list[tuple[str, str, str]]) -> list[str]:
    lines = [f"| **{keys}** | {what} | {help_text} |" for keys, what, help_text in rows]
    return [f"| {' | '.join(heads)} |", "|---|---|---|", *lines]

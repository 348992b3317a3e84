"""The help: the guide's pages with a list, a search over all of them, and Back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextTable,
)
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QTextBrowser,
    QWidget,
)

from resources.help_pages import HelpPage, anchor_of
from widgets import theme
from widgets.delayed import delayed
from widgets.labels import mute
from widgets.layouts import vertical
from widgets.retranslated import Retranslated

_FILE = Qt.ItemDataRole.UserRole
_LINE = 125  # per cent of the font's own line height


class _Page(QTextBrowser):
    """Markdown; images no wider than the page."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._markdown = ""
        self._laid_out_for = 0
        # A change of the theme comes with several of the width.
        self._again = delayed(self, 0, self.again)
        theme.changed.connect(self._again.start)
        self._at_top = delayed(self, 0, self._bring_to_top)
        self.setOpenLinks(False)
        # Everything is as wide as the page; a table may round up to one pixel more.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(theme.SPACE_L)

    def show_markdown(self, text: str) -> None:
        self._markdown = text
        self._again.stop()
        self._laid_out_for = self._room()
        self.document().clear()
        self.document().setDefaultFont(theme.font())
        self.document().setMarkdown(text, QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
        self._lay_out()
        self.moveCursor(
            QTextCursor.MoveOperation.Start
        )  # else the window scrolls to its end when it is shown
        self.verticalScrollBar().setValue(0)

    def show_section(self, anchor: str) -> bool:
        """Bring the heading of a section to the top; False where there is none of that anchor."""
        block = self.document().begin()
        while block.isValid():
            if block.blockFormat().headingLevel() and anchor_of(block.text()) == anchor:
                self.setTextCursor(QTextCursor(block))
                self._bring_to_top()
                self._at_top.start()  # once more when the window has its size
                return True
            block = block.next()
        return False

    def _bring_to_top(self) -> None:
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.cursorRect().top() - theme.SPACE_S)

    def _lay_out(self) -> None:
        """Air around paragraphs, and quiet tables: Markdown comes without either."""
        document = self.document()
        changes = QTextCursor(document)
        changes.beginEditBlock()  # else the document is laid out after each paragraph
        block = document.begin()
        while block.isValid():
            form, cursor = block.blockFormat(), QTextCursor(block)
            heading = form.headingLevel() > 0
            if cursor.currentTable() is None:
                form.setTopMargin(theme.SPACE_L if heading and block.blockNumber() else 0)
                form.setBottomMargin(theme.SPACE_S)
            # A line is a share higher than what is in it: of an image that would be a third of a page.
            share = 100 if _has_image(block) else _LINE
            form.setLineHeight(share, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
            form.setNonBreakableLines(False)  # long lines of code continue below
            cursor.setBlockFormat(form)
            block = block.next()
        for frame in document.rootFrame().childFrames():
            if isinstance(frame, QTextTable):
                table = frame.format().toTableFormat()
                table.setBorderBrush(QColor(theme.current().line))
                table.setBorderCollapse(True)
                table.setCellPadding(theme.SPACE_XS)
                table.setBottomMargin(theme.SPACE_S)
                frame.setFormat(table)
        changes.endEditBlock()

    def again(self) -> None:
        """Lay the page out anew: another width, another theme."""
        place = self.verticalScrollBar().value()
        self.show_markdown(self._markdown)
        self.verticalScrollBar().setValue(place)

    def loadResource(self, kind: int, url: QUrl | str) -> object:
        if kind != QTextDocument.ResourceType.ImageResource.value:
            return super().loadResource(kind, url)
        path = (self._folder / (url if isinstance(url, str) else url.toString())).resolve()
        if not path.is_relative_to(self._folder.parent.resolve()):
            return QImage()
        return _image(str(path), self._room())

    def _room(self) -> int:
        """The width of a line of text, with or without a scroll bar next to it."""
        bar = self.verticalScrollBar().sizeHint().width()
        return self.width() - 2 * self.frameWidth() - bar - 2 * theme.SPACE_L

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._room() != self._laid_out_for and "![" in self._markdown:
            self._again.start()


def _has_image(block: QTextBlock) -> bool:
    """Whether a block of text is, or contains, an image."""
    part = block.begin()
    while not part.atEnd():
        if part.fragment().charFormat().isImageFormat():
            return True
        part += 1
    return False


@lru_cache(4)
def _image(path: str, room: int) -> QImage:
    image = QImage(path)
    if image.width() > room > 0:
        image = image.scaledToWidth(room, Qt.TransformationMode.SmoothTransformation)
    return image


class HelpWindow(Retranslated, QDialog):
    """Next to the main window, never in its way.

    Args:
        pages: what the list shows, in the language that holds now.
        text_of: the Markdown of a page by its file; raises FileNotFoundError.
        folder: where images are looked for.
    """

    link_activated = Signal(str)

    def __init__(
        self,
        parent: QWidget,
        pages: Callable[[], Sequence[HelpPage]],
        text_of: Callable[[str], str],
        folder: Path,
    ) -> None:
        super().__init__(parent)
        self._pages_of, self._text_of = pages, text_of
        self._pages: Sequence[HelpPage] = ()
        self._texts: dict[str, str] = {}
        self._history: list[str] = []
        self.file = ""
        self.box, self.list, self.page = QLineEdit(), QListWidget(), _Page(folder)
        self.back = QPushButton()
        self.note = mute(wrap=True)
        self._build()
        self.retranslate()

    def _build(self) -> None:
        side = QWidget()
        column = vertical(side, (theme.SPACE_M, theme.SPACE_M, theme.SPACE_S, theme.SPACE_M))
        column.addWidget(self.box)
        column.addWidget(self.list, 1)
        line = QHBoxLayout()
        line.addWidget(self.back)
        line.addStretch(1)
        column.addLayout(line)
        column.addWidget(self.note)
        split = QSplitter()
        split.addWidget(side)
        split.addWidget(self.page)
        split.setStretchFactor(1, 1)
        split.setSizes([240, 620])
        layout = vertical(self, 0, spacing=None)
        layout.addWidget(split)
        self.resize(860, 620)
        self.box.textChanged.connect(self.filter)
        self.box.returnPressed.connect(self._first)
        self.box.setClearButtonEnabled(True)
        self.list.currentItemChanged.connect(lambda item, _: self._chosen(item))
        self.back.clicked.connect(self.go_back)
        self.page.anchorClicked.connect(lambda url: self.link_activated.emit(url.toString()))
        QShortcut(QKeySequence.StandardKey.Find, self, self.box.setFocus)
        QShortcut(QKeySequence.StandardKey.Back, self, self.go_back)

    # what is shown

    def show_file(self, file: str, remember: bool = True) -> bool:
        """Show a page by its file; False, with a note, where there is none."""
        try:
            text = self._text(file)
        except FileNotFoundError as error:
            self.note.setText(str(error))
            return False
        if remember and self.file and file != self.file:
            self._history.append(self.file)
        self.file = file
        self.note.setText("")
        self.page.show_markdown(text)
        self.back.setEnabled(bool(self._history))
        self._mark()
        return True

    def go_back(self) -> None:
        """The page before this one."""
        if self._history:
            self.show_file(self._history.pop(), remember=False)

    def filter(self, words: str) -> None:
        """List the pages that have all these words, in their title or text."""
        wanted = words.lower().split()
        self.list.blockSignals(True)
        self.list.clear()
        for page in self._pages:
            text = f"{page.title}\n{self._text(page.file)}".lower() if wanted else ""
            if all(word in text for word in wanted):
                item = QListWidgetItem(page.title)
                item.setData(_FILE, page.file)
                item.setToolTip(page.about)
                self.list.addItem(item)
        self.list.blockSignals(False)
        self.note.setText("" if self.list.count() else self.tr("No page has these words."))
        self._mark()

    def _text(self, file: str) -> str:
        if file not in self._texts:
            self._texts[file] = self._text_of(file)
        return self._texts[file]

    def _mark(self) -> None:
        self.list.blockSignals(True)
        rows = [row for row in range(self.list.count()) if self.list.item(row).data(_FILE) == self.file]
        self.list.setCurrentRow(rows[0] if rows else -1)
        self.list.blockSignals(False)

    def _chosen(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        self.show_file(item.data(_FILE))
        words = self.box.text().split()
        if words:
            self.page.find(words[0])

    def _first(self) -> None:
        if self.list.count():
            self.list.setCurrentRow(0)
            self._chosen(self.list.item(0))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.setWindowTitle(self.tr("Help"))
        self.box.setPlaceholderText(self.tr("Search the help"))
        self.box.setAccessibleName(self.tr("Search the help"))
        self.list.setAccessibleName(self.tr("Pages of the help"))
        self.page.setAccessibleName(self.tr("Help page"))
        self.back.setText(self.tr("Back"))
        self._pages = self._pages_of()
        self._texts.clear()
        if self.file:
            bar = self.page.verticalScrollBar()
            place = bar.value() / max(1, bar.maximum())
            self.show_file(self.file)
            bar.setValue(round(place * bar.maximum()))
        self.filter(self.box.text())

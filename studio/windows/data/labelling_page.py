"""Labelling on the page Data: images to select, and the classes that they are given by a click or a key."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPoint, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QMenu,
    QProgressBar,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from studio.windows.controls import PageCard
from studio.windows.data.tiles import SIDE, Tiles, icon_of, pixmap_of
from widgets import theme
from widgets.cards import EmptyState
from widgets.icons import icon_pixmap, set_icon
from widgets.labels import mute
from widgets.layouts import horizontal
from widgets.retranslated import Retranslated

KEYS = 9
"""The first classes have a key each, 1 to 9."""
CLASSES_WIDTH, CLASSES_HEIGHT = 232, 260
_NO_LIMIT = 16_777_215  # Qt's QWIDGETSIZE_MAX
_KEYS_WIDTH, _COUNTS_WIDTH = 28, 52


class LabellingPage(Retranslated, QWidget):
    """Filled by its controller.

    ``selection_changed`` carries the names of the selected files; ``label_chosen`` the class that they get,
    empty for none; ``class_added`` a new one, ``class_renamed`` one with its new name. ``filter_chosen``
    carries which images are to be shown, ``turned`` 1 or -1 for another page. ``back_requested`` asks for the
    images that were labelled before.
    """

    selection_changed = Signal(object)
    label_chosen = Signal(str)
    class_added = Signal(str)
    class_renamed = Signal(str, str)
    filter_chosen = Signal(str)
    turned = Signal(int)
    next_requested = Signal()
    back_requested = Signal()
    exclude_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tiles = Tiles()
        self.tiles.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.filter, self.before, self.behind = QComboBox(), QPushButton(), QPushButton()
        self.filter.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.page_note, self.hint = mute(), mute(wrap=True)
        self._place = ""
        self.empty = EmptyState("", icon="check")
        self.classes = QTreeWidget()
        self.name, self.add = QLineEdit(), QPushButton()
        set_icon(self.add, "plus")
        self.progress, self.bar = mute(), QProgressBar()
        self.bar.setTextVisible(False)
        self.class_note, self.reason = mute(wrap=True), mute(wrap=True)
        self.images_card, self.classes_card = PageCard(), PageCard()
        self._names: tuple[str, ...] = ()
        self._files: tuple[str, ...] = ()
        self._build()
        self.retranslate()

    def _build(self) -> None:
        self._cards = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._cards.setContentsMargins(0, 0, 0, 0)
        self._cards.setSpacing(theme.SPACE_M)
        self._cards.addWidget(self.images_card, 1)
        self._cards.addWidget(self.classes_card)
        self._arrange(stacked=False)
        self.images_card.header.addWidget(self.filter)
        body = self.images_card.body
        body.addWidget(self.tiles, 1)
        body.addWidget(self.empty, 1)
        self._below = horizontal(None, 0, theme.SPACE_S)
        for widget in (self.page_note, self.before, self.behind):
            self._below.addWidget(widget)
        self._below.addStretch(1)
        body.addLayout(self._below)
        body.addWidget(self.hint)
        self._build_classes()
        self.tiles.itemSelectionChanged.connect(lambda: self.selection_changed.emit(self.selected()))
        self.filter.activated.connect(lambda _: self.filter_chosen.emit(self.filter.currentData()))
        self.before.clicked.connect(lambda: self.turned.emit(-1))
        self.behind.clicked.connect(lambda: self.turned.emit(1))
        self.empty.action_triggered.connect(lambda: self.filter_chosen.emit("all"))

    def _arrange(self, stacked: bool) -> None:
        """Put the classes at the right, or in a narrow window above the images."""
        directions = QBoxLayout.Direction
        self._cards.setDirection(directions.BottomToTop if stacked else directions.LeftToRight)
        self.classes_card.setMaximumWidth(_NO_LIMIT if stacked else CLASSES_WIDTH)
        self.classes_card.setMinimumWidth(0 if stacked else CLASSES_WIDTH)
        self.classes_card.setMaximumHeight(CLASSES_HEIGHT if stacked else _NO_LIMIT)
        self.tiles.setMinimumHeight(2 * SIDE if stacked else 0)

    def minimumSizeHint(self) -> QSize:
        wide = max(card.minimumSizeHint().width() for card in (self.images_card, self.classes_card))
        return QSize(wide, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        needed = self.images_card.minimumSizeHint().width() + theme.SPACE_M + CLASSES_WIDTH
        self._arrange(stacked=event.size().width() < needed)
        super().resizeEvent(event)

    def _build_classes(self) -> None:
        tree = self.classes
        tree.setColumnCount(3)
        tree.setHeaderHidden(True)
        tree.setRootIsDecorated(False)
        tree.setUniformRowHeights(True)
        tree.setTextElideMode(Qt.TextElideMode.ElideRight)
        header = tree.header()
        header.setStretchLastSection(False)
        for column, width in ((0, _KEYS_WIDTH), (2, _COUNTS_WIDTH)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            header.resizeSection(column, width)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        tree.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        tree.customContextMenuRequested.connect(self._offer_rename)
        tree.itemChanged.connect(self._rename)
        tree.itemClicked.connect(lambda item, _: self.label_chosen.emit(item.text(1)))
        line = horizontal(None, 0, theme.SPACE_S)
        line.addWidget(self.name, 1)
        line.addWidget(self.add)
        body = self.classes_card.body
        body.addWidget(self.progress)
        body.addWidget(self.bar)
        body.addWidget(tree, 1)
        body.addWidget(self.class_note)
        body.addLayout(line)
        body.addWidget(self.reason)
        self.name.returnPressed.connect(self._add)
        self.add.clicked.connect(self._add)
        for view in (self.tiles, tree):
            view.installEventFilter(self)

    def _add(self) -> None:
        name = self.name.text().strip()
        if name:
            self.class_added.emit(name)
        else:
            self.tiles.setFocus()

    def _offer_rename(self, place: QPoint) -> None:
        item = self.classes.itemAt(place) or self.classes.currentItem()
        if item is not None:
            menu = QMenu(self)
            menu.addAction(self.tr("Rename class"), lambda: self.classes.editItem(item, 1))
            menu.exec(self.classes.viewport().mapToGlobal(place))
            menu.deleteLater()

    def _rename(self, item: QTreeWidgetItem, column: int) -> None:
        """An edit has ended: the class is called what its controller makes of it."""
        place = self.classes.indexOfTopLevelItem(item)
        if column == 1 and 0 <= place < len(self._names) and item.text(1) != self._names[place]:
            before, name = self._names[place], item.text(1)
            with QSignalBlocker(self.classes):
                item.setText(1, before)
            self.class_renamed.emit(before, name)

    def add_actions(self, exclude: QWidget, following: QWidget) -> None:
        """Put buttons next to the filter and below the images."""
        self.images_card.header.addWidget(exclude)
        self._below.addWidget(following)

    # ----- contents -----

    def show_images(
        self, files: Sequence[str], labels: Sequence[str], note: str, turns: tuple[bool, bool]
    ) -> bool:
        """Show these images with their labels; ``turns`` says whether there is a page before and behind.
        Returns whether they are others than before, whose thumbnails are missing."""
        new = tuple(files) != self._files
        with QSignalBlocker(self.tiles):
            if new:
                self._files = tuple(files)
                self.tiles.show_tiles([_blank()] * len(files), labels, files)
            else:
                self.tiles.set_labels(labels)
        self.tiles.setVisible(bool(files))
        self.empty.setVisible(not files)
        self.page_note.setText(note)
        for button, possible in zip((self.before, self.behind), turns, strict=True):
            button.setEnabled(possible)
            button.setVisible(any(turns))
        return new

    def show_thumbnails(self, images: Iterable[tuple[str, np.ndarray[Any, Any] | None]]) -> None:
        """Show these images in their tiles; None for one that can't be read."""
        places = {file: place for place, file in enumerate(self._files)}
        for file, image in images:
            if file in places:
                item = self.tiles.item(places[file])
                item.setIcon(icon_of(_shown(image)))

    def select(self, files: Sequence[str]) -> None:
        """Select these images."""
        wanted = set(files)
        with QSignalBlocker(self.tiles):
            first = next((place for place, file in enumerate(self._files) if file in wanted), None)
            if self.selected() != tuple(file for file in self._files if file in wanted):
                self.tiles.clearSelection()
                if first is not None:
                    self.tiles.setCurrentRow(first)
                for place, file in enumerate(self._files):
                    self.tiles.item(place).setSelected(file in wanted)
                if first is not None:
                    self.tiles.scrollToItem(self.tiles.item(first))
        self.tiles.viewport().update()

    def selected(self) -> tuple[str, ...]:
        """The files that are selected, in their order."""
        return tuple(file for place, file in enumerate(self._files) if self.tiles.item(place).isSelected())

    def show_classes(self, classes: Sequence[tuple[str, int]]) -> None:
        """Show the classes with how many images each has."""
        with QSignalBlocker(self.classes):
            self._fill_classes(classes)
        self.class_note.setText(
            self.tr("Select images, then click a class or press its number.")
            if classes
            else self.tr("Add the classes first: type a name and press Enter.")
        )

    def _fill_classes(self, classes: Sequence[tuple[str, int]]) -> None:
        names = tuple(name for name, _ in classes)
        if names != self._names:
            self._names = names
            self.classes.clear()
            for place, name in enumerate(names):
                key = str(place + 1) if place < KEYS else ""
                item = QTreeWidgetItem([key, name, ""])
                item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
                item.setToolTip(1, name)
                self.classes.addTopLevelItem(item)
        for place, (name, count) in enumerate(classes):
            item = self.classes.topLevelItem(place)
            if item is not None:
                item.setText(2, str(count))
                item.setData(1, Qt.ItemDataRole.AccessibleTextRole, f"{name}, {count}")

    def show_progress(self, labelled: int, total: int, reason: str, saving: int = 0) -> None:
        """Show how many images have a label; ``reason`` says why they can't be trained on yet. The labels of
        ``saving`` images are not on the disk yet."""
        words = self.tr("{0} of {1} labelled, saving {2}") if saving else self.tr("{0} of {1} labelled")
        self.progress.setText(words.format(labelled, total, saving))
        self.bar.setRange(0, max(1, total))
        self.bar.setValue(labelled)
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))

    def offer_filters(self, filters: Sequence[tuple[str, str]], chosen: str) -> None:
        """Which images can be shown, as (name, words)."""
        rows = range(self.filter.count())
        if [(self.filter.itemData(row), self.filter.itemText(row)) for row in rows] != list(filters):
            self.filter.clear()
            for name, words in filters:
                self.filter.addItem(words, name)
        self.filter.setCurrentIndex(max(0, self.filter.findData(chosen)))

    def begin(self) -> None:
        """A folder is open: the keys go to the images, or to the name of the first class."""
        self.name.clear()
        (self.tiles if self._names else self.name).setFocus()

    def show_place(self, place: str) -> None:
        """Show where labels are saved; empty for the folder itself."""
        self._place = place
        self._show_hint()

    def _show_hint(self) -> None:
        words = self.tr(
            "Space selects the next unlabelled image, Backspace removes a label or returns to the image "
            "before, Delete excludes. Type a name to add a class."
        )
        if self._place:
            words += "\n" + self.tr("The folder is read-only: labels are saved in {0}").format(self._place)
        self.hint.setText(words)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.images_card.set_title(self.tr("Images"))
        self.classes_card.set_title(self.tr("Classes"))
        self.before.setText(self.tr("Previous"))
        self.behind.setText(self.tr("Next"))
        self.before.setToolTip(self.tr("Show the images before these"))
        self.behind.setToolTip(self.tr("Show the images after these"))
        self._show_hint()
        self.empty.set_text(self.tr("No image is left here."), self.tr("Show all images"))
        self.name.setPlaceholderText(self.tr("New class"))
        self.name.setAccessibleName(self.tr("Name of a new class"))
        self.add.setText(self.tr("Add"))
        self.add.setToolTip(self.tr("Add a class with this name"))
        self.filter.setAccessibleName(self.tr("Images that are shown"))
        self.tiles.setAccessibleName(self.tr("Images to label"))
        self.classes.setAccessibleName(self.tr("Classes: Enter labels the selected images"))
        self.bar.setAccessibleName(self.tr("Share of labelled images"))

    # ----- keys -----

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._take_key(watched, event)
        return super().eventFilter(watched, event)

    def _take_key(self, watched: QObject, event: QKeyEvent) -> bool:
        """Whether a key that was pressed in a list is one of the labelling."""
        key = Qt.Key(event.key())
        if event.modifiers() & ~(Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier):
            return False
        digit = event.key() - Qt.Key.Key_1
        item = self.classes.currentItem()
        if 0 <= digit < KEYS:
            if digit < len(self._names):
                self.label_chosen.emit(self._names[digit])
        elif key == Qt.Key.Key_0:
            self.label_chosen.emit("")
        elif key == Qt.Key.Key_Backspace:
            self.back_requested.emit()
        elif key == Qt.Key.Key_Delete:
            self.exclude_requested.emit()
        elif key == Qt.Key.Key_Space and watched is self.tiles:
            self.next_requested.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and watched is self.classes:
            if item is not None:
                self.label_chosen.emit(item.text(1))
        elif event.text().isalpha() and watched is self.tiles:
            self.name.setFocus()
            self.name.setText(event.text())
        else:
            return False
        return True


def _blank() -> QPixmap:
    """A tile before its image is there."""
    pixmap = QPixmap(SIDE, SIDE)
    pixmap.fill(QColor(theme.current().hover))
    return pixmap


def _shown(image: np.ndarray[Any, Any] | None) -> QPixmap:
    if image is not None:
        return pixmap_of(image)
    return icon_pixmap("error", theme.current().mute, SIDE // 2, 1.0)

"""The main window: top bar, docks around the pages, status bar, and the layout that is remembered."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from PySide6.QtCore import QByteArray, QCoreApplication, QMargins, QPoint, QRect, QSettings, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QIcon, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QDockWidget, QMainWindow, QStackedWidget, QTabBar, QWidget

from studio.windows.controls import Scroll
from studio.windows.file_drops import FileDrops
from studio.windows.output_panel import OutputPanel
from studio.windows.project.project_panel import ProjectPanel
from studio.windows.status_bar import StatusBar
from studio.windows.top_bar import TopBar
from widgets.icons import icon_pixmap
from widgets.retranslated import Retranslated
from widgets.toast import Toast

LAYOUT_VERSION = 1
FRAME_TOP, FRAME_SIDE = 38, 6
LEFT, RIGHT, BOTTOM = 232, 300, 220
DOCK_FEATURES = (
    QDockWidget.DockWidgetFeature.DockWidgetMovable
    | QDockWidget.DockWidgetFeature.DockWidgetFloatable
    | QDockWidget.DockWidgetFeature.DockWidgetClosable
)


Layout: TypeAlias = tuple[object, object]


def read_layout(file: str) -> Layout:
    """The geometry and the state of the docks in a file. A thread may call it."""
    settings = QSettings(file, QSettings.Format.IniFormat)
    return settings.value("geometry"), settings.value("state")


class MainWindow(Retranslated, QMainWindow):
    """Knows where things stand, not what they mean: the controllers fill it.

    ``may_close`` is asked before the window closes; ``files_dropped`` carries the paths of files and
    folders dropped anywhere.
    """

    files_dropped = Signal(list)
    closed = Signal()

    def __init__(self, layout_file: str) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        # Also of its dialogs. Its own colours: the name of one is not used.
        QGuiApplication.setWindowIcon(QIcon(icon_pixmap("model-studio", "black", 64)))
        self.may_close: Callable[[], bool] = lambda: True
        self.write: Callable[[Callable[[], object]], object] = lambda work: work()
        self._layout_file = layout_file
        self.top = TopBar()
        self.setMenuWidget(self.top)
        self.pages = QStackedWidget()
        self.setCentralWidget(self.pages)
        self._pages: dict[str, QWidget] = {}
        self._made_room: set[QDockWidget] = set()
        self.panels = QStackedWidget()
        self._panels: dict[str, QWidget] = {}
        self.project = ProjectPanel()
        self.output = OutputPanel()
        self.left = self._dock("leftDock", self.project, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.right = self._dock("rightDock", self.panels, Qt.DockWidgetArea.RightDockWidgetArea)
        self.bottom = self._dock("bottomDock", self.output, Qt.DockWidgetArea.BottomDockWidgetArea)
        self.setDockNestingEnabled(True)
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        self.status = StatusBar()
        self.setStatusBar(self.status)
        self.toast = Toast(self, self.pages)
        self.drops = FileDrops(self)
        self.drops.dropped.connect(self.files_dropped)
        for dock in (self.left, self.right, self.bottom):
            self.drops.follow_dock(dock)
        self._restored = False
        self.resize(1280, 800)
        self.reset_layout()
        self._first = self.saveState(LAYOUT_VERSION)
        self.retranslate()

    def _dock(self, name: str, content: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(self)
        dock.setObjectName(name)
        dock.setFeatures(DOCK_FEATURES)
        dock.setWidget(content)
        self.addDockWidget(area, dock)
        return dock

    # pages

    def add_page(self, name: str, page: QWidget, panel: QWidget) -> None:
        """A page for the middle, and what the right dock shows next to it."""
        scroll = Scroll(page)
        self._pages[name] = scroll
        self.pages.addWidget(scroll)
        side = Scroll(panel)
        self._panels[name] = side
        self.panels.addWidget(side)

    def show_page(self, name: str) -> None:
        """Bring a page to the front."""
        self.pages.setCurrentWidget(self._pages[name])
        self.panels.setCurrentWidget(self._panels[name])
        self.top.show_page(name)

    def current_page(self) -> str:
        """The name of the page that is shown."""
        return next((name for name, page in self._pages.items() if page is self.pages.currentWidget()), "")

    def show_output(self, tab: int) -> None:
        """Open the bottom dock at one of its tabs."""
        self.output.show_tab(tab)
        self.bottom.show()
        self.toast.raise_()

    # layout

    def reset_layout(self) -> None:
        """Docks where they were at first, the bottom one closed."""
        for dock, area in (
            (self.left, Qt.DockWidgetArea.LeftDockWidgetArea),
            (self.right, Qt.DockWidgetArea.RightDockWidgetArea),
            (self.bottom, Qt.DockWidgetArea.BottomDockWidgetArea),
        ):
            dock.setFloating(False)
            self.addDockWidget(area, dock)
            dock.setVisible(dock is not self.bottom)
        self.resizeDocks([self.left, self.right], [LEFT, RIGHT], Qt.Orientation.Horizontal)
        self.resizeDocks([self.bottom], [BOTTOM], Qt.Orientation.Vertical)

    def save_layout(self) -> None:
        """Remember size and docks, those too that only a narrow window has closed."""
        for dock in self._made_room:
            dock.show()
        geometry, state = self.saveGeometry(), self.saveState(LAYOUT_VERSION)

        def write() -> None:
            settings = QSettings(self._layout_file, QSettings.Format.IniFormat)
            settings.setValue("geometry", geometry)
            settings.setValue("state", state)
            settings.sync()

        self.write(write)

    def restore_layout(self, layout: Layout | None = None) -> bool:
        """Size and docks as they were left; False where there are none, or of another version.

        ``layout`` has been read before; else it is read now.
        """
        geometry, state = read_layout(self._layout_file) if layout is None else layout
        if not (isinstance(geometry, QByteArray) and isinstance(state, QByteArray)):
            return False
        self.restoreGeometry(geometry)
        if not self.restoreState(state, LAYOUT_VERSION):
            self.reset_layout()
            return False
        self._restored = True
        return True

    def fit_screen(self, available: QRect | None = None) -> None:
        """Stand on the screen as a whole, with the frame that the system adds.

        Args:
            available: where windows may be; by default the free area of the window's screen.
        """
        if self.isMaximized() or self.isFullScreen():
            return
        room = (available or self.screen().availableGeometry()).marginsRemoved(self._frame())
        size = self.size().boundedTo(room.size())
        place = QRect(self.pos() if self._restored else room.center() - QRect(QPoint(), size).center(), size)
        place.moveRight(min(place.right(), room.right()))
        place.moveBottom(min(place.bottom(), room.bottom()))
        place.moveTopLeft(QPoint(max(place.left(), room.left()), max(place.top(), room.top())))
        self.setGeometry(place)

    def _frame(self) -> QMargins:
        """The frame around the window; before there is one, about what systems have."""
        inner, outer = self.geometry(), self.frameGeometry()
        if outer != inner:
            return QMargins(
                inner.left() - outer.left(),
                inner.top() - outer.top(),
                outer.right() - inner.right(),
                outer.bottom() - inner.bottom(),
            )
        return QMargins(FRAME_SIDE, FRAME_TOP, FRAME_SIDE, FRAME_SIDE)

    def sizeHint(self) -> QSize:
        return QSize(1280, 800)

    # events

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.drops.follow(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room(event.oldSize().width(), event.size().width())

    def _make_room(self, before: int, now: int) -> None:
        """A narrow window is for the page alone: docks at the sides go when it gets narrow, and come back."""
        for dock, limit in ((self.left, 880), (self.right, 680)):
            if dock.isFloating():
                continue
            if now < limit <= (before if before > 0 else limit) and not dock.isHidden():
                dock.hide()
                self._made_room.add(dock)
            elif now >= limit and dock in self._made_room:
                self._made_room.discard(dock)
                dock.show()

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.may_close():
            event.ignore()
            return
        self.save_layout()
        event.accept()
        self.closed.emit()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        self.left.setWindowTitle(self.tr("Project"))
        self.bottom.setWindowTitle(self.tr("Output"))
        self.pages.setAccessibleName(self.tr("Pages"))
        _retranslate_buttons(self)


def _retranslate_buttons(window: MainWindow) -> None:
    """Name the small buttons of docks and tabs anew: Qt names them only when it makes them."""
    of_docks = (
        ("qt_dockwidget_floatbutton", "Float", "Undocks and re-attaches the dock widget"),
        ("qt_dockwidget_closebutton", "Close", "Closes the dock widget"),
    )
    of_tabs = (("ScrollLeftButton", "Scroll Left", ""), ("ScrollRightButton", "Scroll Right", ""))
    tr, docks = QCoreApplication.translate, (window.left, window.right, window.bottom)
    for context, holders, buttons in (
        ("QDockWidget", docks, of_docks),
        ("QTabBar", window.findChildren(QTabBar), of_tabs),
    ):
        for holder in holders:
            for name, title, about in buttons:
                direct = Qt.FindChildOption.FindDirectChildrenOnly
                for button in holder.findChildren(QAbstractButton, name, direct):
                    button.setAccessibleName(tr(context, title))
                    button.setAccessibleDescription(tr(context, about) if about else "")

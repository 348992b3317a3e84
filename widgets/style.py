"""The style sheet made of the tokens: what Fusion can't say with a palette alone.

Roles are set with `setProperty("role", ...)`: buttons "primary", "quiet", "row", "status"; labels "title",
"section", "mute", "ok", "bad"; frames "card", "panel", "line"; QToolButton "page", "brand", "menu".
A style sheet can't move the text of a spin box: give its `lineEdit()` text margins of 6 pixels at the left.
"""

from __future__ import annotations

from string import Template

from widgets.tokens import RADIUS_CARD, RADIUS_CONTROL, SECTION_PX, Tokens

_SHEET = Template("""
QToolTip { background: $panel; color: $text; border: 1px solid $line; padding: 4px 6px; }
QMainWindow, QDialog { background: $ground; }
QMainWindow::separator { background: $line; width: 1px; height: 1px; }
QFrame[role="card"] { background: $panel; border: 1px solid $line; border-radius: ${card}px; }
QFrame[role="panel"] { background: $panel; border: none; }
QFrame[role="toast"] { background: $panel; border: 1px solid $mute; border-radius: ${card}px; }
QFrame[role="line"] { background: $line; border: none; }
QLabel { background: transparent; }
QLabel[role="mute"] { color: $mute; }
QLabel[role="mute"]:disabled { color: $disabled; }
QLabel[role="section"] { color: $mute; font-size: ${section}px; font-weight: 600; }
QLabel[role="title"] { font-weight: 600; }
QLabel[role="ok"] { color: $ok; }
QLabel[role="bad"] { color: $bad; }
QLabel[role="warn"] { color: $text; }

QPushButton, QToolButton[role="button"] {
  background: $panel; color: $text; border: 1px solid $line; border-radius: ${control}px;
  padding: 0 12px; min-height: 26px; }
QPushButton:hover { background: $hover; }
QPushButton:pressed, QPushButton:checked { background: $selection; border-color: $accent; }
QPushButton:focus { border: 2px solid $accent; padding: 0 11px; min-height: 24px; }
QPushButton:disabled { color: $disabled; background: $ground; border-color: $line; }
QPushButton[role="primary"] {
  background: $accent; color: $on_accent; border-color: $accent; font-weight: 600; }
QPushButton[role="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[role="primary"]:pressed { background: $accent; }
QPushButton[role="primary"]:focus { border: 2px solid $text; }
QPushButton[role="primary"]:disabled { background: $track; color: $disabled; border-color: $track; }
QPushButton[role="quiet"] { background: transparent; border-color: transparent; color: $accent; }
QPushButton[role="quiet"]:hover { background: $hover; }
QPushButton[role="quiet"]:checked { background: $selection; }
QPushButton[role="quiet"]:focus { border: 2px solid $accent; }
QPushButton[role="quiet"]:disabled { color: $disabled; }
QPushButton[role="row"], QPushButton[role="status"] {
  background: transparent; border-color: transparent; color: $mute; text-align: left; padding: 0 7px; }
QPushButton[role="row"]:hover, QPushButton[role="status"]:hover { background: $hover; }
QPushButton[role="row"]:focus, QPushButton[role="status"]:focus { border: 2px solid $accent; padding: 0 6px; }
QPushButton[role="status"] { min-height: 20px; }
QPushButton[role="status"]:focus { min-height: 18px; }
QPushButton::menu-indicator { image: url(icons:style-down.svg); subcontrol-position: right center; right: 6px;
}
QPushButton[role="primary"]::menu-indicator { image: url(icons:style-down-$mark.svg); }

QToolButton { background: transparent; border: 1px solid transparent; border-radius: ${control}px; padding:
3px;
  color: $text; }
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked { background: $selection; }
QToolButton:focus { border: 1px solid $accent; }
QToolButton:disabled { color: $disabled; }
QToolButton[role="page"] { padding: 6px 7px; color: $mute; }
QToolButton[role="page"]:checked { color: $text; background: $selection; font-weight: 600; }
QToolButton[role="brand"] { padding: 5px 8px; font-weight: 600; }
QToolButton[role="brand"]::menu-indicator, QToolButton[role="menu"]::menu-indicator { image: none; }
QDialog#palette { background: $panel; border: 1px solid $mute; }
QFrame#topBar { border-bottom: 1px solid $line; }

QLineEdit, QAbstractSpinBox, QComboBox {
  background: $field; color: $text; border: 1px solid $line; border-radius: ${control}px; padding: 0 8px;
  min-height: 26px; selection-background-color: $accent; selection-color: $on_accent; }
QLineEdit:hover, QAbstractSpinBox:hover, QComboBox:hover { border-color: $mute; }
QLineEdit:focus, QAbstractSpinBox:focus, QComboBox:focus {
  border: 2px solid $accent; padding: 0 7px; min-height: 24px; }
QLineEdit[invalid="true"], QAbstractSpinBox[invalid="true"], QComboBox[invalid="true"] { border-color: $bad; }
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled { color: $disabled; background: $ground; }
QLineEdit { padding: 0 6px; }
QLineEdit:focus { padding: 0 5px; }
QLineEdit:read-only { background: $panel; }
QAbstractSpinBox { padding: 0 20px 0 6px; }
QAbstractSpinBox:focus { padding: 0 19px 0 5px; }
QAbstractSpinBox QLineEdit, QComboBox QLineEdit, QAbstractSpinBox QLineEdit:focus, QComboBox QLineEdit:focus {
  border: none; background: transparent; padding: 0; min-height: 0; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button {
  subcontrol-origin: border; width: 20px; border: none; background: transparent; }
QAbstractSpinBox::up-button { subcontrol-position: top right; margin: 2px 2px 0 0; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; margin: 0 2px 2px 0; }
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover { background: $hover; }
QAbstractSpinBox::up-arrow { image: url(icons:style-up.svg); width: 10px; height: 10px; }
QAbstractSpinBox::down-arrow { image: url(icons:style-down.svg); width: 10px; height: 10px; }
QAbstractSpinBox::up-arrow:disabled, QAbstractSpinBox::up-arrow:off { image: url(icons:style-up-off.svg); }
QAbstractSpinBox::down-arrow:disabled, QAbstractSpinBox::down-arrow:off {
  image: url(icons:style-down-off.svg); }
QComboBox::drop-down { border: none; width: 24px; subcontrol-origin: border; subcontrol-position: center
right; }
QComboBox::down-arrow { image: url(icons:style-down.svg); width: 14px; height: 14px; }
QComboBox QAbstractItemView { background: $panel; border: 1px solid $line; padding: 4px; outline: none;
  selection-background-color: $selection; selection-color: $text; }
QComboBox QAbstractItemView::item { min-height: 26px; padding: 0 4px; }

QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }

QCheckBox, QRadioButton { spacing: 8px; background: transparent; }
QCheckBox:disabled, QRadioButton:disabled { color: $disabled; }
QCheckBox::indicator, QRadioButton::indicator, QListView::indicator {
  width: 16px; height: 16px; border: 1px solid $mute; background: $field; border-radius: 4px; }
QRadioButton::indicator { border-radius: 9px; }
QCheckBox::indicator:hover, QRadioButton::indicator:hover, QListView::indicator:hover {
  border-color: $accent; }
QCheckBox::indicator:checked, QListView::indicator:checked { background: $accent; border-color: $accent;
  image: url(icons:style-check-$mark.svg); }
QCheckBox::indicator:indeterminate { background: $accent; border-color: $accent;
  image: url(icons:style-dash-$mark.svg); }
QRadioButton::indicator:checked { background: $panel; border: 5px solid $accent; width: 8px; height: 8px; }
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border: 2px solid $accent; width: 14px; height:
14px; }
QCheckBox::indicator:checked:focus { border: 2px solid $text; }
QRadioButton::indicator:checked:focus { border: 2px solid $text; width: 14px; height: 14px;
  background: qradialgradient(cx: 0.5, cy: 0.5, radius: 0.5, fx: 0.5, fy: 0.5,
  stop: 0 $panel, stop: 0.42 $panel, stop: 0.5 $accent, stop: 1 $accent); }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { border-color: $line; background: $ground; }
QCheckBox::indicator:checked:disabled { background: $disabled; border-color: $disabled; }

QSlider:horizontal { min-height: 20px; }
QSlider::groove:horizontal { height: 4px; border-radius: 2px; background: $track; }
QSlider::sub-page:horizontal { height: 4px; border-radius: 2px; background: $accent; }
QSlider::handle:horizontal { width: 12px; height: 12px; margin: -5px 0; border-radius: 7px; background:
$panel;
  border: 1px solid $mute; }
QSlider::handle:horizontal:hover { border-color: $accent; }
QSlider::handle:horizontal:focus { border: 2px solid $accent; width: 10px; height: 10px; }
QProgressBar { background: $track; border: none; border-radius: 3px; max-height: 6px; min-height: 6px;
  text-align: center; color: transparent; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }

QAbstractScrollArea { background: $panel; }
QScrollArea, QScrollArea > QWidget > QWidget[role="page"] { background: transparent; border: none; }
QAbstractItemView { background: $panel; color: $text; border: none; outline: none;
  selection-background-color: $selection; selection-color: $text; }
QAbstractItemView[focusRing="true"]:focus { border: 1px solid $accent; }
QTreeView::item, QListView::item, QTableView::item { padding: 3px 4px; border: none; }
QTreeView::item { min-height: 20px; }
QListView::item { min-height: 22px; border-radius: ${control}px; }
QTreeView::item:hover, QListView::item:hover, QTableView::item:hover { background: $hover; }
QTreeView::item:selected, QListView::item:selected, QTableView::item:selected {
  background: $selection; color: $text; }
QTreeView::branch { background: transparent; }
QTreeView::branch:selected { background: $selection; }
QTreeView::branch:hover:!selected { background: $hover; }
QTreeView::branch:has-children:closed { image: url(icons:style-right.svg); }
QTreeView::branch:has-children:open { image: url(icons:style-down.svg); }
QHeaderView { background: $panel; }
QHeaderView::section { background: $panel; color: $mute; border: none; border-bottom: 1px solid $line;
  padding: 4px 6px; font-size: ${section}px; font-weight: 600; }
QTableView { gridline-color: $line; }
QTableCornerButton::section { background: $panel; border: none; }
QPlainTextEdit, QTextEdit { background: $code; color: $text; border: 1px solid transparent;
  border-radius: ${control}px; selection-background-color: $accent; selection-color: $on_accent; }
QPlainTextEdit:focus, QTextEdit:focus { border-color: $accent; }
QGraphicsView { border: 1px solid transparent; border-radius: 4px; background: $panel; }
QGraphicsView:focus { border-color: $accent; }

QScrollBar { background: transparent; border: none; margin: 0; }
QScrollBar:vertical { width: 10px; }
QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: $track; border-radius: 3px; margin: 2px; min-height: 24px; min-width: 24px; }
QScrollBar::handle:hover { background: $mute; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; border: none; }

QMenuBar { background: transparent; color: $text; border: none; padding: 0; }
QMenuBar::item { background: transparent; padding: 6px 8px; border-radius: ${control}px; }
QMenuBar::item:selected { background: $selection; }
QMenu { background: $panel; color: $text; border: 1px solid $line; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 24px; border-radius: 4px; }
QMenu::item:selected { background: $selection; }
QMenu::item:disabled { color: $disabled; }
QMenu::icon { padding-left: 4px; }
QMenu::separator { height: 1px; background: $line; margin: 4px 8px; }
QToolBar { background: $panel; border: none; border-bottom: 1px solid $line; padding: 6px 12px; spacing: 6px;
}
QToolBar::separator { background: $line; width: 1px; margin: 4px 6px; }
QStatusBar { background: $panel; color: $mute; border-top: 1px solid $line; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: $mute; }
QDockWidget { color: $mute; font-size: ${section}px; font-weight: 600;
  titlebar-close-icon: url(icons:style-close.svg); titlebar-normal-icon: url(icons:style-float.svg); }
QDockWidget::title { background: $panel; padding: 8px 12px 4px 8px; text-align: left; }
QDockWidget::close-button, QDockWidget::float-button { border: none; background: transparent; padding: 1px; }
QDockWidget::close-button:hover, QDockWidget::float-button:hover { background: $hover; border-radius: 4px; }
QTabWidget::pane { border: none; background: transparent; }
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $mute; padding: 6px 12px; border: 1px solid transparent;
  border-radius: ${control}px; margin-right: 4px; }
QTabBar::tab:hover { background: $hover; }
QTabBar::tab:selected { background: $selection; color: $text; }
QTabBar::tab:focus { border-color: $accent; }
QSplitter::handle { background: transparent; }
QSplitter::handle:horizontal { width: 12px; }
QSplitter::handle:vertical { height: 12px; }
QSplitter::handle:hover { background: $selection; border-radius: 3px; }
QGroupBox { border: none; margin-top: 20px; font-weight: 600; }
QGroupBox::title { subcontrol-origin: margin; left: 0; color: $mute; }
""")


def style_sheet(tokens: Tokens) -> str:
    """The application's style sheet for one theme."""
    colors = {name: value for name, value in vars(tokens).items() if isinstance(value, str)}
    return _SHEET.substitute(
        colors,
        mark="dark" if tokens.dark else "light",
        control=RADIUS_CONTROL,
        card=RADIUS_CARD,
        section=SECTION_PX,
    )

"""Command: one thing that a user can do, as its row in the table of commands declares it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from studio.session.session import Session

Menu = Literal["File", "Edit", "Run", "View", "Help"]
MENUS: tuple[Menu, ...] = get_args(Menu)

# The sentence why a command is not possible now; empty where it is possible.
Condition: TypeAlias = Callable[["Session"], str]


def _always(session: Session) -> str:
    return ""


@dataclass(frozen=True)
class Position:
    """Where a command has a button or a menu entry, besides its menu and the palette.

    Args:
        area: a page (its actions in the top bar), or another area that is filled from the table.
        index: the order within the area.
        primary: drawn as the main action of the area.
    """

    area: str
    index: int
    primary: bool = False


@dataclass(frozen=True, eq=False)
class Command:
    """A row of the table.

    Args:
        id: the stable name, which scripts and tests use; ``session.execute`` takes it too.
        title: as shown in menus and on buttons.
        menu: the menu that lists it. The palette lists every command.
        help: one sentence for tooltips and the palette.
        keys: the shortcut in Qt's portable form, such as ``Ctrl+O``; empty for none.
        icon: the name of its icon in ``resources/icons``; empty for none.
        possible: gives the sentence why the command is not possible now.
        shown: buttons and entries besides the menu.
        separate: the menu draws a line above it.
        page: the page that the command opens.
        choice: the group of commands of which one is checked.
        group: the title of the submenu that lists it; empty for the menu itself.
        button: what its buttons say where the title is long and the page says the rest.
        on_page: the page on which its keys hold; there they take precedence over a command that has the same
            keys on all pages. Empty for every page.
    """

    id: str
    title: str
    menu: Menu
    help: str
    keys: str = ""
    icon: str = ""
    possible: Condition = _always
    shown: tuple[Position, ...] = ()
    separate: bool = False
    page: str = ""
    choice: str = ""
    group: str = ""
    button: str = ""
    on_page: str = ""

"""The colours, sizes and run colours of the studio, light and dark: the one place where they are written."""

from __future__ import annotations

from dataclasses import dataclass

from resources import run_colors

SPACE_XS, SPACE_S, SPACE_M, SPACE_L, SPACE_XL = 4, 8, 12, 16, 24
PAGE_PADDING = 12
RADIUS_CONTROL = 6
RADIUS_CARD = 8
CONTROL_HEIGHT = 28
ICON_SIZE = 16

BODY_PX = 13
SECTION_PX = 11
FIGURE_PX = 20


@dataclass(frozen=True)
class Syntax:
    """Colours of Python source text."""

    keyword: str
    string: str
    number: str
    comment: str
    definition: str
    decorator: str
    builtin: str


@dataclass(frozen=True)
class Tokens:
    """One theme; every colour is `#RRGGBB`.

    `field`, `hover`, `track` and `code` are grounds (inputs, pointed-at rows, empty bars, source text);
    `on_accent` is text on the accent; `canvas` and `ink` belong to images of digits, which are white on
    black in every theme.
    """

    name: str
    ground: str
    panel: str
    line: str
    text: str
    mute: str
    accent: str
    selection: str
    ok: str
    warn: str
    bad: str
    field: str
    hover: str
    track: str
    code: str
    disabled: str
    on_accent: str
    accent_hover: str
    syntax: Syntax
    runs: tuple[str, ...]
    canvas: str = "#0B0D10"
    ink: str = "#E8ECF4"

    @property
    def dark(self) -> bool:
        return self.name == "dark"


LIGHT = Tokens(
    name="light",
    ground="#F6F7F9",
    panel="#FFFFFF",
    line="#E3E6EB",
    text="#1B1F27",
    mute="#667085",
    accent="#3B5BDB",
    selection="#E7ECFF",
    ok="#1B7F5C",
    warn="#B7791F",
    bad="#C0392B",
    field="#F6F7F9",
    hover="#F1F3F7",
    track="#E3E6EB",
    code="#F4F5F8",
    disabled="#A3ABBA",
    on_accent="#FFFFFF",
    accent_hover="#304CC2",
    syntax=Syntax(
        keyword="#7A2BBF",
        string="#1B7A4B",
        number="#A34A00",
        comment="#667085",
        definition="#2447C5",
        decorator="#8A5A00",
        builtin="#0B6E85",
    ),
    runs=run_colors.LIGHT,
)

DARK = Tokens(
    name="dark",
    ground="#14171C",
    panel="#1B1F26",
    line="#2A303A",
    text="#E6E9EF",
    mute="#8B95A5",
    accent="#7C93FF",
    selection="#263056",
    ok="#4CC38A",
    warn="#E2B04A",
    bad="#F2746B",
    field="#14171C",
    hover="#232831",
    track="#2A303A",
    code="#171A21",
    disabled="#59616F",
    on_accent="#10131A",
    accent_hover="#93A6FF",
    syntax=Syntax(
        keyword="#C99BFF",
        string="#7FD1A0",
        number="#F0A868",
        comment="#8B95A5",
        definition="#8FB0FF",
        decorator="#E2B04A",
        builtin="#6CC7DA",
    ),
    runs=run_colors.DARK,
)

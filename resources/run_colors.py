"""The colours of runs, in light and dark: the place of a run's colour means the same in both."""

from __future__ import annotations

LIGHT = ("#3B5BDB", "#E8590C", "#2B8A3E", "#C2255C", "#0B7285", "#9C36B5", "#846358", "#495057")
DARK = ("#7C93FF", "#FF9458", "#5BCB82", "#F2719B", "#3BC0D4", "#CE7FE3", "#BC9686", "#A9B2BD")


def color_in(colors: tuple[str, ...], color: int | str) -> str:
    """A run's colour among ``colors``, one of the two above.

    An int counts through them; a text that is a run colour of either theme becomes its counterpart; any other
    colour stays as the user chose it.
    """
    if isinstance(color, int):
        return colors[color % len(colors)]
    for known in (LIGHT, DARK):
        if color.upper() in known:
            return colors[known.index(color.upper())]
    return color

r"""How a panel is drawn: one style, and SVG that is the same bytes every time.

Colours are put into the SVG as CSS variables with a fallback, so that a panel follows the page into
dark mode and still stands alone. Text is drawn as paths, so that a panel looks the same everywhere.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "RINGS", "Figure", "panel", "plain_ticks", "standing_alone"]

#: How a value found by running the map is drawn: on a line, without hiding it.
RINGS: dict[str, Any] = {"linestyle": "none", "marker": "o", "markerfacecolor": "none"}

#: Name of each CSS variable and its value in light mode. Okabe and Ito's colours, which people with
#: any of the common colour deficiencies can tell apart.
COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "ink": "#1c2127",
        "faint": "#8b929c",
        "grid": "#e3e6ea",
        "panel": "#fdfdfe",
        "blue": "#0072b2",
        "orange": "#d55e00",
        "green": "#009e73",
        "purple": "#9c5a8f",
    }
)

_WIDTH, _HEIGHT = 4.3, 3.3  # inches; a 9-point letter is still 10 pixels high on a telephone

_STYLE = {
    "svg.fonttype": "path",
    "svg.hashsalt": "grpo-dynamics",
    "font.family": ["DejaVu Sans"],  # comes with matplotlib
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.edgecolor": COLOURS["faint"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.titlecolor": COLOURS["ink"],
    "axes.facecolor": COLOURS["panel"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": COLOURS["grid"],
    "grid.linewidth": 0.7,
    "text.color": COLOURS["ink"],
    "xtick.color": COLOURS["faint"],
    "ytick.color": COLOURS["faint"],
    "xtick.labelcolor": COLOURS["ink"],
    "ytick.labelcolor": COLOURS["ink"],
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 1.7,
    "lines.markersize": 4.2,
    "legend.frameon": False,
    "legend.fontsize": 8.3,
    "legend.handlelength": 1.9,
}


@dataclass(frozen=True)
class Figure:
    """A figure of the page: panels side by side, or below each other where there is no room.

    Attributes
    ----------
    id
        Fragment of its address on the page.
    title
        What it shows.
    caption
        What it means.
    alt
        What someone who cannot see it should know.
    panels
        One SVG document each.
    """

    id: str
    title: str
    caption: str
    alt: str
    panels: tuple[str, ...]


def plain_ticks(axes: Axes) -> None:
    """Write 0.001 and not a power of ten, which few read as fast."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def standing_alone(svg: str) -> str:
    """Give an SVG a ground: a page in dark mode would swallow the axes of a transparent one."""
    return svg.replace("<svg ", '<svg style="background:#fff" ', 1)


def panel(name: str, draw: Callable[[Axes], None]) -> str:
    """Draw one panel and return it as SVG.

    Parameters
    ----------
    name
        Prefix of every id inside, so that panels can share a page.
    draw
        Draws on the axes it is given.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    with mpl.rc_context(_STYLE):
        canvas = Canvas(figsize=(_WIDTH, _HEIGHT), layout="constrained")
        FigureCanvasSVG(canvas)
        draw(canvas.add_subplot())
        out = io.StringIO()
        canvas.savefig(
            out,
            format="svg",
            transparent=False,
            facecolor="none",
            metadata={"Date": None, "Creator": None},
        )
    return _embeddable(out.getvalue(), name)


def _embeddable(svg: str, name: str) -> str:
    """Return the SVG without prolog and metadata, its ids its own, its colours the page's."""
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = svg.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
    for variable, colour in COLOURS.items():
        svg = svg.replace(colour, f"var(--{variable}, {colour})")
    return re.sub(r"^<svg ", '<svg aria-hidden="true" ', svg)

r"""What is committed and yet generated: derivation book, kernels, figures, the table of findings.

They are made from the derivations, so they can only differ from what these give now if one of the
two was changed without the other. A figure is written anew with the others, but its bytes depend on
the version of the plotting library, so of it only the presence is checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from derivations import book
from numerics import kernel_table
from numerics.plots import standing_alone
from numerics.report import findings_page

__all__ = ["PARTS", "NotACheckout", "Part", "source_tree"]


class NotACheckout(ValueError):
    """The package is installed without the files that are generated into its source tree."""


@dataclass(frozen=True)
class Part:
    """One folder of generated files.

    Attributes
    ----------
    folder
        Where it is in the source tree.
    differing, regenerate
        Of a folder: which files differ from what the derivations give; write them all.
    """

    folder: str
    differing: Callable[[Path], list[str]]
    regenerate: Callable[[Path], object]

    def drift(self, root: Path) -> list[str]:
        """Return the files below `root` that differ, are missing or are too many."""
        return [f"{self.folder}/{found}" for found in self.differing(root / self.folder)]

    def write(self, root: Path) -> None:
        """Write the files below `root`."""
        self.regenerate(root / self.folder)


def _figures() -> dict[str, str]:
    """Return file name -> SVG of the figures that the README and the explanation show."""
    from numerics import explanation
    from numerics.experiments.transformer import RESULTS, chosen, look
    from numerics.report.figures import stability_chart

    drawn = {"stability.svg": stability_chart().panels[0], **explanation.figures()}
    trained = {
        name: svg
        for experiment in chosen(())
        for name, svg in look(experiment, RESULTS, quick=False).figures().items()
    }
    return {name: standing_alone(svg) for name, svg in drawn.items()} | trained


def _missing_figures(folder: Path) -> list[str]:
    from numerics.explanation import FIGURES

    names = ("stability.svg", *(f"{name}.svg" for name in FIGURES))
    return [f"{name}: missing" for name in names if not (folder / name).is_file()]


def _write_figures(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in _figures().items():
        (folder / name).write_text(svg, encoding="utf-8")


PARTS = (
    Part("docs/derivations", book.drift, book.write),
    Part("numerics/kernels", kernel_table.drift, kernel_table.write),
    Part("docs/figures", _missing_figures, _write_figures),
    Part("docs", findings_page.stale, findings_page.write),
)


def source_tree() -> Path:
    """Return the root of the source tree that this package is run from.

    Raises
    ------
    NotACheckout
        If it is run from somewhere else.
    """
    root = Path(__file__).resolve().parents[2]
    if not all((root / name).exists() for name in ("pyproject.toml", "docs", "derivations")):
        raise NotACheckout(
            "generated files are looked after in a source tree only: clone the project, "
            "pip install -e . and run this there"
        )
    return root

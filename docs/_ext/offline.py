"""The build fails if a page would fetch anything when it is looked at."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import SphinxError

_FETCHED = re.compile(
    r"""<(?:script|link|img|iframe|source|object|video|audio)\b[^>]*?"""
    r"""\b(?:src|href|data|srcset)=["'](?:https?:)?//[^"']*"""
)
_STYLE = re.compile(r"""(?:@import\s+|url\()["']?(?:https?:)?//[^"')]*""")


def _check(app: Sphinx, failure: Exception | None) -> None:
    if failure is not None:
        return
    found = []
    for pattern, expression in (("*.html", _FETCHED), ("*.css", _STYLE)):
        for path in sorted(Path(app.outdir).rglob(pattern)):
            hit = expression.search(path.read_text(encoding="utf-8"))
            if hit:
                found.append(f"{path.relative_to(app.outdir)}: {hit[0]}")
    if found:
        raise SphinxError("pages that fetch when looked at:\n" + "\n".join(found))


def setup(app: Sphinx) -> dict[str, object]:
    """Look at every page once the site is written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

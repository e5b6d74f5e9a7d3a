"""What every page is made of: escaped text, terms, exact numbers, and a document round them.

Everything that is put into a page is escaped where it is put, by `text`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources

__all__ = ["document", "number", "terms", "text"]


_LONG = 1e7  # shorter numbers are written out


def text(words: object) -> str:
    """Return `words` for use inside an element or an attribute.

    Characters that HTML does not allow (controls, lone surrogates) become the replacement sign.
    """
    return escape("".join(c if _allowed(c) else "\N{REPLACEMENT CHARACTER}" for c in str(words)))


def number(value: float, digits: int = 4) -> str:
    """Return a number rounded for people; the element holds it as JSON would."""
    written = ".0f" if 10**digits <= abs(value) < _LONG else f".{digits}g"
    shown = f"{value:{written}}".replace("-", "\N{MINUS SIGN}").replace("inf", "∞")
    if not math.isfinite(value):
        return shown
    exact = value if isinstance(value, int) else float(value)
    return f'<data value="{exact!r}">{shown}</data>'


def terms(rows: Mapping[str, str]) -> str:
    """Return names and what they stand for."""
    items = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in rows.items())
    return f'<dl class="terms">{items}</dl>'


def document(title: str, body: str, *, styles: Iterable[str] = ()) -> str:
    """Return a page that needs nothing but itself; `styles` are added to that of every page."""
    common = resources.files("numerics").joinpath("report", "page.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>\n{''.join([*styles, common])}</style>\n"
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _allowed(character: str) -> bool:
    code = ord(character)
    return character in "\t\n" or not (code < 32 or 127 <= code < 160 or 0xD800 <= code < 0xE000)

"""What trainers write where a number belongs."""

from __future__ import annotations

import math
import re

__all__ = ["NUMERAL", "integer", "number"]

#: A number inside a line of text, wrapped or not; `number` reads what it matches.
NUMERAL = (
    r"[+-]?(?:(?:np|numpy|torch)\.)?(?:float|int|uint|bfloat|tensor|array)\d*\([^()]*\)"
    r"|[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%?"
    r"|[+-]?(?:nan|NaN|NAN|inf|Inf|Infinity|-Infinity)|None|null"
)
_WRAPPED = re.compile(r"(?:\w+\.)?[a-z]+\d*\(\s*\[?\s*([^,\]()]*?)\s*\]?\s*(?:,.*)?\)", re.DOTALL)
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")


def integer(text: str) -> int | float:
    """Return the integer of a JSON text, infinity where no float holds it.

    Python converts no integer of several thousand digits.
    """
    return int(text) if len(text) < 300 else float(text)


def number(value: object, *, decimal_comma: bool = False) -> float:
    r"""Return the number a log holds; NaN where it holds none.

    Reads floats, integers, and as text also ``np.float64(0.5)``, ``tensor(0.5, device='cuda:0')``,
    ``50%``, ``1,234.5`` and, where the whole file uses it, the decimal comma.
    """
    if isinstance(value, float):
        return value
    if isinstance(value, bool) or not isinstance(value, int | str):
        return math.nan
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return math.nan
    text = value.strip()
    if text.endswith(")"):
        wrapped = _WRAPPED.fullmatch(text) if len(text) < 200 else None
        return number(wrapped[1]) if wrapped else math.nan
    try:
        return float(text)
    except ValueError:
        pass
    if not text or len(text) > 200:
        return math.nan
    if decimal_comma and text.count(",") == 1:
        return number(text.replace(",", "."))
    if _THOUSANDS.fullmatch(text):
        return float(text.replace(",", ""))
    if text.endswith("%"):
        return number(text[:-1]) / 100
    return math.nan

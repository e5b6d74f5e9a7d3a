r"""What is said when a formula cannot be read."""

from __future__ import annotations

_SHOWN = 60  # characters of a stranger's text that a message repeats


def quote(text: str) -> str:
    r"""Return `text` quoted for a one-line message: escaped, and cut to about 60 characters.

    Everything unprintable (line ends, null bytes, right-to-left marks, lone surrogates) is
    written as an escape, so that a message cannot be made to look like another one.
    """
    shown = repr(text[:_SHOWN])
    if len(text) > _SHOWN or len(shown) > _SHOWN + 2:
        return shown[: _SHOWN - 3].rstrip("\\") + "..." + shown[0]
    return shown


def _neighbourhood(text: str, position: int) -> str:
    """Return the part of `text` around `position` that a message can show."""
    if len(text) <= _SHOWN:
        return quote(text)
    start = max(0, position - _SHOWN // 2)
    return quote(text[start : start + _SHOWN - 1])


class FormulaError(ValueError):
    r"""A formula that cannot be read, or an expression that the language cannot write.

    Parameters
    ----------
    reason : str
        What was given, what is allowed, what to do; one line.
    text : str
        The whole formula, as printed.
    position : int or None
        Index into `text` of the character that gave offence; None when it is the whole text.
    """

    def __init__(self, reason: str, text: str = "", position: int | None = None) -> None:
        super().__init__(reason, text, position)
        self.reason = reason
        self.text = text
        self.position = position

    def __str__(self) -> str:
        if self.position is None:
            return self.reason
        where = f"character {self.position + 1} of {_neighbourhood(self.text, self.position)}"
        return f"{self.reason} ({where})"

"""The elements of one JSON document, read without holding the document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any

from numerics.inputs import InvalidInput
from numerics.logs.numerals import integer
from numerics.logs.text import LONGEST

__all__ = ["elements"]

_SPACE = " \t\n\r"


def elements(
    stream: IO[str], *, longest: int = LONGEST
) -> Iterator[tuple[str, bool, Any]]:
    r"""Yield the parts of the document: key, whether it is an element of a list, value.

    A list at the top yields its elements under the key ""; an object yields its values, and of a
    list among them the elements one by one. NaN and Infinity are read as Python writes them.

    Raises
    ------
    InvalidInput
        Truncated, not JSON, or one value of more than `longest` characters.
    """
    reader = _Reader(stream, longest)
    if reader.peek() == "[":
        yield from reader.list_of("")
    else:
        reader.expect("{")
        while (sign := reader.peek()) != "}":
            if sign == ",":
                reader.expect(",")
                continue
            key = reader.value()
            if not isinstance(key, str):
                raise reader.broken()
            reader.expect(":")
            if reader.peek() == "[":
                yield from reader.list_of(key)
            else:
                yield key, False, reader.value()
    if reader.more_after_end():
        raise InvalidInput("something follows the end of the JSON document; give one document")


class _Reader:
    """A window on the text: what is before `place` has been read."""

    def __init__(self, stream: IO[str], longest: int) -> None:
        self._stream = stream
        self._longest = longest
        self._decoder = json.JSONDecoder(parse_int=integer)
        self._text = ""
        self._place = 0
        self._before = 0
        self._ended = False

    def list_of(self, key: str) -> Iterator[tuple[str, bool, Any]]:
        self.expect("[")
        while (sign := self.peek()) != "]":
            if sign == ",":
                self.expect(",")
            else:
                yield key, True, self.value()
        self.expect("]")

    def expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise self.broken()
        self._place += 1

    def peek(self) -> str:
        """Return the next character that is not a space."""
        while True:
            while self._place < len(self._text) and self._text[self._place] in _SPACE:
                self._place += 1
            if self._place < len(self._text):
                return self._text[self._place]
            if self._ended:
                raise self._truncated()
            self._fill(1 << 18)

    def value(self) -> Any:
        """Decode the next value; the window grows until it is whole."""
        self.peek()
        size = 1 << 18
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                # An error well before the end of the window is not for want of text.
                if self._ended:
                    near_end = error.pos >= len(self._text) - 1 or "Unterminated" in error.msg
                    raise (self._truncated() if near_end else self.broken(error.pos)) from None
                if len(self._text) - error.pos > 64 and "Unterminated" not in error.msg:
                    raise self.broken(error.pos) from None
            except RecursionError:
                raise InvalidInput("JSON nested too deeply; no log is") from None
            else:
                if end < len(self._text) or self._ended:  # 12 may be the start of 123
                    self._place = end
                    return value
            if len(self._text) - self._place > self._longest:
                millions = self._longest // 1_000_000
                raise InvalidInput(
                    f"one JSON value is longer than {millions} million characters; no row is"
                )
            self._fill(size)
            size *= 2

    def more_after_end(self) -> bool:
        self._place += self._text[self._place : self._place + 1] == "}"
        while True:
            if self._text[self._place :].strip(_SPACE):
                return True
            if self._ended:
                return False
            self._fill(1 << 18)

    def broken(self, place: int | None = None) -> InvalidInput:
        at = self._before + (self._place if place is None else place)
        shown = self._text[self._place if place is None else place :][:20]
        return InvalidInput(f"not JSON at character {at}: {shown!r}; export the log again")

    def _truncated(self) -> InvalidInput:
        return InvalidInput(
            f"truncated JSON: the file ends after {self._before + len(self._text)} characters, "
            "before the document does; copy or export it again"
        )

    def _fill(self, size: int) -> None:
        more = self._stream.read(size)
        self._ended = not more
        self._before += self._place
        self._text = self._text[self._place :] + more
        self._place = 0

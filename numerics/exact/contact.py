"""Where, as x grows, an eigenvalue comes to the unit circle; shared by both lag models."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

from numerics.exact.arithmetic import close

__all__ = ["FLIP", "NEIMARK_SACKER", "REAL", "Contact", "merged"]

REAL, FLIP, NEIMARK_SACKER = "real", "flip", "neimark-sacker"

_SAME = 25  # digits to which two contacts at one x agree


class Contact(NamedTuple):
    """An x at which an eigenvalue is on the unit circle."""

    x: Decimal
    kind: str
    """``real`` at 1, ``flip`` at -1, ``neimark-sacker`` elsewhere."""
    leaving: int = 0
    """How many eigenvalues leave the unit disc as x grows through it, less those that return."""


def merged(contacts: Iterable[Contact]) -> list[Contact]:
    """Return the contacts in order of x, those at one x as one, of its most special kind."""
    result: list[Contact] = []
    for contact in sorted(contacts, key=lambda contact: contact.x):
        if result and close(result[-1].x, contact.x, _SAME):
            other = result.pop()
            kind = min(other.kind, contact.kind, key=(REAL, FLIP, NEIMARK_SACKER).index)
            contact = Contact(other.x, kind, other.leaving + contact.leaving)
        result.append(contact)
    return result

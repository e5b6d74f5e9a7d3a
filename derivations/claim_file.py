r"""Claims from TOML files: read, checked key by key, never evaluated.

Decimals are read as printed (0.1 is 1/10). Every error names the file and the claim.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from derivations.claim import Claim, Provenance, Relation, Source, VerdictWord
from derivations.domain import Domain, DomainError, rational
from derivations.formula import FormulaError
from derivations.notation import QUANTITIES
from derivations.targets import TARGETS
from derivations.update import nearest
from derivations.vocabulary import legal_name

__all__ = ["ClaimFileError", "read_claims", "read_rows", "read_tables"]

_KEYS = (
    "id",
    "quantity",
    "says",
    "symbols",
    "relation",
    "order",
    "small",
    "model",
    "domain",
    "statement",
    "source",
    "provenance",
    "depends",
    "expect",
    "meaning",
)
_NONE: Mapping[str, str] = MappingProxyType({})
_REQUIRED = ("id", "quantity", "says", "relation")


class ClaimFileError(ValueError):
    """A claim file, or a claim in it, cannot be read as written.

    Attributes
    ----------
    refusals : tuple of str
        Every reason, one line a claim; the first is the message.
    """

    def __init__(self, *refusals: str) -> None:
        super().__init__(*refusals)
        self.refusals = refusals

    def __str__(self) -> str:
        return self.refusals[0]


class _Decimal(str):
    """A number with a point or an exponent, kept as it is written."""


def read_tables(path: str | Path) -> dict[str, Any]:
    """Return the tables of a TOML file.

    Raises
    ------
    ClaimFileError
        If the file cannot be opened or is not TOML; the message has the line.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except OSError as error:
        raise ClaimFileError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ClaimFileError(f"{path}: not UTF-8 text (byte {error.start})") from error
    try:
        return tomllib.loads(text, parse_float=_Decimal)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        # An integer of thousands of digits is a plain ValueError of the interpreter.
        where = str(error) or "nested too deeply"
        last = f"at line {text.count(chr(10)) + 1}, the end of the document"
        where = where.replace("at end of document", last)
        raise ClaimFileError(f"{path}: not valid TOML: {where}") from error


def read_claims(path: str | Path) -> list[Claim]:
    """Return the ``[[claim]]`` tables of a TOML file as claims.

    Raises
    ------
    ClaimFileError
        On anything that is not a claim as documented, naming the file and every such claim.
    """
    claims, refusals = read_rows(path)
    if refusals:
        raise ClaimFileError(*refusals)
    return claims


def read_rows(path: str | Path) -> tuple[list[Claim], list[str]]:
    """Return the claims of a TOML file, and what is refused of the others, a line each.

    Raises
    ------
    ClaimFileError
        If the file as a whole cannot be read.
    """
    tables = read_tables(path)
    for name in tables:
        if name not in ("claim", "symbols"):
            raise ClaimFileError(
                f"{path}: unknown table {name!r}; a claim file has [[claim]] tables and one "
                "[symbols] table"
            )
    try:
        shared = _symbols(tables.get("symbols", {}))
    except FormulaError as error:
        raise ClaimFileError(f"{path}: {error}") from error
    rows = tables.get("claim", [])
    if not isinstance(rows, list) or not rows:
        raise ClaimFileError(f"{path}: no claims; write one or more [[claim]] tables")
    claims: list[Claim] = []
    refusals: list[str] = []
    seen: set[str] = set()
    for number, row in enumerate(rows, 1):
        name = row.get("id", f"number {number}") if isinstance(row, dict) else f"number {number}"
        where = f"{path}: claim {str(name)[:60]!r}"
        try:
            if not isinstance(row, dict):
                raise ClaimFileError("is not a table")
            claim = claim_from(row, shared)
            if claim.id in seen:
                raise ClaimFileError("the id is used twice; ids are permanent names")
        except (ClaimFileError, DomainError, FormulaError) as error:
            refusals.append(f"{where}: {error}")
        else:
            seen.add(claim.id)
            claims.append(claim)
    return claims, refusals


def claim_from(row: Mapping[str, Any], shared: Mapping[str, str] = _NONE) -> Claim:
    """Return one claim from its table; `shared` is the symbol table of its file.

    Raises
    ------
    ClaimFileError
        If a key is missing, unknown or has the wrong type.
    FormulaError
        If a symbol table is not one of printed names and the theory's.
    """
    for key in row:
        if key not in _KEYS:
            known = dict.fromkeys(_KEYS)
            raise ClaimFileError(
                f"unknown key {key!r}{nearest(key, known)} (known: {', '.join(_KEYS)})"
            )
    for key in _REQUIRED:
        if key not in row:
            raise ClaimFileError(f"{key!r} is missing; a claim needs {', '.join(_REQUIRED)}")
    for key in ("id", "quantity", "says", "small", "statement", "meaning"):
        if key in row and type(row[key]) is not str:
            raise ClaimFileError(f"{key} must be text in quotes, not {type(row[key]).__name__}")
    if not row["id"] or len(row["id"]) > 100 or not row["id"].isprintable():
        raise ClaimFileError("id must be 1 to 100 printable characters")
    if row["quantity"] not in TARGETS:
        raise ClaimFileError(
            f"unknown quantity {row['quantity']!r}{nearest(row['quantity'], TARGETS)} "
            f"(known: {', '.join(TARGETS)})"
        )
    relation = _word(Relation, "relation", row["relation"])
    order = row.get("order")
    if relation is Relation.ASYMPTOTIC:
        if not isinstance(order, int) or isinstance(order, bool) or not 1 <= order <= 8:
            raise ClaimFileError("an asymptotic claim needs order, an integer from 1 to 8")
    elif order is not None:
        raise ClaimFileError("order belongs to relation = 'asymptotic' only")
    model = row.get("model", {})
    if not isinstance(model, dict):
        raise ClaimFileError('model must be a table, such as { optimizer = "heavy-ball", ... }')
    for name, value in model.items():
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ClaimFileError(f"model {name} must be text or a number, not {value!r}")
    depends = row.get("depends", [])
    if not isinstance(depends, list) or not all(type(each) is str for each in depends):
        raise ClaimFileError("depends must be a list of ids in quotes")
    symbols = {**shared, **_symbols(row.get("symbols", {}))}
    return Claim(
        id=row["id"],
        quantity=row["quantity"],
        says=row["says"],
        symbols=symbols,
        relation=relation,
        order=order,
        small=row.get("small", "x"),
        model=model,
        domain=_domains(row.get("domain", {}), symbols),
        statement=row.get("statement", ""),
        source=_source(row.get("source", {})),
        provenance=_word(Provenance, "provenance", row["provenance"])
        if "provenance" in row
        else None,
        depends=tuple(depends),
        expect=_word(VerdictWord, "expect", row.get("expect", "holds")),
        meaning=row.get("meaning", ""),
    )


_Words = TypeVar("_Words", bound=Enum)


def _word(kind: type[_Words], key: str, value: object) -> _Words:
    allowed = {member.value: member for member in kind}
    if not isinstance(value, str) or value not in allowed:
        raise ClaimFileError(
            f"{key} = {value!r} is unknown{nearest(str(value), allowed)} "
            f"(one of: {', '.join(allowed)})"
        )
    return allowed[value]


def _source(value: object) -> Source:
    if isinstance(value, str):
        return Source(place=value)
    if not isinstance(value, dict) or not set(value) <= {"paper", "version", "place"}:
        raise ClaimFileError("source must be text or a table of paper, version, place")
    return Source(**{key: str(text) for key, text in value.items()})


def _symbols(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ClaimFileError('symbols must be a table, such as { K_ref = "d", lambda = "K" }')
    return {printed: legal_name(printed, meant) for printed, meant in value.items()}


def _domains(value: object, symbols: Mapping[str, str]) -> dict[str, Domain]:
    if not isinstance(value, dict):
        raise ClaimFileError("domain must be a table of ranges, such as { mu = [0, 0.99] }")
    out = {}
    for printed, ends in value.items():
        name = symbols.get(printed, printed)
        if name not in QUANTITIES:
            raise ClaimFileError(
                f"domain of an unknown symbol {name!r}{nearest(name, QUANTITIES)} "
                f"(known: {', '.join(QUANTITIES)})"
            )
        if not isinstance(ends, list) or len(ends) != 2:
            raise ClaimFileError(f"domain {name} must be a range [low, high], not {ends!r}")
        low = None if ends[0] == "-inf" else rational(ends[0])
        high = None if ends[1] == "inf" else rational(ends[1])
        if low is not None and high is not None and low > high:
            raise ClaimFileError(f"domain {name} = [{low}, {high}] has its ends reversed")
        own = QUANTITIES[name].domain
        for end in (low, high):
            if end is not None and end not in own.closed():
                raise ClaimFileError(
                    f"domain {name}: {end} is no legal value; {name} lives in {own}"
                )
        out[name] = own.intersect(Domain(low=low, high=high))
        if out[name].empty:
            raise ClaimFileError(
                f"domain {name} = [{low}, {high}] has no legal value; {name} lives in {own}"
            )
    return out

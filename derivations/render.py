r"""A derivation as text, Markdown, LaTeX or JSON, under one name each.

Every face shows the same things in the same order: where the result comes from, its premises, the
steps with the reason and the check of each, the results, what they rest on and what they are for.
"""

from __future__ import annotations

import json as _json
import textwrap
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import sympy as sp

from derivations import typeset
from derivations.derivation import Derivation
from derivations.markup import (
    check_of,
    html,
    latex,
    markdown,
    named_results,
    shown_statement,
)
from derivations.update import nearest

__all__ = ["FORMATS", "html", "json", "latex", "markdown", "render", "text"]

_COLUMNS = 80


def _prose(words: str, indent: int = 0, hanging: int = 2) -> str:
    return textwrap.fill(
        words, _COLUMNS, initial_indent=" " * indent, subsequent_indent=" " * (indent + hanging),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _formula(expression: sp.Basic | str, indent: int, name: str = "") -> str:
    line = expression if isinstance(expression, str) else typeset.text(expression)
    rows = typeset.text_rows(name + line, _COLUMNS - indent - 2)
    return ("\n" + " " * (indent + 2)).join([" " * indent + rows[0], *rows[1:]])


def text(derivation: Derivation) -> str:
    """Return the derivation for an 80-column terminal; its formulas can go into a claims file."""
    d = derivation
    lines = [_prose(f"{d.id}: {d.title}"), f"{d.provenance.value}, {d.evidence}", "", "premises"]
    for name, value in d.premises.items():
        as_is = isinstance(value, str)
        lines.append(
            _prose(f"{name}: {value}", 2) if as_is else _formula(value, 2, f"{name}: ")
        )
    for number, step in enumerate(d.steps, 1):
        lines += [
            "",
            _prose(f"{number}. {step.name}", 0, 3),
            _formula(shown_statement(step), 6),
            _prose(f"because {step.because}", 3),
            _prose(check_of(step), 3),
        ]
    lines += ["", "result"]
    lines += [_formula(value, 2, f"{name} = ") for name, value in named_results(d).items()]
    if d.depends:
        lines += ["", _prose(f"rests on {', '.join(d.depends)}")]
    if d.use:
        lines += ["", _prose(d.use, 0, 0)]
    return "\n".join(lines) + "\n"


def json(derivation: Derivation) -> dict[str, Any]:
    """Return the derivation as plain data: strings, lists and mappings only."""
    d = derivation
    return {
        "schema": "grpo-dynamics/derivation/1",
        "id": d.id,
        "title": d.title,
        "provenance": d.provenance.value,
        "rung": d.rung.word,
        "evidence": d.evidence,
        "premises": {
            name: value if isinstance(value, str) else typeset.text(value)
            for name, value in d.premises.items()
        },
        "steps": [
            {
                "name": step.name,
                "states": typeset.text(step.states),
                "latex": typeset.latex(step.states),
                "because": step.because,
                "checked": step.checked,
                "rung": step.rung.word,
            }
            for step in d.steps
        ],
        "results": {
            name: {"text": typeset.text(value), "latex": typeset.latex(value)}
            for name, value in d.results.items()
        },
        "depends": list(d.depends),
        "use": d.use,
    }


#: Name of a format -> the function that renders a derivation in it.
FORMATS: Mapping[str, Callable[[Derivation], str]] = MappingProxyType(
    {
        "text": text,
        "markdown": markdown,
        "latex": latex,
        "json": lambda derivation: _json.dumps(json(derivation), indent=2) + "\n",
    }
)


def render(derivation: Derivation, form: str) -> str:
    """Return the derivation in one of `FORMATS`, ready to print.

    Raises
    ------
    ValueError
        If the format is unknown; the message lists the known ones.
    """
    if form not in FORMATS:
        raise ValueError(
            f"unknown format {form!r}{nearest(form, FORMATS)} (known: {', '.join(FORMATS)})"
        )
    return FORMATS[form](derivation)

r"""A derivation as text, Markdown, LaTeX, JSON and HTML.

Every face shows the same things in the same order: where the result comes from, its premises, the
steps with the reason and the check of each, the results, what they rest on and what they are for.
"""

from __future__ import annotations

import html as _html
import json as _json
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp

from derivations import typeset
from derivations.derivation import Derivation, Step
from derivations.update import nearest

__all__ = ["CSS", "FORMATS", "html", "json", "latex", "markdown", "named_results", "render", "text"]

CSS = """\
.math { display: block; margin: .5em 0; padding: .2em 0; overflow-x: auto; overflow-y: hidden;
        line-height: 2.2; }
.math math { font-size: 1.1em; }
.derivation ol.steps > li { margin: 1em 0; }
.derivation .checked { color: #555; font-size: .9em; }
.derivation dl.premises { display: grid; grid-template-columns: max-content 1fr; gap: .1em 1em; }
.derivation dl.premises dd { margin: 0; overflow-wrap: anywhere; }
"""
"""Style of :func:`html`: rows of mathematics wrap between terms, a term that is too wide scrolls."""

_COLUMNS = 80
_TIE = "\N{NO-BREAK SPACE}"


def named_results(derivation: Derivation) -> dict[str, sp.Basic]:
    """Return the results worth printing: without those that only name a symbol after itself."""
    return {n: e for n, e in derivation.results.items() if typeset.text(e) != n}


# -- text for a terminal


def _wrapped(line: str, indent: int, hanging: int = 0) -> str:
    """Wrap at 80 columns; an operator starts its row, and no word is cut."""
    tied = re.sub(r" (\+|-|=|<=?|>=?|=>|!=) ", lambda m: f" {m[1]}{_TIE}", line)
    return textwrap.fill(
        tied, _COLUMNS, initial_indent=" " * indent, subsequent_indent=" " * (indent + hanging),
        break_long_words=False, break_on_hyphens=False,
    ).replace(_TIE, " ")  # fmt: skip


def _says(premise: sp.Basic | str) -> str:
    return premise if isinstance(premise, str) else typeset.text(premise)


def text(derivation: Derivation) -> str:
    """Return the derivation for an 80-column terminal; formulas can be pasted into a claims file."""
    d = derivation
    lines = [
        _wrapped(f"{d.id}: {d.title}", 0, 2),
        f"{d.provenance.value}, {d.rung.word}",
        "",
        "premises",
        *(_wrapped(f"{name}: {_says(value)}", 2, 2) for name, value in d.premises.items()),
    ]
    for number, step in enumerate(d.steps, 1):
        lines += [
            "",
            _wrapped(f"{number}. {step.name}", 0, 3),
            _wrapped(typeset.text(step.states), 6, 4),
            _wrapped(f"because {step.because}", 3, 2),
            _wrapped(_checked(step), 3, 2),
        ]
    lines += ["", "result"]
    lines += [
        _wrapped(f"{name} = {typeset.text(value)}", 2, 4)
        for name, value in named_results(d).items()
    ]
    if d.depends:
        lines += ["", _wrapped(f"rests on {', '.join(d.depends)}", 0, 2)]
    if d.use:
        lines += ["", _wrapped(d.use, 0)]
    return "\n".join(lines) + "\n"


def _checked(step: Step) -> str:
    return step.checked if step.checked == "definition" else f"{step.rung.word}: {step.checked}"


# -- Markdown and LaTeX


def _label(name: str) -> str:
    """Return a result's name as LaTeX, without a character that Markdown would unescape."""
    symbols = {"chi": r"\chi"}
    return symbols.get(name, rf"\text{{{name.replace('_', ' ')}}}")


def _display(expression: sp.Basic, label: str = "") -> str:
    """Return the inside of a display, in rows when it is long."""
    rows = typeset.latex_rows(expression)
    if label:
        rows[0] = f"{label} = {rows[0]}"
    if len(rows) == 1:
        return rows[0]
    body = " \\\\\n".join(("&" if k == 0 else r"&\quad ") + row for k, row in enumerate(rows))
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def markdown(
    derivation: Derivation, *, level: int = 1, link: Callable[[str], str] = "`{}`".format
) -> str:
    """Return GitHub-flavoured Markdown with ``$$`` mathematics.

    Parameters
    ----------
    derivation
        What to print.
    level
        Level of the title's heading.
    link
        From the id of a derivation this one rests on to Markdown.
    """
    d = derivation
    head, sub = "#" * level, "#" * (level + 1)
    parts = [f"{head} {d.id}: {_prose_markdown(d.title)}", f"Provenance: **{d.provenance.value}**. "
             f"Evidence: **{d.rung.word}**."]  # fmt: skip
    if d.use:
        parts.append(_prose_markdown(d.use))
    if d.depends:
        parts.append(f"Rests on {', '.join(map(link, d.depends))}.")
    parts += [f"{sub} Premises", markdown_premises(d.premises), f"{sub} Steps"]
    for number, step in enumerate(d.steps, 1):
        parts += [
            f"**{number}. {_prose_markdown(step.name)}.** {_prose_markdown(_sentence(step.because))}",
            f"$$\n{_display(step.states)}\n$$",
            f"*{_prose_markdown(_sentence(_checked(step)))}*",
        ]
    parts.append(f"{sub} Result")
    parts += [f"$$\n{_display(value, _label(name))}\n$$" for name, value in named_results(d).items()]
    return "\n\n".join(parts) + "\n"


def markdown_premises(premises: Mapping[str, sp.Basic | str]) -> str:
    """Return the premises as a Markdown table."""
    rows = [
        f"| {name} | "
        + (_prose_markdown(value) if isinstance(value, str) else f"${typeset.latex(value)}$")
        + " |"
        for name, value in premises.items()
    ]
    return "\n".join(["| premise | choice |", "|---|---|", *rows])


def _sentence(words: str) -> str:
    words = words.strip()
    return words if not words or words[-1] in ".!?:" else words + "."


def _prose(words: str, plain: Callable[[str], str], code: Callable[[str], str]) -> str:
    """Set the formulas inside a sentence as code, so that no `*` or `_` is taken for markup."""
    parts = re.split(r"(\S*[*_^<>|\\]\S*?)(?=[.,;:]?(?:\s|$))", words)
    return "".join(code(part) if k % 2 else plain(part) for k, part in enumerate(parts))


def _prose_markdown(words: str) -> str:
    return _prose(words, str, lambda formula: "`" + formula.replace("|", "\\|") + "`")


def _prose_latex(words: str) -> str:
    return _prose(words, _plain_latex, lambda formula: rf"\texttt{{{_plain_latex(formula)}}}")


def _prose_html(words: str) -> str:
    return _prose(words, _html.escape, lambda formula: f"<code>{_html.escape(formula)}</code>")


_SPECIAL = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"} | {
    c: "\\" + c for c in "&%$#_{}"
}


def _plain_latex(words: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in words)


def latex(derivation: Derivation) -> str:
    """Return a fragment that compiles in any LaTeX document with amsmath loaded."""
    d = derivation
    lines = [
        rf"\subsection*{{{_prose_latex(f'{d.id}: {d.title}')}}}",
        rf"Provenance: {d.provenance.value}. Evidence: {d.rung.word}. {_prose_latex(d.use)}",
        r"\paragraph{Premises}",
        "; ".join(
            f"{_plain_latex(name)}: "
            + (_prose_latex(v) if isinstance(v, str) else f"${typeset.latex(v)}$")
            for name, v in d.premises.items()
        ) + ".",
    ]  # fmt: skip
    for number, step in enumerate(d.steps, 1):
        lines += [
            rf"\paragraph{{{number}. {_prose_latex(step.name)}}} "
            + _prose_latex(_sentence(step.because)),
            f"\\[\n{_display(step.states)}\n\\]",
            rf"\emph{{{_prose_latex(_sentence(_checked(step)))}}}",
        ]
    lines.append(r"\paragraph{Result}")
    lines += [f"\\[\n{_display(value, _label(name))}\n\\]" for name, value in named_results(d).items()]
    return "\n".join(lines) + "\n"


# -- machines and the page


def json(derivation: Derivation) -> dict[str, Any]:
    """Return the derivation as plain data."""
    d = derivation

    def both(expression: sp.Basic) -> dict[str, str]:
        return {"text": typeset.text(expression), "latex": typeset.latex(expression)}

    return {
        "id": d.id,
        "title": d.title,
        "provenance": d.provenance.value,
        "rung": d.rung.word,
        "premises": {name: _says(value) for name, value in d.premises.items()},
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
        "results": {name: both(value) for name, value in d.results.items()},
        "depends": list(d.depends),
        "use": d.use,
    }


def html(derivation: Derivation) -> str:
    """Return ``<section class="derivation" id=...>`` with MathML; style it with :data:`CSS`."""
    d, e = derivation, _html.escape
    premises = "".join(
        f"<dt>{e(name)}</dt><dd>{_prose_html(v) if isinstance(v, str) else typeset.mathml(v)}</dd>"
        for name, v in d.premises.items()
    )
    steps = "".join(
        f"<li><strong>{_prose_html(step.name)}.</strong> {_prose_html(_sentence(step.because))}"
        f"{typeset.mathml_block(step.states)}"
        f'<span class="checked">{_prose_html(_sentence(_checked(step)))}</span></li>'
        for step in d.steps
    )
    results = "".join(
        typeset.mathml_block(value, _label(name)) for name, value in named_results(d).items()
    )
    rests = f" Rests on {e(', '.join(d.depends))}." if d.depends else ""
    return (
        f'<section class="derivation" id="{e(d.id)}"><h3>{e(d.id)}: {_prose_html(d.title)}</h3>'
        f"<p>Provenance: <b>{d.provenance.value}</b>. Evidence: <b>{d.rung.word}</b>.{rests} "
        f'{_prose_html(d.use)}</p><h4>Premises</h4><dl class="premises">{premises}</dl>'
        f'<h4>Steps</h4><ol class="steps">{steps}</ol><h4>Result</h4>{results}</section>'
    )


FORMATS: Mapping[str, Callable[[Derivation], str]] = {
    "text": text,
    "markdown": markdown,
    "latex": latex,
    "json": lambda derivation: _json.dumps(json(derivation), indent=2) + "\n",
}


def render(derivation: Derivation, form: str) -> str:
    """Return the derivation in one of :data:`FORMATS`.

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

r"""A derivation as Markdown, as a LaTeX fragment and as HTML with MathML.

Sentences may contain formulas in plain text; they are set as code, so that no ``*`` or ``_`` in
them is taken for markup.
"""

from __future__ import annotations

import html as _html
import re
from collections.abc import Callable, Mapping

import sympy as sp

from derivations import typeset
from derivations.claim import Rung
from derivations.derivation import Derivation, Step
from derivations.notation import QUANTITIES

__all__ = [
    "CSS", "check_of", "html", "label", "latex", "markdown", "markdown_prose", "named_results",
    "shown_statement",
]  # fmt: skip

CSS = """\
math { font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math", "DejaVu Math TeX Gyre",
       math, serif; }
.math { margin: .5em 0; padding: .2em 0; overflow-x: auto; overflow-y: hidden; line-height: 2; }
.math math { font-size: 1.1em; }
.derivation .steps > li { margin: 1em 0; }
.derivation .checked { color: #555; font-size: .9em; }
.derivation .premises { display: grid; grid-template-columns: max-content 1fr; gap: .1em 1em; }
.derivation .premises dd { margin: 0; overflow-wrap: anywhere; }
"""
"""Style of `html`: a display wraps between terms, and a term too wide for the page scrolls."""

_CALL = r"[A-Za-z_]\w*'*\([^()]*\)"
_OPERAND = rf"(?:{_CALL}|[\w.'+*/^()|{{}}\\-]*[\w')}}|])"
_SIGN = r"(?:[-+*/=]|[<>]=?|=>|!=)"
_FORMULA = re.compile(rf"(?<!\S){_OPERAND}(?: {_SIGN} {_OPERAND})*(?=[.,;:)]*(?:\s|$))")
_MARKS = re.compile(rf"[*_^<>|\\=]|{_CALL}|\w [-+/] \w")
_LATEX_ESCAPES = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
_LATEX_ESCAPES |= {character: "\\" + character for character in "&%$#_{}"}


def named_results(derivation: Derivation) -> dict[str, sp.Basic]:
    """Return the results worth printing: without a symbol that is only named after itself."""
    return {n: e for n, e in derivation.results.items() if typeset.text(e) != n}


def shown_statement(step: Step) -> sp.Basic:
    """Return what a step states; of two sides that came out alike, one."""
    return step.states.lhs if _came_out_alike(step) else step.states


def check_of(step: Step) -> str:
    """Return how a step was checked, with its rung; a definition needs none."""
    if step.checked == "definition":
        return step.checked
    how = "computed in two ways, with this result" if _came_out_alike(step) else step.checked
    return how if step.rung is Rung.NONE else f"{step.rung.word}: {how}"


def _came_out_alike(step: Step) -> bool:
    return isinstance(step.states, sp.Eq) and step.states.lhs == step.states.rhs


def label(name: str) -> str:
    """Return a result's name as LaTeX, free of characters that Markdown would unescape."""
    known = {"chi": r"\chi"} | {quantity.name: quantity.latex for quantity in QUANTITIES.values()}
    return known.get(name, rf"\text{{{name.replace('_', ' ')}}}")


def _display(expression: sp.Basic, name: str = "") -> str:
    rows = typeset.latex_rows(expression)
    if name:
        rows[0] = f"{label(name)} = {rows[0]}"
    if len(rows) == 1:
        return rows[0]
    body = " \\\\\n&".join(rows)
    return f"\\begin{{aligned}}\n&{body}\n\\end{{aligned}}"


def _prose(words: str, plain: Callable[[str], str], code: Callable[[str], str]) -> str:
    out, end = "", 0
    for match in _FORMULA.finditer(words):
        if _MARKS.search(match[0]):
            out += plain(words[end : match.start()]) + code(match[0])
            end = match.end()
    return out + plain(words[end:])


def _sentence(words: str) -> str:
    words = words.strip()
    first = re.match(r"[a-z][a-z'-]+(?=[ ,;:.0-9-]|$)", words)  # a word, not a formula
    if first and first[0] not in QUANTITIES:
        words = words[:1].upper() + words[1:]
    return words + ("" if words[-1:] in (".", "!", "?", ":", "") else ".")


def markdown_prose(words: str) -> str:
    """Return a sentence as Markdown, its formulas as code."""
    return _prose(words, str, "`{}`".format)


def _premise_table(premises: Mapping[str, sp.Basic | str]) -> str:
    """Return premises as a Markdown table."""
    rows = ["| premise | choice |", "|---|---|"]
    for name, value in premises.items():
        choice = markdown_prose(value) if isinstance(value, str) else f"${typeset.latex(value)}$"
        choice = choice.replace("|", "\\|")
        rows.append(f"| {name.replace('_', ' ')} | {choice} |")
    return "\n".join(rows)


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
    d, words = derivation, markdown_prose
    head, sub = "#" * level, "#" * (level + 1)
    parts = [f"{head} {d.id}: {words(d.title)}"]
    parts.append(f"Provenance: **{d.provenance.value}**. Evidence: **{d.evidence}**.")
    if d.use:
        parts.append(words(d.use))
    if d.depends:
        parts.append(f"Rests on {', '.join(map(link, d.depends))}.")
    parts += [f"{sub} Premises", _premise_table(d.premises), f"{sub} Steps"]
    for number, step in enumerate(d.steps, 1):
        parts += [
            f"**{number}. {words(step.name)}.** {words(_sentence(step.because))}",
            f"$$\n{_display(shown_statement(step))}\n$$",
            f"*{words(_sentence(check_of(step)))}*",
        ]
    parts.append(f"{sub} Result")
    parts += [f"$$\n{_display(value, name)}\n$$" for name, value in named_results(d).items()]
    return "\n\n".join(parts) + "\n"


def latex(derivation: Derivation) -> str:
    """Return a fragment that compiles in any LaTeX document that loads amsmath."""

    def plain(words: str) -> str:
        return "".join(_LATEX_ESCAPES.get(c, c) for c in words)

    def words(sentence: str) -> str:
        return _prose(sentence, plain, lambda formula: rf"\texttt{{{plain(formula)}}}")

    d = derivation
    premises = (
        f"{plain(name)}: {words(v) if isinstance(v, str) else f'${typeset.latex(v)}$'}"
        for name, v in d.premises.items()
    )
    lines = [
        rf"\subsection*{{{words(f'{d.id}: {d.title}')}}}",
        f"Provenance: {d.provenance.value}. Evidence: {d.evidence}. {words(d.use)}",
        rf"\paragraph{{Premises}} {'; '.join(premises)}.",
    ]
    for number, step in enumerate(d.steps, 1):
        lines += [
            rf"\paragraph{{{number}. {words(step.name)}}} {words(_sentence(step.because))}",
            f"\\[\n{_display(shown_statement(step))}\n\\]",
            rf"\emph{{{words(_sentence(check_of(step)))}}}",
        ]
    lines.append(r"\paragraph{Result}")
    lines += [f"\\[\n{_display(value, name)}\n\\]" for name, value in named_results(d).items()]
    return "\n".join(lines) + "\n"


def html(derivation: Derivation) -> str:
    """Return ``<section class="derivation" id=...>`` with MathML; style it with `CSS`."""

    def words(sentence: str) -> str:
        return _prose(sentence, _html.escape, lambda f: f"<code>{_html.escape(f)}</code>")

    d = derivation
    premises = "".join(
        f"<dt>{_html.escape(name.replace('_', ' '))}</dt>"
        f"<dd>{words(value) if isinstance(value, str) else typeset.mathml(value)}</dd>"
        for name, value in d.premises.items()
    )
    steps = "".join(
        f"<li><strong>{words(step.name)}.</strong> {words(_sentence(step.because))}"
        f"{typeset.mathml_block(shown_statement(step))}"
        f'<span class="checked">{words(_sentence(check_of(step)))}</span></li>'
        for step in d.steps
    )
    results = "".join(
        typeset.mathml_block(value, label(name)) for name, value in named_results(d).items()
    )
    rests = f" Rests on {words(', '.join(d.depends))}." if d.depends else ""
    return (
        f'<section class="derivation" id="{words(d.id)}"><h3>{words(f"{d.id}: {d.title}")}</h3>'
        f"<p>Provenance: <b>{d.provenance.value}</b>. Evidence: <b>{d.evidence}</b>.{rests} "
        f'{words(d.use)}</p><h4>Premises</h4><dl class="premises">{premises}</dl>'
        f'<h4>Steps</h4><ol class="steps">{steps}</ol><h4>Result</h4>{results}</section>'
    )

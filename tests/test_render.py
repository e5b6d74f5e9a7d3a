"""Expressions and derivations as text, Markdown, LaTeX, JSON and MathML."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
import sympy as sp

from derivations import render, typeset
from derivations.algebra import is_zero
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.formula import parse_formula
from derivations.markup import CSS, markdown_prose, named_results
from derivations.notation import quantity

ROOT = Path(__file__).resolve().parent.parent
mu, x, d, p_star, R_inf, x_f = map(quantity, ("mu", "x", "d", "p_star", "R_inf", "x_f"))


def small() -> Derivation:
    """A derivation with every kind of step and every awkward thing in its words."""
    work = Workings(
        "toy", "A toy of x_f*d & 100 % of it", Provenance.EXTENSION,
        {"lag_model": "constant", "stale_share": x_f, "rule": "x*d < 1 - mu | mu < 1"},
        ("lemma-4",), use="Shows x**2 <b>as it is</b>.",
    )  # fmt: skip
    q = sp.Dummy("q")
    work.let("dummies", sp.Eq(q * sp.Dummy("q"), sp.Dummy("p") + q, evaluate=False), "no numbers")
    work.let("force", sp.Eq(sp.Symbol("g"), -x * d, evaluate=False), "g_k = -x q_{k-d}")
    work.equal("square", (x - 1) ** 2, x**2 - 2 * x + 1, "expanded")
    work.equal("matrix", sp.Matrix([[x + x, 0]]), sp.Matrix([[2 * x, 0]]), "entry by entry")
    work.expands("series", sp.exp(x), 1 + x, x, 2, "order x**2")
    work.solves("root", 2 * x - mu, x, mu / 2, "linear")
    work.implies("sign", [x > 0, mu >= 0, mu < 1], sp.Gt(x * (1 - mu), 0), "both factors are")
    return work.close(threshold=(1 - mu) / d, u=sp.Symbol("u"), p_star=p_star**2 + R_inf)


@pytest.mark.parametrize(
    ("expression", "text", "latex"),
    [
        (1 - mu - x * d, "1 - mu - d*x", r"1 - \mu - d x"),
        (mu - 1, "mu - 1", r"\mu - 1"),
        ((mu - 1) ** 2, "(1 - mu)**2", r"\left(1 - \mu\right)^{2}"),
        (-x / (mu - 1), "x/(1 - mu)", r"\frac{x}{1 - \mu}"),
        ((2 * p_star - 1) * x, "x*(2*p_star - 1)", r"x \left(2 p_{\star} - 1\right)"),
        (-(x**2) + 3 * x * d - 1, "3*d*x - x**2 - 1", "3 d x - x^{2} - 1"),
        (p_star * R_inf, "R_inf*p_star", r"R_{\infty} p_{\star}"),
        (x_f**2, "x_f**2", "x_f^{2}"),
        (sp.Symbol("theta_old"), "theta_old", r"\theta_{\mathrm{old}}"),
        (1 - x + sp.Order(x**2), "1 - x + O(x**2)", r"1 - x + O\left(x^{2}\right)"),
        (sp.cos(x), "cos(x)", r"\cos{\left(x \right)}"),
        (sp.atan2(x, d), "atan2(x, d)", r"\mathrm{atan2}{\left(x,d \right)}"),
        (sp.Function("logistic")(x), "logistic(x)", r"\mathrm{logistic}{\left(x \right)}"),
        (sp.Eq(x, mu, evaluate=False), "x = mu", r"x = \mu"),
        (sp.Ne(x, mu), "x != mu", None),
        (sp.Or(x > 1, sp.And(x > 0, d < 1)), None, None),
        (sp.Tuple(sp.Eq(x, 1), sp.Eq(d, 2)), "x = 1, d = 2", "x = 1, d = 2"),
        (sp.Matrix([[x, 1], [0, mu]]), "Matrix([[x, 1], [0, mu]])", None),
    ],
)
def test_reads_like_the_mathematics(
    expression: sp.Basic, text: str | None, latex: str | None
) -> None:
    if text is not None:
        assert typeset.text(expression) == text
    if latex is not None:
        assert typeset.latex(expression) == latex
    assert typeset.latex(expression).count(r"\left") == typeset.latex(expression).count(r"\right")
    ElementTree.fromstring(typeset.mathml(expression))


def test_hypotheses_are_bounds_and_commas() -> None:
    hypotheses = sp.And(x > 0, mu >= 0, sp.Lt(x * d, 1 - mu), mu < 1, evaluate=False)
    step = sp.Implies(hypotheses, x < 1, evaluate=False)
    assert typeset.text(step) == "0 <= mu < 1, x > 0, d*x < 1 - mu => x < 1"
    assert typeset.latex(step) == (
        r"0 \leq \mu < 1, x > 0, d x < 1 - \mu \Rightarrow x < 1"
    )


def test_only_a_factor_that_is_negative_on_its_domain_is_turned() -> None:
    z = sp.Symbol("z")
    assert typeset.text((z - 1) * (mu - 1)) == "-(1 - mu)*(z - 1)"
    assert typeset.text((mu - 1) * (1 - mu)) == "-(1 - mu)**2"
    assert typeset.text(sp.Mul(sp.Rational(-1, 6), mu - 1, evaluate=False)) == "(1 - mu)/6"


def test_dummies_have_names_and_no_numbers() -> None:
    expression = sp.Dummy("q") * sp.Dummy("q") + sp.Dummy("r")
    assert typeset.text(expression) == "r + q*q'"
    assert typeset.latex(expression) == "r + q q'"


@pytest.mark.parametrize(
    "source",
    ["(1 - mu)/d", "abs(mu - d)", "max(x, mu)", "2*(1 + mu)/(x*d**2) - sqrt(1 - mu)", "mu**d*x"],
)
def test_text_can_be_put_into_a_claims_file(source: str) -> None:
    expression = parse_formula(source, {"mu": mu, "d": d, "x": x}).expression
    again = parse_formula(typeset.text(expression), {"mu": mu, "d": d, "x": x}).expression
    assert is_zero(again - expression)


def test_long_text_breaks_at_the_outermost_operator() -> None:
    line = "a*(b + c + d) + e*(f + g) = h"
    assert typeset.text_rows(line, 80) == [line]
    assert typeset.text_rows(line, 27) == ["a*(b + c + d) + e*(f + g)", "= h"]
    assert typeset.text_rows(line, 20) == ["a*(b + c + d)", "+ e*(f + g) = h"]
    assert typeset.text_rows(line, 10) == ["a*(b + c", "+ d)", "+ e*(f", "+ g) = h"]
    assert typeset.text_rows("unbreakable", 3) == ["unbreakable"]


def test_long_displays_break_at_relations_and_between_terms() -> None:
    assert len(typeset.latex_rows(sp.Eq(x, mu, evaluate=False))) == 1
    long = sum(((x + d) ** k / (1 + mu) ** k for k in range(2, 9)), sp.S.Zero)
    rows = typeset.latex_rows(sp.Eq(long, long + 1, evaluate=False))
    assert len(rows) > 2
    assert sum(row.startswith(r"\quad = ") for row in rows) == 1
    assert all(row.count(r"\left") == row.count(r"\right") for row in rows)
    system = sp.Tuple(*(sp.Eq(x**k, long, evaluate=False) for k in (1, 2)))
    assert typeset.latex_rows(system)[0].startswith("x = ")
    column = sp.Matrix([long, long])
    rows = typeset.latex_rows(sp.Eq(column, column + column, evaluate=False))
    assert not any("matrix" in row for row in rows)


def test_a_wide_product_breaks_inside_and_closes_its_bracket() -> None:
    sums = sum((d**k / (k + mu) for k in range(2, 12)), sp.S.Zero)
    rows = typeset.latex_rows(sp.Mul(x, sums, evaluate=False))
    assert len(rows) > 1
    assert r"\Bigl(" in rows[0]
    assert rows[-1].endswith(r"\Bigr)")
    assert "".join(rows).count(r"\Bigl(") == "".join(rows).count(r"\Bigr)")


def test_mathml_is_inline_and_a_block_flows_and_scrolls() -> None:
    inline = typeset.mathml(x < mu)
    assert inline.startswith('<math alttext="x &lt; mu"')
    assert "xmlns" not in inline
    assert "mspace" in typeset.mathml(mu * sp.cos(x))
    assert "mspace" not in typeset.mathml(sp.cos(x))
    block = typeset.mathml_block(sp.Eq(x + mu, (1 + d) ** 3, evaluate=False), r"\chi")
    assert block.startswith('<div class="math" role="math" aria-label=')
    assert len(ElementTree.fromstring(block).findall("math")) == 2
    assert "overflow-x: auto" in CSS


def test_prose_sets_formulas_as_code() -> None:
    assert markdown_prose("of x_f*d, then") == "of `x_f*d`, then"
    assert markdown_prose("M*q'' + K*q = 0 with q(0) = 1.") == "`M*q'' + K*q = 0` with `q(0) = 1`."
    assert markdown_prose("stable, as it was (by hand)") == "stable, as it was (by hand)"


@pytest.mark.parametrize("form", list(render.FORMATS))
def test_every_format_shows_the_whole_derivation(form: str) -> None:
    derivation = small()
    shown = render.render(derivation, form)
    assert shown.endswith("\n")
    for step in derivation.steps:
        assert step.name in shown
    for word in ("extension", "proved", "lemma-4" if form != "latex" else "toy"):
        assert word in shown


def test_text_fits_a_terminal() -> None:
    lines = render.text(small()).splitlines()
    assert max(map(len, lines)) <= 80
    assert "  threshold = (1 - mu)/d" in lines
    assert "      x > 0, 0 <= mu < 1 => x*(1 - mu) > 0" in lines or (
        "      0 <= mu < 1, x > 0 => x*(1 - mu) > 0" in lines
    )


def test_markdown_has_no_formula_outside_code_or_mathematics() -> None:
    shown = render.markdown(small(), link="[{0}]({0}.md)".format)
    assert "Rests on [lemma-4](lemma-4.md)." in shown
    assert r"| rule | `x*d < 1 - mu` `\|` `mu < 1` |" in shown
    prose = re.sub(r"\$\$.*?\$\$|\$[^$]*\$|`[^`]*`", "", shown, flags=re.S)
    assert not re.search(r"[\^\\]|\w\*\w|\w_\w", prose)


def test_latex_is_escaped_and_balanced() -> None:
    shown = render.latex(small())
    for opening, closing in (("{", "}"), (r"\left", r"\right"), (r"\[", r"\]")):
        assert shown.count(opening) == shown.count(closing)
    assert r"\& 100 \% of it" in shown
    assert r"\texttt{x\_f*d}" in shown
    assert not re.search(r"(?<!\\)[&%#]", re.sub(r"\\\[.*?\\\]", "", shown, flags=re.S))


def test_json_is_plain_data() -> None:
    data = render.json(small())
    assert json.loads(json.dumps(data)) == data
    assert json.loads(render.render(small(), "json")) == data
    assert list(data) == [
        "schema", "id", "title", "provenance", "rung", "evidence", "premises", "steps", "results",
        "depends", "use",
    ]  # fmt: skip
    assert data["steps"][1] == {
        "name": "force", "states": "g = -d*x", "latex": "g = - d x", "because": "g_k = -x q_{k-d}",
        "checked": "definition", "rung": "proved",
    }  # fmt: skip
    assert data["results"]["threshold"] == {"text": "(1 - mu)/d", "latex": r"\frac{1 - \mu}{d}"}
    assert data["premises"]["stale_share"] == "x_f"


def test_html_is_balanced_and_escaped() -> None:
    shown = render.html(small())
    assert "<b>as it is</b>" not in shown
    assert shown.startswith('<section class="derivation" id="toy">')

    class Balance(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag != "br":
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    balance = Balance()
    balance.feed(shown)
    assert balance.open == []


def test_a_symbol_named_after_itself_is_no_result() -> None:
    assert list(named_results(small())) == ["threshold", "p_star"]


def test_an_unknown_format_names_the_nearest() -> None:
    with pytest.raises(ValueError, match="unknown format 'markdwn'; did you mean 'markdown'"):
        render.render(small(), "markdwn")


def test_nothing_printed_depends_on_the_process() -> None:
    program = (
        "from test_render import small, render\n"
        "print(*(render.render(small(), form) for form in render.FORMATS), render.html(small()))"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(shown) == 1
    assert len(shown.pop()) > 1000


def test_a_sentence_starts_with_a_capital_unless_with_a_formula() -> None:
    work = Workings("toy", "toy", Provenance.EXTENSION, {})
    for because in ("linear in x", "lemma-4's", "x is positive", "mu is fixed", "chi(z) = 0"):
        work.let("step", x, because)
    shown = re.findall(r"\*\*1?\d\. step\.\*\* (.*)", render.markdown(work.close()))
    assert shown == [
        "Linear in x.", "Lemma-4's.", "x is positive.", "mu is fixed.", "`chi(z) = 0`.",
    ]  # fmt: skip


def test_sides_that_came_out_alike_are_shown_once() -> None:
    work = Workings("toy", "toy", Provenance.EXTENSION, {})
    work.equal("both ways", 2 * x / d, (x + x) / d, "found twice")
    shown = render.text(work.close())
    assert "      2*x/d\n" in shown
    assert "proved: computed in two ways, with this result" in shown


def test_a_step_argued_in_words_is_counted_with_the_evidence() -> None:
    work = Workings("argued", "Argued", Provenance.EXTENSION, {})
    work.equal("sum", sp.Integer(1) + 1, sp.Integer(2), "arithmetic")
    assert work.close().evidence == "proved"
    work.argue("leap", sp.true, "it is clear")
    assert work.close().evidence == "proved, but for 1 step not machine-checked"
    assert "but for 1 step not machine-checked" in render.text(work.close())

"""What a reviewer takes from an audit: a page that stands alone, a table that pastes."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from derivations.audit import audit_files
from numerics import cli
from numerics.review import figure

CLAIMS = r"""
[[claim]]
id = "draft-eq-9"
quantity = "damping"
says = '1 - \mu - \frac{x d^2}{2}'
relation = "exact"
statement = "<b>damping</b> & co"
model = { optimizer = "heavy-ball", lag_model = "constant" }
expect = "refuted"

[[claim]]
id = "rule"
quantity = "threshold"
says = '|x| < 1'
relation = "exact"
model = { optimizer = "heavy-ball", lag_model = "constant", lag = 2 }
expect = "refuted"
""".replace("|x|", "x*2")


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    path = tmp_path / "draft.toml"
    path.write_text(CLAIMS, encoding="utf-8")
    return path


def test_the_page_stands_alone_and_shows_every_claim(claims: Path, tmp_path: Path) -> None:
    page = tmp_path / "out" / "review.html"
    assert cli.main(["audit", str(claims), "--html", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert html.count("<article") == 2
    assert html.count("<svg") == 2  # a curve for the value, a path of the map for the condition
    assert html.count("<math") >= 2
    assert "&lt;b&gt;damping&lt;/b&gt; &amp; co" in html
    assert not re.search(r'(?:src|href)="(?:https?:)?//', html)
    assert [path.name for path in page.parent.iterdir()] == ["review.html"]


def test_the_table_pastes(claims: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["audit", str(claims), "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {6}
    assert "**refuted** (proved)" in lines[2]
    assert r"`1 - \mu - \frac{x d^2}{2}`" in lines[2]


def test_an_id_stays_in_its_cell(
    claims: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.toml"
    named = CLAIMS.replace("draft-eq-9", "s2 | <b>x</b> `a` *b* _c_ my_id")
    other.write_text(named, encoding="utf-8")
    assert cli.main(["audit", str(other), "--markdown"]) == 0
    line = capsys.readouterr().out.splitlines()[2]
    assert len(re.findall(r"(?<!\\)\|", line)) == 6
    assert line.startswith(r"| s2 \| \<b\>x\</b\> \`a\` \*b\* \_c\_ my_id |")


HOLDS = """
[[claim]]
id = "reverse"
quantity = "kl_force"
says = 'p(1-p)(log(p/(1-p)) - log(p_ref/(1-p_ref)))'
relation = "exact"
model = { kl = "reverse" }
[[claim]]
id = "pinned"
quantity = "threshold"
says = 'xN < 2'
relation = "exact"
domain = { mu = [0, 0], N = [1, 3] }
model = { optimizer = "heavy-ball", lag_model = "sawtooth" }
"""


def test_what_holds_differs_by_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "holds.toml", tmp_path / "holds.html"
    path.write_text(HOLDS, encoding="utf-8")
    assert cli.main(["audit", str(path), "--html", str(page)]) == 0
    out = capsys.readouterr().out
    assert out.count("HOLDS") == 2
    assert "  differs" not in out
    assert "derived − printed" not in page.read_text(encoding="utf-8")
    assert re.search(r"as read +N\*x < 2", out)


def test_the_page_tells_what_was_tried_and_says_nothing_twice(claims: Path, tmp_path: Path) -> None:
    page = tmp_path / "review.html"
    assert cli.main(["audit", str(claims), "--html", str(page)]) == 0
    first, second = page.read_text(encoding="utf-8").split("<article")[1:]
    assert re.search(r"none of \d+ other conventions makes it true", first)
    for article, quantity in ((first, "damping"), (second, "threshold")):
        assert article.count(f"{quantity}, exact, optimizer heavy-ball") == 1


def test_the_plot_marks_the_counterexample_and_says_where(
    claims: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawings = []
    monkeypatch.setattr(figure, "panel", lambda name, draw: drawings.append(draw) or "")
    for row in audit_files([claims]):
        figure.counterexample(row)
        axes = Figure().subplots()
        drawings.pop()(axes)
        at = row.verdict.counterexample
        title = axes.get_title(loc="left") or axes.get_title()
        assert all(f"{name} = {value}" in " ".join(title.split()) for name, value in at.items())
        if row.claim.quantity == "damping":
            (marked,) = (line for line in axes.lines if line.get_label() == "counterexample")
            mu, x, d = (float(Fraction(at[name])) for name in ("mu", "x", "d"))
            values = [1 - mu - x * d, 1 - mu - x * d**2 / 2]
            assert list(marked.get_ydata()) == pytest.approx(values)


def test_two_ways_to_print_are_one_too_many(
    claims: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["audit", str(claims), "--json", "--markdown"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_a_page_is_a_file(claims: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["audit", str(claims), "--html", str(tmp_path)]) == 2
    assert "is a directory" in capsys.readouterr().err

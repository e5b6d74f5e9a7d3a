"""The catalogue: every row derives what it says, and bad requests are told what is allowed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from derivations import render, typeset
from derivations.catalogue import CATALOGUE, PARTS, CatalogueError, derivation, entry
from derivations.notation import quantity
from derivations.update import LAG_MODELS, OPTIMIZERS

ROOT = Path(__file__).resolve().parent.parent
SOURCE_IDS = [
    "lemma-3", "lemma-4", "lemma-5", "lemma-6", "theorem-7", "prop-9", "sec-3.5", "prop-10",
    "cor-13", "eq-15", "prop-14",
]  # fmt: skip


def test_results_that_the_source_names_stand_in_its_order() -> None:
    assert [row.id for row in PARTS["Results that the source names"]] == SOURCE_IDS
    assert len(CATALOGUE) == sum(map(len, PARTS.values()))


@pytest.mark.parametrize("id", list(CATALOGUE))
def test_a_row_derives_what_it_says_and_every_face_shows_it(id: str) -> None:
    found = derivation(id)
    assert found.id == id
    assert entry(id).title == found.title
    assert set(found.depends) <= set(CATALOGUE) - {id}
    assert found.steps
    assert found.results
    assert max(map(len, render.text(found).splitlines())) <= 80
    data = render.json(found)
    assert json.loads(json.dumps(data)) == data
    for shown in (*(step.states for step in found.steps), *found.results.values()):
        ElementTree.fromstring(typeset.mathml_block(shown))
    for markup in (render.latex(found), render.markdown(found)):
        assert markup.count("{") == markup.count("}")
        left, right = (re.findall(rf"\\{side}(?![a-z])", markup) for side in ("left", "right"))
        assert len(left) == len(right)


def test_nothing_rests_on_itself() -> None:
    waiting = {id: set(derivation(id).depends) for id in CATALOGUE}
    while ready := {id for id, depends in waiting.items() if not depends}:
        waiting = {id: depends - ready for id, depends in waiting.items() if id not in ready}
    assert waiting == {}


def test_every_optimizer_lag_model_and_choice_is_shown() -> None:
    shown = entry("theorem-7").shown()
    assert shown[0] == {"optimizer": "heavy-ball", "lag_model": "constant"}
    assert len(shown) == len(OPTIMIZERS) * len(LAG_MODELS)
    assert entry("prop-10").shown() == [
        {"normaliser": "std", "ddof": 0}, {"normaliser": "mean", "ddof": 0},
        {"normaliser": "std", "ddof": 1},
    ]  # fmt: skip
    assert entry("softmax").shown() == [{}]


def test_premises_reach_the_derivation() -> None:
    assert derivation("theorem-7").premises["stale_share"] == "s"
    asked = derivation("theorem-7", optimizer="ema", lag_model="sawtooth", stale_share=2, lag=3)
    assert dict(asked.premises) == {
        "optimizer": "ema", "lag_model": "sawtooth", "stale_share": "2", "refresh": "3",
    }  # fmt: skip
    mu, x = quantity("mu"), quantity("x")
    assert derivation("prop-9", stale_share=1, lag=2)["rule_threshold"].equals((1 - mu) / 2)
    fixed = derivation("stationary-variance", lag=0)
    assert fixed["variance"].equals((1 + mu) / ((1 - mu) * x * (2 * (1 + mu) - x)))
    assert derivation("prop-10", ddof=1) is derivation("prop-10", normaliser="std", ddof=1)


@pytest.mark.parametrize(
    ("id", "premises", "message"),
    [
        ("theorem7", {}, "unknown derivation 'theorem7'; did you mean 'theorem-7'"),
        ("theorem-7", {"optimizer": "adam"}, "unknown optimizer 'adam'"),
        ("theorem-7", {"lag_model": "sawtoth"}, "did you mean 'sawtooth'"),
        ("theorem-7", {"ddof": 1}, "theorem-7 takes no premise 'ddof'; leave it out"),
        ("monodromy", {"lag_model": "constant"}, r"not derived for .*'constant' \(allowed: saw"),
        ("monodromy", {"lag": 3}, "derived for every lag at once; leave lag 3 out"),
        ("prop-10", {"ddof": 2}, r"unknown ddof 2 \(allowed: 0, 1\)"),
        ("prop-10", {"normalizer": "std"}, "did you mean 'normaliser'"),
        ("prop-10", {"lag": 3}, "does not depend on lag; leave 3 out"),
        ("softmax", {"optimizer": "ema"}, "does not depend on optimizer; leave 'ema' out"),
    ],
)
def test_a_bad_request_is_told_what_is_allowed(
    id: str, premises: dict[str, str | int], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        derivation(id, **premises)  # type: ignore[arg-type]  # bad on purpose
    assert "\n" not in str(caught.value)
    if id != "theorem-7" or "ddof" in premises:
        assert isinstance(caught.value, CatalogueError)


def test_importing_the_catalogue_imports_no_result() -> None:
    program = (
        "import sys, derivations.catalogue\n"
        "sys.exit(any(name.startswith('derivations.results') for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)

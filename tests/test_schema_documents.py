"""The schema documents themselves: listed, named in the code, alike where they share a part."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from schema_check import fixed

from derivations.claim import Provenance, Relation, Rung, VerdictWord
from numerics.commands.arguments import NUMERIC_LAG_FLAGS
from numerics.diagnose import VERDICTS
from numerics.diagnose.shape import SHAPES
from numerics.inputs import UnknownName
from numerics.schemas import load, names
from numerics.simulation import STALENESS

ROOT = Path(__file__).resolve().parent.parent
NAME = re.compile(r'"(grpo-dynamics/[a-z-]+/[0-9]+)"')

#: Where a schema lists names that the code has too.
ENUMS = [
    ("predict/1", "properties lag_model enum", NUMERIC_LAG_FLAGS.values()),
    ("predict/1", "properties staleness enum", STALENESS),
    ("diagnose/1", "$defs finding properties verdict enum", VERDICTS),
    ("diagnose/1", "$defs diagnosis properties verdict enum", VERDICTS),
    ("diagnose/1", "$defs diagnosis properties shape properties name enum", SHAPES),
    ("audit/1", "$defs judged properties relation enum", list(Relation)),
    ("audit/1", "$defs judged properties verdict enum", list(VerdictWord)),
    ("audit/1", "$defs judged properties evidence properties rung enum", [r.word for r in Rung]),
    ("derivation/1", "properties provenance enum", list(Provenance)),
]  # fmt: skip


@pytest.mark.parametrize("name", names())
def test_a_document_is_a_schema_and_says_its_name(name: str) -> None:
    document = load(name)
    Draft202012Validator.check_schema(document)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["title"] == name
    assert document["description"].startswith("What ")
    assert document["properties"]["schema"] == {"const": name}
    assert document["required"][0] == "schema"


def test_the_code_prints_these_schemas_and_no_other() -> None:
    modules = [path for top in ("derivations", "numerics") for path in (ROOT / top).rglob("*.py")]
    printed = {name for path in modules for name in NAME.findall(path.read_text(encoding="utf-8"))}
    newest = {name.rpartition("/")[0]: name for name in names()}  # old ones stay to be read
    assert printed == set(newest.values())


def test_the_page_lists_these_schemas_and_no_other() -> None:
    page = (ROOT / "docs" / "reference" / "schemas.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"\| `(grpo-dynamics/[^`]+)`", page))) == list(names())


def test_a_part_that_two_schemas_share_is_the_same_in_both() -> None:
    parts: dict[str, Any] = {}
    for name in names():
        document = load(name)
        if name == "grpo-dynamics/derivation/1":
            document["$defs"]["derivation"] = {
                key: document[key]
                for key in ("type", "required", "properties", "additionalProperties")
            }
        for part, content in document.get("$defs", {}).items():
            assert parts.setdefault(part, content) == content, f"{part} of {name}"
    assert {"judged", "derivation", "diagnosis", "outlook"} <= parts.keys()


@pytest.mark.parametrize(("name", "place", "allowed"), ENUMS, ids=lambda value: str(value)[:60])
def test_names_are_those_of_the_code(name: str, place: str, allowed: Any) -> None:
    found = load(f"grpo-dynamics/{name}")
    for key in place.split():
        found = found[key]
    assert sorted(found) == sorted(allowed)


@pytest.mark.parametrize("name", names())
def test_where_keys_are_fixed_no_other_is_allowed(name: str) -> None:
    """An object that is closed where it is used says so in its description."""
    for part in fixed(load(name)):
        if "type" in part or "$ref" in part:  # and no condition on keys declared outside it
            closed = part.get("additionalProperties") is False
            closed |= part.get("unevaluatedProperties") is False
            assert closed or part["description"].endswith("after what is added there.")
            assert set(part["required"]) <= part["properties"].keys()


def test_an_unknown_name_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UnknownName, match=r"predict/2' is unknown \(did you mean .*predict/1'"):
        load("grpo-dynamics/predict/2")

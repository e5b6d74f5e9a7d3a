"""What the documents say is there is there, and what is there is in the documents."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from derivations.targets import TARGETS

DOCS = Path(__file__).resolve().parent.parent / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

from numbers_of_prose import NumberError, numbers  # noqa: E402


def test_every_quantity_is_explained() -> None:
    text = (DOCS / "reference" / "quantities.md").read_text("utf-8")
    assert [name for name in TARGETS if f"`{name}`" not in text] == []


def test_every_convention_of_a_quantity_is_named() -> None:
    text = (DOCS / "reference" / "quantities.md").read_text("utf-8")
    for target in TARGETS.values():
        for name, allowed in target.choices.items():
            assert f"`{name}`" in text
            assert all(f"`{value}`" in text or str(value) in text for value in allowed)


def test_every_number_of_the_prose_is_used_and_every_one_used_is_there() -> None:
    pages = "".join(page.read_text("utf-8") for page in DOCS.rglob("*.md"))
    rows = tomllib.loads((DOCS / "numbers.toml").read_text("utf-8"))
    assert set(re.findall(r"\{\{ *(\w+) *\}\}", pages)) == set(rows)


def test_numbers_are_computed_and_written(tmp_path: Path) -> None:
    (tmp_path / "n.toml").write_text(
        'a = { value = "2 / 3", format = ".2f" }\n'
        "b = { value = \"numerics.dynamics.threshold('ema', mu=0, stale_share=1, lag=1).value\", "
        'format = ".3g" }\n'
    )
    assert numbers(tmp_path / "n.toml") == {"a": "0.67", "b": "1"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{ value = "1 / 0", format = "d" }', "late: 1 / 0: ZeroDivisionError"),
        ('{ value = "nobody", format = "d" }', "late: nobody: NameError"),
        ('{ value = "0.5", format = "d" }', "late: 0.5: ValueError"),
        ('{ value = "1" }', "late: give value"),
        ('{ value = "1", format = "d", unit = "step" }', "late: give value"),
        ('"1"', "late: give value"),
    ],
)
def test_a_number_that_cannot_be_computed_is_refused(
    row: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "n.toml").write_text(f"late = {row}\n")
    with pytest.raises(NumberError, match=re.escape(message)):
        numbers(tmp_path / "n.toml")


def test_no_page_links_to_what_is_not_there() -> None:
    root = DOCS.parent
    missing = {
        f"{page.relative_to(root)}: {target}"
        for page in [root / "README.md", root / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
        if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists()
    }
    assert missing == set()

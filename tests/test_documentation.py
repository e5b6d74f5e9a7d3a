"""What the documents say is there is there, and what is there is in the documents."""

from __future__ import annotations

from pathlib import Path

from derivations.targets import TARGETS

DOCS = Path(__file__).resolve().parent.parent / "docs"


def test_every_quantity_is_explained() -> None:
    text = (DOCS / "quantities.md").read_text("utf-8")
    assert [name for name in TARGETS if f"`{name}`" not in text] == []


def test_every_convention_of_a_quantity_is_named() -> None:
    text = (DOCS / "quantities.md").read_text("utf-8")
    for target in TARGETS.values():
        for name, allowed in target.choices.items():
            assert f"`{name}`" in text
            assert all(f"`{value}`" in text or str(value) in text for value in allowed)

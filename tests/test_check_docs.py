"""The checker of the documentation finds what is wrong, and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from check_docs import ROOT, check
from doc_blocks import blocks, command


def outcome(tmp_path: Path, page: str) -> tuple[int, list[str]]:
    (tmp_path / "tree").mkdir()
    path = tmp_path / "page.md"
    path.write_text(page, encoding="utf-8")
    ran, failures = check([path], root=tmp_path / "tree")
    return ran, [failure.replace(str(tmp_path) + "/", "") for failure in failures]


@pytest.mark.parametrize(
    ("page", "ran"),
    [
        ("```bash\ntrue\n```\n", 1),
        ("<!-- no-run: needs a cluster -->\n\n```bash\nfalse\n```\n", 0),
        ("<!-- ci:main -->\n```bash\nfalse\n```\n", 0),
        ("```text\nfalse\n```\n", 0),
        ("<!-- file: a b.toml -->\n```toml\nx = 1\n```\n```bash\ncat 'a b.toml'\n```\n", 2),
        ("```python\nx = 1\n```\nand\n```python\nassert x == 1\n```\n", 2),
        ("```python\n>>> x = 1\n>>> x + 1\n2\n```\n```python\nassert x == 1\n```\n", 2),
        ("```console\n$ echo a; echo b; echo c\na\n...\nc\n$ true\n```\n", 1),
        ("```console\n$ false; echo $?\n1\n\n$ echo\n```\n", 1),
        ("- item\n\n  ```bash\n  cat <<END\n  text\n  END\n  ```\n", 1),
        ("````text\n```bash\nfalse\n```\n````\n", 0),
        ("```{toctree}\n:hidden:\n\na\n```\n```bash\ntrue\n```\n", 1),
        ("```{include} ../a.md\n:relative-docs: docs/\n```\n", 0),
        ("````{note} Said once\ntext\n\n```bash\ntrue\n```\n````\n", 1),
    ],
)
def test_a_true_page_passes(page: str, ran: int, tmp_path: Path) -> None:
    assert outcome(tmp_path, page) == (ran, [])


@pytest.mark.parametrize(
    ("page", "start"),
    [
        ("text\n\n```bash\nfalse\ntrue\n```\n", "page.md:4: exit status 1"),
        ("```bash\necho $UNSET_NAME\n```\n", "page.md:2: exit status"),
        ("```python\n\nassert 1 == 2\n```\n", "page.md:2: the Python block fails"),
        ("```python\n>>> 1 + 1\n3\n```\n", "page.md:2: the Python block fails"),
        ("```console\n$ echo a\nb\n```\n", "page.md:2: $ echo a"),
        ("```console\n$ echo a\n```\n", "page.md:2: $ echo a"),
        ("```console\n$ true\na\n```\n", "page.md:2: $ true"),
        ("```console\n$ echo a\na\n\n$ echo b\na\n```\n", "page.md:5: $ echo b"),
        ("```console\n$ false\n```\n", "page.md:2: $ false"),
        ("```bash\ntrue\n", "page.md:1: the code block is never closed"),
        ("```{note}\ntext\n", "page.md:1: the code block is never closed"),
        ("\n```{code-block} bash\ntrue\n```\n", "page.md:2: show code in a plain fence"),
        ("````{note}\ntext\n\n```bash\nfalse\n```\n````\n", "page.md:5: exit status 1"),
        ("<!-- no-run: -->\n```bash\nfalse\n```\n", "page.md:3: the mark 'no-run' needs"),
        ("<!-- norun: typo -->\n```bash\ntrue\n```\n", "page.md:3: unknown mark 'norun'"),
    ],
)
def test_a_false_page_fails_with_its_line(page: str, start: str, tmp_path: Path) -> None:
    ran, failures = outcome(tmp_path, page)
    assert ran == 0
    assert len(failures) == 1
    assert failures[0].startswith(start)


def test_a_traceback_names_the_line_of_the_page(tmp_path: Path) -> None:
    _, failures = outcome(tmp_path, "text\n```python\n\n1 / 0\n```\n")
    assert 'page.md", line 4' in failures[0]


def test_a_mark_belongs_to_the_block_right_below(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("<!-- ci:a -->\n\ntext\n\n```bash\n1\n```\n<!-- ci:b -->\n```bash\n2\n```\n")
    assert [block.mark for block in blocks(path)] == ["", "ci:b"]
    assert command(path, "ci:b") == "2\n"
    with pytest.raises(LookupError, match="0 code blocks marked <!-- ci:a -->"):
        command(path, "ci:a")


def test_the_readme_has_its_two_commands() -> None:
    for mark in ("ci:main", "ci:test"):
        assert "python3 -m venv" in command(ROOT / "README.md", mark)

"""Run every code block of the documentation, as a reader would.

    python tests/check_docs.py              run all blocks of README.md and docs/
    python tests/check_docs.py ci:test      print the README's block with that mark

Each file gets a scratch copy of the tree as its working directory and one Python namespace.

- ```bash      runs as it stands and must succeed.
- ```console   lines after ``$ `` run one by one and must print what the page shows under them,
               where a line ``...`` stands for any lines.
- ```python    runs; with ``>>>`` it must also print what the page shows.
- A directive of the site, such as ```{note}, is not code; a block in its body is.
- A mark above a block changes that: ``<!-- no-run: reason -->`` leaves it alone,
  ``<!-- file: NAME -->`` writes it to NAME, ``<!-- ci:... -->`` is run elsewhere.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from doc_blocks import Block, blocks, command

ROOT = Path(__file__).resolve().parent.parent
_NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "build", "dist", "report", ".*_cache")


class Failure(Exception):
    """A block that did not do what the page says; the message starts with file:line."""


def run(block: Block, scratch: Path, namespace: dict[str, Any]) -> bool:
    """Run one block in `scratch`; return whether it was one to run."""
    kind, _, rest = block.mark.partition(":")
    if kind == "file":
        (scratch / rest.strip()).write_text(block.text, encoding="utf-8")
    elif kind in ("no-run", "ci"):
        if not rest.strip():
            raise Failure(f"{block.place}: the mark {kind!r} needs a reason")
        return False
    elif kind:
        raise Failure(f"{block.place}: unknown mark {kind!r}; use no-run, file or ci")
    elif block.language == "bash":
        output, status = _shell(f"set -euo pipefail\n{block.text}", scratch)
        if status:
            raise Failure(f"{block.place}: exit status {status}\n{output}")
    elif block.language == "console":
        _console(block, scratch)
    elif block.language == "python":
        _python(block, scratch, namespace)
    else:
        return False
    return True


def _shell(text: str, scratch: Path) -> tuple[str, int]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", text],
        cwd=scratch, env={**os.environ, "PATH": path, "COLUMNS": "80"}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )
    return done.stdout, done.returncode


def _console(block: Block, scratch: Path) -> None:
    before, *parts = re.split(r"^(?=\$ )", block.text, flags=re.MULTILINE)
    number = block.line + before.count("\n")
    for part in parts:
        line, _, shown = part.partition("\n")
        output, status = _shell(line.removeprefix("$ "), scratch)
        pattern = "".join(
            r"(?:.*\n)*?" if row.strip() == "..." else re.escape(row.rstrip()) + r"[ ]*\n"
            for row in shown.rstrip().splitlines()
        )
        if status or not re.fullmatch(pattern + r"\n*", output if output.strip() else "\n"):
            raise Failure(f"{block.path}:{number}: {line}\nexit status {status}, printed\n{output}")
        number += part.count("\n")


def _python(block: Block, scratch: Path, namespace: dict[str, Any]) -> None:
    printed = io.StringIO()
    with contextlib.chdir(scratch), contextlib.redirect_stdout(printed):
        if block.text.lstrip().startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(
                block.text, namespace, str(block.path), str(block.path), block.line - 1
            )
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
            failed = runner.run(test, clear_globs=False).failed
            namespace |= test.globs
        else:
            source = "\n" * (block.line - 1) + block.text  # tracebacks then name the page's line
            try:
                exec(compile(source, str(block.path), "exec"), namespace)
                failed = 0
            except Exception:
                failed = 1
                traceback.print_exc(file=printed)
    if failed:
        raise Failure(f"{block.place}: the Python block fails\n{printed.getvalue()}")


def check(pages: Iterable[Path], root: Path = ROOT) -> tuple[int, list[str]]:
    """Run the blocks of all pages; return how many ran and the failures, one a page at most."""
    ran, failures = 0, []
    for page in pages:
        with tempfile.TemporaryDirectory() as directory:
            scratch = Path(directory) / "tree"
            shutil.copytree(root, scratch, ignore=_NOT_COPIED)
            namespace: dict[str, Any] = {"__name__": "__docs__"}
            try:
                ran += sum([run(block, scratch, namespace) for block in blocks(page)])
            except (Failure, SyntaxError) as failure:  # later blocks build on this one
                failures.append(str(failure))
    return ran, failures


def main(arguments: list[str]) -> int:
    """Print a marked block of the README, or check all pages."""
    if arguments:
        print(command(ROOT / "README.md", arguments[0]), end="")
        return 0
    ran, failures = check([ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))])
    print(*failures, f"documentation: {ran} code blocks run, {len(failures)} pages fail", sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""``grpo-dynamics report``: the main job, and the files generated from the derivations."""

from __future__ import annotations

import argparse
from pathlib import Path

from numerics.commands.arguments import Parser, UsageError
from numerics.commands.output import print_json

_FILES = ("index.html", "report.json")


def configure(parser: Parser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path("report"),
        help="where report.json and index.html go (default report)",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="make no report; fail if a generated file of the source tree differs from what the "
        "derivations give",
    )
    parser.add_argument(
        "--update", action="store_true", help="make no report; write those generated files anew"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """Make the report, or check or update the generated files; 1 if something is unexpected."""
    if args.check and args.update:
        raise UsageError("give --check or --update, not both")
    if args.check or args.update:
        return _generated(update=args.update, as_json=args.json)
    return _report(args.out, as_json=args.json)


def _report(out: Path, *, as_json: bool) -> int:
    import json

    from numerics.progress import progress
    from numerics.report import make, page, staged, terminal

    if not out.name:
        raise UsageError("--out needs the name of a directory")
    with staged(out, _FILES) as scratch:
        report = make(lambda results, total: progress(results, "report", total))
        text = json.dumps(report.json(), indent=2, allow_nan=False)
        (scratch / "report.json").write_text(f"{text}\n", encoding="utf-8")
        (scratch / "index.html").write_text(page.render(report), encoding="utf-8")
    if as_json:
        print(text)
    else:
        print(terminal.render(report), f"\n{out / 'index.html'}", sep="\n")
    return 0 if report.as_expected else 1


def _generated(*, update: bool, as_json: bool) -> int:
    from numerics.progress import progress
    from numerics.report.generated import PARTS, source_tree

    root = source_tree()
    drift: list[str] = []
    for part in progress(PARTS, "generated files"):
        if update:
            part.write(root)
        else:
            drift += part.drift(root)
    folders = ", ".join(part.folder for part in PARTS)
    if as_json:
        print_json({"updated": update, "drift": drift})
    elif drift:
        print(*drift, "", "If the change is wanted: grpo-dynamics report --update", sep="\n")
    else:
        print(f"{folders}: {'written' if update else 'what the derivations give'}")
    return 1 if drift else 0

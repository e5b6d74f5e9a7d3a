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
    parser.add_argument(
        "--accept",
        action="store_true",
        help="make the report, and take what its verdicts rest on as the evidence record from now "
        "on; says what that changes",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """Make the report, or check or update the generated files; 1 if something is unexpected."""
    if args.check + args.update + args.accept > 1:
        raise UsageError("give --check, --update or --accept, one at a time")
    if args.check or args.update:
        return _generated(update=args.update, as_json=args.json)
    return _report(args.out, accept=args.accept, as_json=args.json)


def _report(out: Path, *, accept: bool, as_json: bool) -> int:
    import json
    from dataclasses import replace

    from numerics.progress import progress
    from numerics.report import make, page, staged, terminal

    if not out.name:
        raise UsageError("--out needs the name of a directory")
    record = _evidence_to_write() if accept else None
    with staged(out, _FILES) as scratch:
        report = make(lambda results, total: progress(results, "report", total))
        if record is not None and report.sound:
            report = replace(report, accepted=True)
        text = json.dumps(report.json(), indent=2, allow_nan=False)
        (scratch / "report.json").write_text(f"{text}\n", encoding="utf-8")
        (scratch / "index.html").write_text(page.render(report), encoding="utf-8")
    if record is not None and report.accepted:
        from derivations.evidence import written

        record.write_text(written(report.evidence), encoding="utf-8")
    if as_json:
        print(text)
    else:
        print(terminal.render(report), f"\n{out / 'index.html'}", sep="\n")
        if accept and not report.accepted:
            print("not accepted: a verdict is not as expected, or a cross-check failed")
    return 0 if report.as_expected else 1


def _evidence_to_write() -> Path:
    """Return the place of the evidence record, refused where it would lose what it holds."""
    from derivations.evidence import PATH, missing_tools
    from numerics.report.generated import source_tree

    missing = missing_tools()
    if missing:
        raise UsageError(
            f"{' and '.join(missing)} cannot be imported, so the evidence record would lose what "
            "rests on it; install it and accept then"
        )
    return source_tree() / "derivations" / PATH.name


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
        print_json("grpo-dynamics/generated/1", {"updated": update, "drift": drift})
    elif drift:
        print(*drift, "", "If the change is wanted: grpo-dynamics report --update", sep="\n")
    else:
        print(f"{folders}: {'written' if update else 'what the derivations give'}")
    return 1 if drift else 0

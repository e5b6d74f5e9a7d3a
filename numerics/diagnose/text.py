"""A diagnosis for an 80-column terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from numerics.diagnose.diagnosis import Diagnosis
from numerics.diagnose.finding import FAULT, WARNING, Finding

__all__ = ["render"]

_COLUMNS = 80


def render(diagnoses: Iterable[Diagnosis]) -> str:
    """Return the diagnoses as text, the summary of each run first."""
    return "\n\n".join(_run(diagnosis) for diagnosis in diagnoses)


def _run(diagnosis: Diagnosis) -> str:
    name = f"{diagnosis.run}: " if diagnosis.run else ""
    lines = [_wrapped(f"{name}{diagnosis.summary}", 0, 2)]
    lines.append(_wrapped(
        f"{diagnosis.rows} reward rows; best checkpoint by {diagnosis.best_by} at step "
        f"{diagnosis.best_step:g}", 2, 2,
    ))  # fmt: skip
    for finding in diagnosis.findings:
        lines += ["", *_finding(finding)]
    return "\n".join(lines)


def _finding(finding: Finding) -> list[str]:
    kind = f" ({finding.kind})" if finding.kind else ""
    lines = [_wrapped(f"{finding.name}: {finding.verdict}{kind}", 0, 2)]
    if finding.value is not None and finding.value_name:
        lines.append(_wrapped(f"{finding.value_name}: {finding.value}", 2, 2))
    lines += [_wrapped(sentence, 2, 2) for sentence in finding.evidence]
    if finding.verdict in (WARNING, FAULT):
        if finding.onset is not None:
            lines.append(_wrapped(f"onset: {finding.onset}", 2, 2))
        if finding.called_at is not None:
            lines.append(_wrapped(f"could be called at step {finding.called_at:g}", 2, 2))
        for rival in finding.rivals:
            lines.append(_wrapped(f"or: {rival.explanation}; to tell: {rival.test}", 2, 6))
    lines += [_wrapped(f"missing: {key}", 2, 4) for key in finding.missing]
    return lines


def _wrapped(text: str, indent: int, hanging: int) -> str:
    return textwrap.fill(
        text, _COLUMNS, initial_indent=" " * indent, subsequent_indent=" " * (indent + hanging),
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip

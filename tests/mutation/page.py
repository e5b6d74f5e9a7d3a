"""docs/reliability.md, from the scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from mutation.known import Known
from mutation.responsible import TESTS

if TYPE_CHECKING:
    from mutation.mutants import Mutant
    from mutation.score import Score

_AREAS = ("numerics/exact", "numerics/dynamics", "derivations")
_KILLED = ("failed", "timed out")
_HEAD = """\
# Reliability

Does a test notice when something in this toolkit is wrong? Two measurements, of formulas and of
code. This page is written by the command that makes them:

<!-- no-run: takes long, and rewrites this page -->

```bash
pip install -e ".[mutation]"
python tests/mutation --write --session FILE
```

A whole run takes hours on one core. What was found is kept in `FILE`: a run can be stopped and gone
on with, and after a change only what depends on it is judged again.

## Stated formulas

Every formula that the toolkit states is changed in each coefficient, exponent, sign and lag, as a
misprint would change it, and judged as a claim; a mutant that is not refuted must be proved
equivalent, or stricter where the claim is a sufficient condition. Every coefficient of every
optimizer's recurrence is changed too, and must change the derived oscillator.
`python -m pytest -n 0 -s tests/test_mutation.py` prints:

```text
{formulas}
```

"Stricter" and "equal" are decided by a proof within the run: the solver's, or the difference
expanded to zero.

## Code

[Cosmic Ray](https://cosmic-ray.readthedocs.io) {tool} makes the mutants of every module of
`derivations/`, `numerics/exact/` and `numerics/dynamics/` with code in it: operators and
comparisons replaced, numbers one off, conditions negated, `and` and `or` swapped, loops emptied,
`break` and `continue` swapped, exceptions and decorators replaced. Not `derivations/results/`: a
result there is a formula, and the mutants above are what can be wrong about it.

- **Sample.** Of the places of a module where the tool can change something, one in {numerics} (one
  in {derivations} in `derivations/`), rounded up, is drawn (seed {seed}), and one of the changes it
  knows for that place: {drawn} of {places} places.
- **Judged** by the module's test files (`tests/mutation/responsible.py`) on a copy of the tree
  until one test fails. A run that takes 5 s + twice the usual processor time is stopped and counts
  as killed: {endless} of them.
- **Left out**: annotations, imports, `@cache`, and the guards `strict=` of `zip` and `frozen=` of
  dataclasses, which no right program trips; arithmetic replaced by a bit operator, which nearly
  always is a `TypeError` and would flatter the score.
- **Score**: killed, of those that are not equivalent. Tests were added for the mutants that
  survived when they were drawn, so the sample no longer tells about the other places. The score
  *as drawn* does: it estimates that of all places before the tests were added, within the
  interval (95 %, Clopper and Pearson), and so is a low estimate of today's. A mutant that a test
  added for another one kills counts as killed.

{summary}

A survivor that is equivalent could not be told apart by any test; the reason is with it below. A
module has few mutants, so its interval is wide: its row shows where tests were missing, not how
good they are.

{modules}
"""


def page(scores: Sequence[Score], ledger: Sequence[Known], formulas: str, **facts: object) -> str:
    """Return docs/reliability.md; `facts`: `tool`, `seed` and, by top folder, one in how many."""
    columns = ("places", "drawn", "equivalent", "score as drawn", "95 %", "score now")
    areas = {area: [s for s in scores if s.module.startswith(f"{area}/")] for area in _AREAS}
    summary = [_row(f"`{area}/`", part) for area, part in areas.items()]
    text = _HEAD.format(
        formulas=formulas,
        **facts,
        drawn=sum(score.drawn.total() for score in scores),
        places=sum(score.places for score in scores),
        endless=sum(score.before["timed out"] for score in scores),
        summary="\n".join(_table(("", *columns), summary)),
        modules="\n".join(
            _table(("module", *columns), (_row(f"`{s.module}`", [s]) for s in scores))
        ),
    )
    parts = [text, *_unjudged(scores), *_living(scores, ledger), *_dead(scores, ledger)]
    return "\n".join(parts).rstrip() + "\n"


def _row(name: str, scores: Sequence[Score]) -> tuple[str, ...]:
    now = sum((score.drawn for score in scores), Counter[str]())
    before = sum((score.before for score in scores), Counter[str]())
    judged = now.total() - now["equivalent"]
    killed, first = (sum(ends[end] for end in _KILLED) for ends in (now, before))
    places = str(sum(score.places for score in scores))
    if not judged:
        return name, places, str(now.total()), str(now["equivalent"]), "", "", ""
    return (
        name,
        places,
        str(now.total()),
        str(now["equivalent"]),
        f"{first}/{judged} = {_percent(first / judged)}",
        " to ".join(_percent(end) for end in interval(first, judged)),
        f"{killed}/{judged} = {_percent(killed / judged)}",
    )


def interval(killed: int, judged: int) -> tuple[float, float]:
    """Return the ends of Clopper and Pearson's interval of the score, at 95 %."""
    from scipy.stats import binomtest

    ends = binomtest(killed, judged).proportion_ci(0.95, method="exact")
    return float(ends.low), float(ends.high)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _unjudged(scores: Sequence[Score]) -> Iterator[str]:
    """Iterate over what is said of the modules that this run did not judge."""
    left = sorted(TESTS.keys() - {score.module for score in scores})
    if left:
        yield f"Not judged yet: {', '.join(f'`{module}`' for module in left)}."
        yield ""


def _living(scores: Sequence[Score], ledger: Sequence[Known]) -> Iterator[str]:
    """Iterate over the section on the mutants that live."""
    about = {known.key: known for known in ledger}
    living = [mutant for score in scores for mutant in score.survivors]
    equivalent = [m for m in living if m.key in about and about[m.key].reason]
    others = [m for m in living if m not in equivalent]
    yield from ("## Survivors", "", f"{len(others)} that no test tells apart yet:", "")
    for mutant in others:
        yield from _change(mutant, about[mutant.key].open if mutant.key in about else "")
    yield from (f"{len(equivalent)} that no test can tell apart, and why:", "")
    for mutant in equivalent:
        yield from _change(mutant, about[mutant.key].reason)


def _dead(scores: Sequence[Score], ledger: Sequence[Known]) -> Iterator[str]:
    """Iterate over the section on the mutants that tests were added for."""
    living = {mutant.key for score in scores for mutant in score.survivors}
    judged = {score.module for score in scores}
    added = [k for k in ledger if k.test and k.module in judged and k.key not in living]
    yield from ("## Survivors that a test was added for", "")
    yield "Each of these lived when it was drawn, and is dead now. They are judged in every run,"
    yield from ("drawn or not.", "")
    for known in added:
        yield from _change(known, f"`{known.test}`")


def _change(mutant: Mutant | Known, about: str) -> Iterator[str]:
    place = f"`{mutant.module}`" + (f", `{mutant.within}`" if mutant.within else "")
    yield from (f"- {place}{': ' + about if about else ''}", "", "  ```diff")
    yield from (f"  - {mutant.was}", f"  + {mutant.becomes}", "  ```", "")

"""The mutants of a module: what Cosmic Ray can change in it, and a seeded sample of that."""

from __future__ import annotations

import ast
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

#: Left out, because no test of a right program can tell: a cache changes time only, and these
#: guards speak only when something else is wrong already.
GUARDS = re.compile(r"^@(functools\.)?(lru_)?cache\b|^@overload\b|\b(strict|frozen)=False\b")
#: Left out, because it is nearly always a TypeError and would flatter the score.
BITS = re.compile(r"ReplaceBinaryOperator_.*_(RShift|LShift|BitOr|BitAnd|BitXor)$")
_NOT_CODE = re.compile(r"^(if TYPE_CHECKING:|from|import)\b")


@dataclass(frozen=True)
class Mutant:
    """One change of one module; `was` and `becomes` are the changed lines without indentation."""

    module: str
    within: str
    line: int
    was: str
    becomes: str
    code: str

    @property
    def key(self) -> str:
        """What it is known by, as long as neither line is touched."""
        return "\n".join((self.module, self.within, self.was, self.becomes))


class Population:
    """Every place of a module where the tool can change something, and what it can put there.

    A mutant is drawn in two steps, the place and then the change: otherwise the operators with the
    most replacements, not the places, would decide the score.
    """

    def __init__(self, module: str, source: str) -> None:
        self._module, self._source = module, source
        self._lines = source.splitlines()
        skipped = _annotations(source)
        places: dict[tuple[int, int], list[tuple[Any, int, str]]] = defaultdict(list)
        for operator, occurrence, start, within in _changes(source):
            if start not in skipped and not _NOT_CODE.match(self._lines[start[0] - 1].strip()):
                places[start].append((operator, occurrence, within))
        self._places = {start: places[start] for start in sorted(places)}

    def __len__(self) -> int:
        """Return the number of places, those where every change is left out included."""
        return len(self._places)

    def draw(self, count: int, seed: str) -> list[Mutant]:
        """Return `count` mutants in different places, fewer if there are fewer; sorted by line."""
        chance = random.Random(f"{seed}:{self._module}")
        drawn: list[Mutant] = []
        for start in chance.sample(list(self._places), len(self._places)):
            changes = self._places[start]
            for operator, occurrence, within in chance.sample(changes, len(changes)):
                mutant = self._apply(operator, occurrence, within)
                if mutant is not None:
                    drawn.append(mutant)
                    break
            if len(drawn) == count:
                break
        return sorted(drawn, key=lambda mutant: mutant.line)

    def find(self, within: str, was: str, becomes: str) -> list[Mutant]:
        """Return the mutants with these two lines; none, if the code has moved on."""
        found = {}
        for (line, _), changes in self._places.items():
            if self._lines[line - 1].strip() not in was:
                continue
            for operator, occurrence, where in changes:
                mutant = self._apply(operator, occurrence, where) if where == within else None
                if mutant is not None and (mutant.was, mutant.becomes) == (was, becomes):
                    found[mutant.code] = mutant
        return list(found.values())

    def _apply(self, operator: Any, occurrence: int, within: str) -> Mutant | None:
        """Return the mutant, or None if it is not one to judge."""
        from cosmic_ray.mutating import mutate_code

        code = mutate_code(self._source, operator, occurrence)
        if code is None or not _is_other_program(code, self._source):
            return None
        old, new = self._lines, code.splitlines()
        first = _alike(old, new)
        last = min(_alike(old[::-1], new[::-1]), len(old) - first, len(new) - first)
        was, becomes = (
            " ".join(line.strip() for line in lines[first : len(lines) - last]).strip()
            for lines in (old, new)
        )
        becomes = re.sub(r" {2,}", " ", becomes)
        if GUARDS.search(becomes or was):
            return None
        return Mutant(self._module, within, first + 1, was, becomes, code)


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """Return with how many equal lines both begin."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))))


def _changes(source: str) -> Iterator[tuple[Any, int, tuple[int, int], str]]:
    """Iterate over (operator, its how-manieth occurrence, place, the function it is in)."""
    import cosmic_ray.plugins
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.ast.ast_query import ASTQuery

    nodes = list(ast_nodes(get_ast(source)))
    for name in cosmic_ray.plugins.operator_names():
        kind = cosmic_ray.plugins.get_operator(name)
        if kind.arguments() or BITS.search(name):
            continue
        operator = kind()
        places = ((node, start) for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, (node, start) in enumerate(places):
            yield operator, occurrence, tuple(start), ASTQuery(node).get_definition_name() or ""


def _annotations(source: str) -> set[tuple[int, int]]:
    """Return every (line, column) inside an annotation: no annotation is ever evaluated here."""
    lines = source.splitlines()
    inside: set[tuple[int, int]] = set()
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if isinstance(part, ast.expr) and part.end_lineno and part.end_col_offset is not None:
                for number in range(part.lineno, part.end_lineno + 1):
                    raw = lines[number - 1].encode()
                    start = part.col_offset if number == part.lineno else 0
                    stop = part.end_col_offset if number == part.end_lineno else len(raw)
                    first, last = len(raw[:start].decode()), len(raw[:stop].decode())
                    inside |= {(number, column) for column in range(first, last)}
    return inside


def _is_other_program(code: str, source: str) -> bool:
    """Whether it compiles, and to something else than the source."""
    try:
        return ast.dump(ast.parse(code)) != ast.dump(ast.parse(source))
    except SyntaxError:
        return False

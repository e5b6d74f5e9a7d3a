r"""Compile derived expressions to NumPy kernels, as readable source.

A kernel is a formula as few operations (`numerics.straight_line`), made to broadcast by
`numerics.kernels._shape`. Rationals are printed as quotients of integers, so that no constant is
rounded before the arithmetic it takes part in. The source is committed, so using a kernel needs no
SymPy; the drift check compares it with what the derivations give now.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.printing.pycode import PythonCodePrinter

from derivations.notation import QUANTITIES
from numerics.straight_line import straight_line

__all__ = ["Kernel", "kernel_source", "module_source"]

_NUMPY = {
    "sqrt": "np.sqrt",
    "exp": "np.exp",
    "log": "np.log",
    "sin": "np.sin",
    "cos": "np.cos",
    "tan": "np.tan",
    "asin": "np.arcsin",
    "acos": "np.arccos",
    "atan": "np.arctan",
    "atan2": "np.arctan2",
    "sinh": "np.sinh",
    "cosh": "np.cosh",
    "tanh": "np.tanh",
    "Abs": "np.abs",
    "Min": "np.minimum",
    "Max": "np.maximum",
}


@dataclass(frozen=True)
class Kernel:
    """One function to generate.

    Attributes
    ----------
    name
        Function name.
    outputs
        Result name to expression, in the order returned.
    origin
        Id and conventions of the derivation, for the docstring.
    takes
        Arguments it has even where no output depends on them, so that kernels of one family are
        called alike.
    """

    name: str
    outputs: Mapping[str, sp.Expr]
    origin: str
    takes: tuple[str, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """Argument names, in the notation's order."""
        free = {s.name for e in self.outputs.values() for s in e.free_symbols} | set(self.takes)
        unknown = free - set(QUANTITIES)
        if unknown:
            raise ValueError(f"kernel {self.name}: {sorted(unknown)} are not in the notation")
        return [name for name in QUANTITIES if name in free]


class _Printer(PythonCodePrinter):  # type: ignore[misc]  # SymPy ships no types
    """Prints SymPy expressions as NumPy source, rationals as quotients of integers."""

    def _print_Rational(self, expr: Any) -> str:
        return f"{expr.p}/{expr.q}"

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        if expr.exp == sp.Rational(1, 2):
            return f"np.sqrt({self._print(expr.base)})"
        if expr.exp == -1:
            return f"1/{self.parenthesize(expr.base, 60)}"
        base = self.parenthesize(expr.base, 60)
        if expr.exp == 2 and expr.base.is_Symbol:  # faster than a power, wherever arrays are not
            return f"{base}*{base}"
        return f"{base}**{self.parenthesize(expr.exp, 60)}"

    def _print_Mul(self, expr: Any) -> str:
        coefficient, rest = expr.as_coeff_Mul()
        if not coefficient.is_Rational or coefficient.q == 1:
            printed: str = super()._print_Mul(expr)
            return printed
        return f"{self._divisible(coefficient.p * rest)}/{coefficient.q}"

    def _print_Add(self, expr: Any, order: Any = None) -> str:
        quotients = [term.as_coeff_Mul()[0] for term in expr.args]
        common = sp.ilcm(*(c.q for c in quotients if c.is_Rational), 1)
        if common == 1:
            # A sum that begins with a minus costs a pass more than one that has it further on.
            terms = self._as_ordered_terms(expr, order=order)
            terms.sort(key=lambda term: bool(term.as_coeff_Mul()[0].is_negative))
            parts: list[str] = [self._print(term) for term in terms]
            rest = (f" - {p[1:]}" if p.startswith("-") else f" + {p}" for p in parts[1:])
            return parts[0] + "".join(rest)
        return f"({self._print(sp.Add(*(common * term for term in expr.args)))})/{common}"

    def _divisible(self, expr: Any) -> str:
        return f"({self._print(expr)})" if expr.is_Add else self._print(expr)

    def _print_Function(self, expr: Any) -> str:
        name = type(expr).__name__
        if name not in _NUMPY:
            raise ValueError(f"no NumPy function for {name}")
        return f"{_NUMPY[name]}({', '.join(self._print(a) for a in expr.args)})"

    _print_Min = _print_Max = _print_Abs = _print_Function
    _print_exp = _print_log = _print_Function

    def _print_Pi(self, expr: Any) -> str:
        return "np.pi"


def _split(line: str) -> str:
    """Wrap one assignment or return inside parentheses, at spaces."""
    if len(line) <= 96:
        return line
    if line.startswith("return "):
        body = textwrap.fill(line[7:], 90, break_long_words=False, break_on_hyphens=False)
        return f"return (\n{textwrap.indent(body, '    ')}\n)"
    target, _, value = line.partition(" = ")
    body = textwrap.fill(value, 90, break_long_words=False, break_on_hyphens=False)
    return f"{target} = (\n{textwrap.indent(body, '    ')}\n)"


def kernel_source(kernel: Kernel) -> str:
    """Return the source of one kernel."""
    printer = _Printer({"fully_qualified_modules": False})
    python = {
        s: sp.Symbol(f"{s.name}_" if s.name == "lambda" else s.name)
        for e in kernel.outputs.values()
        for s in e.free_symbols
    }
    lines, values = straight_line([e.xreplace(python) for e in kernel.outputs.values()])
    arguments = kernel.arguments
    rows = [f"{name} : {QUANTITIES[name].meaning} [{QUANTITIES[name].unit}]" for name in arguments]
    doc = [f'r"""{", ".join(kernel.outputs)}, from {kernel.origin}.', "", *rows, '"""']
    body = [_split(f"{symbol} = {printer.doprint(e)}") for symbol, e in lines]
    outputs = [printer.doprint(e) for e in values]
    if len(outputs) == 1:
        body.append(_split(f"return {outputs[0]}"))
        returns = "Array"
    else:
        body.append("return (\n" + "".join(f"    {o},\n" for o in outputs) + ")")
        returns = "tuple[" + ", ".join(["Array"] * len(outputs)) + "]"
    signature = ", ".join(f"{a}: ArrayLike" for a in arguments)
    head = f"def {kernel.name}(*, {signature}) -> {returns}:"
    if len(head) > 98:
        spaced = signature.replace(", ", ",\n    ")
        head = f"def {kernel.name}(\n    *,\n    {spaced},\n) -> {returns}:"
    block = textwrap.indent("\n".join([*doc, *body]), "    ")
    return f"@kernel\n{head}\n{block}\n"


def module_source(title: str, kernels: Sequence[Kernel]) -> str:
    """Return the source of one generated module."""
    names = ", ".join(f'"{k.name}"' for k in sorted(kernels, key=lambda k: k.name))
    body = "\n\n".join(kernel_source(k) for k in kernels)
    head = [
        f'"""{title}',
        "",
        "Generated from the derivations by `grpo-dynamics report`; do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        *(["import numpy as np", ""] if "np." in body else []),
        "from numerics.kernels._shape import Array, ArrayLike, kernel",
        "",
        "__all__ = [" + names + "]",
        "",
        "",
    ]
    return "\n".join(head) + body

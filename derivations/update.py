r"""The premises: how the optimizer steps, how old the sampling policy is, where the force acts.

An update is three choices. Everything linear in the theory is a function of them, so another
optimizer or another lag model is one more row here and nothing else.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import sympy as sp

from derivations.notation import quantity

__all__ = ["LAG_MODELS", "OPTIMIZERS", "LagModel", "Optimizer", "Update", "nearest"]

_mu, _x, _s = quantity("mu"), quantity("x"), quantity("s")


@dataclass(frozen=True)
class Optimizer:
    r"""A linear optimizer as the recurrence its authors write.

    With :math:`g_k` the ascent direction at step k and :math:`v_k` the buffer,

    .. math:: v_k = \mathrm{memory}\, v_{k-1} + \mathrm{intake}\, g_k, \qquad
              \theta_{k+1} = \theta_k + \eta(\mathrm{direct}\, g_k + \mathrm{passed}\, v_k).

    Attributes
    ----------
    name
        As files and flags spell it.
    memory, intake, direct, passed
        The four coefficients, expressions in ``mu``.
    source
        Where the recurrence is printed.
    provenance
        ``stated`` for equation (3), ``extension`` for the others.
    """

    name: str
    memory: sp.Expr
    intake: sp.Expr
    direct: sp.Expr
    passed: sp.Expr
    source: str
    provenance: str


@dataclass(frozen=True)
class LagModel:
    """How old the policy is that the stale force is computed on.

    Attributes
    ----------
    name
        ``constant`` (equation 3: always d steps) or ``sawtooth`` (refreshed every N steps: 0, 1,
        ..., N-1 and again).
    parameter
        The symbol its one number is written with, ``d`` or ``N``.
    source
        Where it is stated.
    """

    name: str
    parameter: sp.Symbol
    source: str


#: Name -> optimizer, as four coefficients of its recurrence.
OPTIMIZERS: Mapping[str, Optimizer] = MappingProxyType(
    {
        row.name: row
        for row in (
            Optimizer(
                "heavy-ball", _mu, sp.S.One, sp.S.Zero, sp.S.One,
                "arXiv:2606.30789 v1, equation (3)", "stated",
            ),
            Optimizer(
                "ema", _mu, 1 - _mu, sp.S.Zero, sp.S.One,
                "Adam's first moment (its beta1)", "extension",
            ),
            Optimizer(
                "nesterov", _mu, sp.S.One, sp.S.One, _mu,
                "torch.optim.SGD(nesterov=True)", "extension",
            ),
        )
    }
)

#: Name -> lag model.
LAG_MODELS: Mapping[str, LagModel] = MappingProxyType(
    {
        row.name: row
        for row in (
            LagModel("constant", quantity("d"), "theta_old = theta_{k - K_ref}, equation (3)"),
            LagModel("sawtooth", quantity("N"), "refreshed every K_ref steps, section 3.1"),
        )
    }
)


def nearest(name: str, allowed: Mapping[str, object]) -> str:
    """Return ``; did you mean ...?`` for a misspelt name, or an empty string."""
    close = difflib.get_close_matches(str(name), list(allowed), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


@dataclass(frozen=True)
class Update:
    """One linearised GRPO update rule.

    Attributes
    ----------
    optimizer, lag_model
        The two premises.
    stale_share
        s = K_s/K, a number or the symbol ``s``; 1 is the source's Theorem 7.
    lag
        The number d or N, or its symbol when a statement is about every lag.
    """

    optimizer: Optimizer
    lag_model: LagModel
    stale_share: sp.Expr = sp.S.One
    lag: sp.Expr | None = None

    @classmethod
    def named(
        cls,
        optimizer: str,
        lag_model: str,
        *,
        stale_share: object = 1,
        lag: object = None,
    ) -> Update:
        """Build an update from names.

        Raises
        ------
        ValueError
            If a name is unknown; the message lists the known ones.
        SympifyError
            If the share is text: text is never evaluated.
        """
        for kind, name, table in (
            ("optimizer", optimizer, OPTIMIZERS),
            ("lag_model", lag_model, LAG_MODELS),
        ):
            if name not in table:
                raise ValueError(
                    f"unknown {kind} {name!r}{nearest(name, table)} (known: {', '.join(table)})"
                )
        model = LAG_MODELS[lag_model]
        return cls(
            OPTIMIZERS[optimizer],
            model,
            sp.sympify(stale_share, strict=True),
            model.parameter if lag is None else sp.Integer(lag),
        )

    def __post_init__(self) -> None:
        if self.lag is None:
            object.__setattr__(self, "lag", self.lag_model.parameter)

    @property
    def age(self) -> sp.Expr:
        """The lag or refresh: a number, or the lag model's symbol."""
        return self.lag_model.parameter if self.lag is None else self.lag

    @property
    def fresh(self) -> sp.Expr:
        """x_f, the part of x that acts at once."""
        return (1 - self.stale_share) * _x

    @property
    def stale(self) -> sp.Expr:
        """x_s, the part of x computed on the old policy."""
        return self.stale_share * _x

    @property
    def steps(self) -> int | None:
        """The lag or refresh as an int, or None while it is a symbol."""
        return int(self.lag) if self.lag is not None and self.lag.is_Integer else None

    def at(self, lag: int) -> Update:
        """Return the same update with the lag or refresh fixed."""
        return Update(self.optimizer, self.lag_model, self.stale_share, sp.Integer(lag))

    def conventions(self) -> dict[str, str]:
        """Return every choice made, for echoing with a result."""
        return {
            "optimizer": self.optimizer.name,
            "lag_model": self.lag_model.name,
            "stale_share": str(self.stale_share),
            "lag" if self.lag_model.name == "constant" else "refresh": str(self.lag),
        }

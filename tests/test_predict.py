"""`predict`: the reference table, exactness near momentum 1, and what does not exist is null."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from numerics.predict import predict, render

#: mu, d, threshold, rule, onset, truncated onset, threshold and kind at refresh d + 1.
TABLE = [
    ("0", 0, 2, None, 1, 0.5, 2, "flip"),
    ("0", 1, 1, 1, 0.25, 0.2360679775, 1, "flip"),
    ("0", 4, 0.347296355334, 0.25, 0.08192, 0.0876952648396, 0.4, "flip"),
    ("0.5", 2, 0.280776406404, 0.25, 0.0481125224325, 0.0481456008918, 0.692307692308, "flip"),
    ("0.9", 0, 3.8, None, 0.00263340389897, 0.00263157894737, 3.8, "flip"),
    ("0.9", 1, 0.1, 0.1, 0.0025, 0.00249843945008, 0.211111111111, "neimark-sacker"),
    ("0.9", 8, 0.01394199458, 0.0125, 0.00180455877953, 0.00181289950103, 0.0302294749313,
     "neimark-sacker"),
]  # fmt: skip


def predicted(mu: str, x: str, lag: int | None = None, **more: Any) -> dict[str, Any]:
    model = "sawtooth" if "refresh" in more else "constant"
    share = Fraction(more.pop("share", 1))
    return predict(
        momentum=Fraction(mu), x=Fraction(x), optimizer="heavy-ball", lag_model=model, lag=lag,
        stale_share=share, times=[Fraction(0), Fraction(1000)], **more,
    )  # fmt: skip


def printed(value: float | None, like: float | None) -> bool:
    """Whether a value rounds to the digits printed."""
    if value is None or like is None:
        return value is like
    return value == pytest.approx(like, rel=0, abs=0.51 * 10.0 ** -len(str(like).partition(".")[2]))


@pytest.mark.parametrize(("mu", "d", "border", "rule", "onset", "truncated", "saw", "kind"), TABLE)
def test_the_reference_table(
    mu: str, d: int, border: float, rule: float | None, onset: float, truncated: float,
    saw: float, kind: str,
) -> None:  # fmt: skip
    found = predicted(mu, "0.001", d)
    assert printed(found["threshold"], border)
    assert printed(found["rule_threshold"], rule)
    assert printed(found["onset"], onset)
    assert printed(found["truncated_onset"], truncated)
    refreshed = predicted(mu, "0.001", refresh=d + 1)
    assert printed(refreshed["threshold"], saw)
    assert refreshed["threshold_kind"] == kind


@pytest.mark.parametrize(
    ("mu", "x", "d", "variance"),
    [
        ("0.5", "0.01", 0, 100.334448160535),
        ("0.5", "0.1", 1, 12.9032258064516),
        ("0.9", "0.01", 3, 712.216076112741),
        ("0.9", "0.02", 3, 605.506966045938),
    ],
)
def test_the_reference_variances(mu: str, x: str, d: int, variance: float) -> None:
    found = predicted(mu, x, d)
    assert found["variance"] == found["variance_per_noise"]
    assert printed(found["variance"], variance)


@pytest.mark.parametrize("nines", [8, 17, 22])
def test_the_safe_rule_never_exceeds_the_threshold_near_momentum_one(nines: int) -> None:
    found = predicted("0." + "9" * nines, "1e-30", 3)
    assert found["rule_threshold"] == pytest.approx(10.0**-nines / 3, rel=1e-12)
    assert found["rule_threshold"] <= found["threshold"] * (1 + 1e-15)


def test_on_the_border_exact_decimals_decide() -> None:
    assert predicted("0.9", "0.1", 1)["stable"] is False
    assert predicted("0.9", "0.0999999999999999999999999", 1)["stable"] is True


@pytest.mark.parametrize(
    ("mu", "x", "lag", "share"),
    [("0", "10", 1, "1"), ("0.9", "1e300", 3, "1"), ("0.9", "1e300", 1, "1e10"),
     ("0." + "9" * 90, "1e-299", 0, "1"), ("0.9", "0.475", 2, "-1")],
)  # fmt: skip
def test_what_is_beyond_floats_or_does_not_exist_is_null(
    mu: str, x: str, lag: int, share: str
) -> None:
    found = predicted(mu, x, lag, share=share)
    json.dumps(found, allow_nan=False)
    assert render(found)


def test_a_massless_oscillator_has_no_inflection() -> None:
    found = predicted("0.9", "0.475", 2, share="-1")
    assert found["mass"] == 0
    assert found["inflection_time"] is None

"""Fixed point, period, autocovariance, advantage and noise strength, held against plain arithmetic.

The truth is mpmath at 50 digits, a run of the recurrence, or a count of every group there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction as F
from itertools import product
from typing import Any

import mpmath as mp
import plain_values as plain
import pytest
import reference
import sympy as sp

from derivations.algebra import is_zero
from derivations.audit import judge_claim
from derivations.claim_file import claim_from
from derivations.judge import balls
from derivations.judge.region import Region
from derivations.judge.value import Value
from derivations.notation import quantity
from derivations.results import oscillator
from derivations.targets import TARGETS, TargetError
from derivations.update import OPTIMIZERS, Update

LINEAR = {"optimizer": "heavy-ball", "lag_model": "constant"}


def built(name: str, model: Mapping[str, object], free: Iterable[str] = ()) -> Value:
    target = TARGETS[name]
    value = target.build(target.read(model, frozenset(free)))
    assert not isinstance(value, Region)
    return value


def at(**point: object) -> Any:
    return {quantity(name): F(str(value)) for name, value in point.items()}


def value(name: str, model: Mapping[str, object], **point: object) -> Any:
    """Return the derived value at a point as a 40-digit number, None where there is none."""
    found, here = built(name, model, point), at(**point)
    if not found.defined(here):
        return None
    ball = found.ball(here)
    assert balls.magnitude(ball - ball.mid()) <= 1e-40 * balls.magnitude(ball)
    return mp.mpf(ball.mid().str(45, radius=False))


def close(ours: Any, theirs: Any, digits: int = 38) -> bool:
    with mp.workdps(reference.DIGITS):
        return bool(abs(ours - theirs) <= mp.mpf(10) ** -digits * abs(theirs))


@pytest.fixture(autouse=True)
def fifty_digits() -> Any:
    with mp.workdps(reference.DIGITS):
        yield


# --- the fixed point ----------------------------------------------------------------------------


@pytest.mark.parametrize("kl", ["reverse", "k3"])
@pytest.mark.parametrize("p_ref", ["1/50", "3/10", "1/2", "9/10"])
@pytest.mark.parametrize("beta", ["3/10", "3/2", "8/5", "4"])
def test_the_fixed_point_is_the_first_zero_of_the_drift(kl: str, p_ref: str, beta: str) -> None:
    ours = value("fixed_point", {"kl": kl}, p_ref=p_ref, beta=beta)
    theirs = plain.attracting(kl, p_ref, beta)
    assert (ours is None) == (theirs is None)
    assert theirs is None or close(ours, theirs)


def test_under_reverse_kl_it_appears_at_the_critical_beta() -> None:
    critical = mp.sinh(mp.findroot(lambda u: u * mp.tanh(u) - 1, 1.2))  # at p_ref = 1/2
    assert mp.nstr(critical, 5) == "1.5089"
    for sign, there in ((-1, False), (1, True)):
        beta = F(mp.nstr(critical + sign * mp.mpf(10) ** -12, 30))
        ours = value("fixed_point", {"kl": "reverse"}, p_ref="1/2", beta=beta)
        assert (ours is not None) == there


def test_a_tiny_reference_is_enclosed_too() -> None:
    beta, p_ref = F(1, 2), F(1, 2**160)
    ours = value("fixed_point", {"kl": "reverse"}, p_ref=p_ref, beta=beta)
    theirs = mp.findroot(
        lambda t: mp.log(mp.mpf(p_ref.denominator - 1)) + t - 4 * mp.cosh(t / 2),
        (-9, -8), solver="anderson",
    )  # fmt: skip
    assert close(ours, 1 / (1 + mp.exp(-theirs)))


# --- the period ---------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(("lag_model", "lag"), list(product(("constant", "sawtooth"), (1, 2, 5))))
def test_the_period_of_the_map(optimizer: str, lag_model: str, lag: int) -> None:
    name = "lag" if lag_model == "constant" else "refresh"
    seen = set()
    for mu, x, share in (
        ("9/10", "1/50", 1), ("1/2", "1/1000", 1), ("1/3", "1/7", "1/2"), ("0", "1/3", 1),
            ("9/10", "1", 1),
    ):  # fmt: skip
        model = {
            "optimizer": optimizer, "lag_model": lag_model, "stale_share": share, name: lag,
            "of": "map",
        }  # fmt: skip
        ours = value("period", model, mu=mu, x=x)
        theirs = plain.period_of_the_map(reference.Run(optimizer, lag_model, mu, share, lag), x)
        assert (ours is None) == (theirs is None)
        assert theirs is None or close(ours, theirs, 30)
        seen.add(theirs is None)
    assert False in seen


def test_a_run_of_the_map_swings_with_the_period() -> None:
    """The swings after a kick are counted, no root is asked: 40 turns of a fading swing."""
    model = {**LINEAR, "stale_share": 1, "lag": 3, "of": "map"}
    ours = float(value("period", model, mu="9/10", x="3/100"))
    (path,) = reference.kicks(reference.Run("heavy-ball", "constant", F(9, 10), 1, 3), 0.03, 1600)
    crossings = [
        k + path[k] / (path[k] - path[k + 1])
        for k in range(200, 1500)
        if path[k] < 0 <= path[k + 1]
    ]
    turns = len(crossings) - 1
    assert turns > 30
    assert (crossings[-1] - crossings[0]) / turns == pytest.approx(ours, rel=2e-3)


def test_the_period_of_the_oscillator() -> None:
    """From the roots of M r^2 + C r + K, found numerically."""
    mu, x, d = mp.mpf("0.9"), mp.mpf("0.02"), 4
    mass, damping = (1 + mu + x * d * d) / 2, 1 - mu - x * d
    roots = mp.polyroots([mass, damping, x], extraprec=200)
    ours = value("period", {**LINEAR, "of": "oscillator"}, mu="9/10", x="1/50", d=4)
    assert close(ours, 2 * mp.pi / abs(roots[0].imag))
    assert value("period", {**LINEAR, "of": "oscillator"}, mu="9/10", x="1/5000", d=4) is None


# --- the autocovariance -------------------------------------------------------------------------


def lagged_sum(run: reference.Run, x: float, shift: int) -> float:
    (path,) = reference.kicks(run, x, 6000)
    return sum(a * b for a, b in zip(path, path[shift:], strict=False))


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("lag", [0, 1, 3])
def test_the_autocovariance_is_the_overlap_of_a_response_with_itself(
    optimizer: str, lag: int
) -> None:
    for (mu, x, share), shift in product(
        ((F(0), F(1, 5), F(1)), (F(9, 10), F(1, 100), F(1, 2))), (0, 1, 4, 6, 20)
    ):
        run = reference.Run(optimizer, "constant", mu, share, lag)
        theirs = lagged_sum(run, float(x), shift)
        model = {
            "optimizer": optimizer, "lag_model": "constant", "stale_share": str(share), "lag": lag,
        }  # fmt: skip
        every = value("autocovariance", {**model, "shift": "k"}, mu=mu, x=x, k=shift)
        assert float(every) == pytest.approx(theirs, rel=1e-9, abs=1e-9)
        if shift <= 6:
            assert close(value("autocovariance", {**model, "shift": shift}, mu=mu, x=x), every)


# --- a group ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("normaliser", "ddof", "baseline"),
    list(product(("std", "mean"), (0, 1), ("group-mean", "leave-one-out"))),
)
def test_the_advantage_is_that_of_a_written_out_group(
    normaliser: str, ddof: int, baseline: str
) -> None:
    model = {"normaliser": normaliser, "ddof": ddof, "baseline": baseline}
    for size in (2, 3, 8):
        for successes in range(1, size):
            rewards = [mp.mpf(1)] * successes + [mp.mpf(0)] * (size - successes)
            theirs = plain.advantages(rewards, normaliser, ddof, baseline)[0]
            ours = value("advantage", model, c=successes, G=size)
            assert close(ours, theirs)
        assert value("advantage", model, c=size, G=size) is None
        assert value("advantage", model, c=0, G=size) is None


@pytest.mark.parametrize(("normaliser", "ddof"), list(product(("std", "mean"), (0, 1))))
def test_the_noise_strength_is_the_variance_over_every_group(normaliser: str, ddof: int) -> None:
    """Every sequence of G rewards, its drift from its own advantages, weighted by its chance.

    The score of a reward r in the logit is r - p.
    """
    p, size = reference.number("3/10"), 5
    first = second = mp.mpf(0)
    for rewards in product((mp.mpf(0), mp.mpf(1)), repeat=size):
        chance = p ** sum(rewards) * (1 - p) ** (size - sum(rewards))
        alive = 0 < sum(rewards) < size
        if not alive:
            continue
        own = plain.advantages(list(rewards), normaliser, ddof, "group-mean")
        pull = mp.fsum(a * (r - p) for a, r in zip(own, rewards, strict=True)) / size
        first, second = first + chance * pull, second + chance * pull**2
    for name in ("noise_strength", "drift_variance"):
        ours = value(name, {"normaliser": normaliser, "ddof": ddof}, p="3/10", G=size)
        assert close(ours, second - first**2)


# --- theorem-7 ----------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(("lag_model", "name"), [("constant", "lag"), ("sawtooth", "refresh")])
def test_theorem_7_put_in_is_theorem_7_derived(optimizer: str, lag_model: str, name: str) -> None:
    for share, lag in ((1, 1), (0, 3), (F(-1, 2), 4), (1, None)):
        update = Update.named(
            optimizer, lag_model, stale_share=sp.Rational(share), lag=lag
        )  # fmt: skip
        model = {"optimizer": optimizer, "lag_model": lag_model, "stale_share": str(share)}
        if lag is not None:
            model |= {name: str(lag)}
        derived = oscillator.derive(update)
        for result, target in (
            ("mass", "mass"), ("damping", "damping"), ("stiffness", "stiffness"),
            ("cubic", "cubic_coefficient"),
        ):  # fmt: skip
            put_in = built(target, model)
            assert put_in.basis == (derived.id, *derived.depends)
            assert is_zero(put_in.expression - derived[result])


# --- conventions --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "model", "message"),
    [
        ("period", LINEAR, "needs the convention 'of' in model .one of: map, oscillator"),
        ("period", {**LINEAR, "of": "theory"}, "of = 'theory' is unknown"),
        ("period", {**LINEAR, "off": "map"}, "did you mean 'of'"),
        ("autocovariance", {**LINEAR, "lag": 1}, "needs the convention 'shift'"),
        ("autocovariance", {**LINEAR, "lag": 1, "shift": 7}, "shift = 7 is unknown"),
        ("autocovariance", {**LINEAR, "lag": 7, "shift": 1}, "written out for lags up to 6"),
        (
            "autocovariance",
            {"optimizer": "ema", "lag_model": "sawtooth", "refresh": 2, "shift": 1},
            "lag_model 'constant' only",
        ),
        ("advantage", {"normaliser": "std", "ddof": 1}, "needs the convention 'baseline'"),
        ("fixed_point", {"kl": "k2"}, "kl = 'k2' is unknown"),
        ("fixed_point", {"kl": "k3", "lag": 1}, "has no convention 'lag'"),
    ],
)
def test_conventions_are_asked_for(name: str, model: Mapping[str, object], message: str) -> None:
    with pytest.raises(TargetError, match=message):
        built(name, model)


def judged(**row: Any) -> tuple[str, str]:
    found = judge_claim(claim_from({"id": "c", "relation": "exact", **row})).verdict
    return found.word.value, found.evidence.rung.word


def test_a_fixed_shift_gives_k_its_value() -> None:
    claim = {
        "quantity": "autocovariance", "says": "(1 - x)**k/(x*(2 - x))", "domain": {"mu": [0, 0]},
    }  # fmt: skip
    zero_lag = {**LINEAR, "lag": 0}
    assert judged(**claim, model={**zero_lag, "shift": 3}) == ("holds", "proved")
    assert judged(**claim, model={**zero_lag, "shift": "k"}) == ("holds", "certified")
    pinned = {**claim, "domain": {"mu": [0, 0], "k": [2, 2]}}
    assert judged(**pinned, model={**zero_lag, "shift": "k"}) == ("holds", "proved")


def test_every_lag_is_judged_lag_by_lag() -> None:
    claim = {"quantity": "autocovariance", "says": "1/(2*x*(1 - mu - d*x))", "order": 1}
    model = {**LINEAR, "shift": 1}
    assert judged(**{**claim, "relation": "asymptotic"}, model=model) == ("holds", "tested")
    assert judged(quantity="period", says="2*pi", model={**LINEAR, "of": "map"})[0] == "refuted"


def test_without_flint_no_root_is_enclosed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balls, "available", lambda: False)
    for name, model, point in (
        ("period", {**LINEAR, "lag": 1, "of": "map"}, at(mu="1/2", x="1/3")),
        ("fixed_point", {"kl": "reverse"}, at(p_ref="1/2", beta=2)),
    ):
        with pytest.raises(balls.Undefined, match="python-flint is needed"):
            built(name, model).ball(point)

"""Oscillation against noise: is there a peak that no smooth red spectrum explains?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal.windows import tukey

from numerics.diagnose.finding import Estimate
from numerics.diagnose.trend import Floats, evened, without_trend

__all__ = ["Oscillation", "autoregression", "oscillation"]

_TAPER = 0.3
_BACKGROUND = (-0.6, -0.3, 0.0, 0.3, 0.6, 0.8, 0.9, 0.96, 0.99)
_MODULI = (0.9, 0.95, 0.98)  # of resonances the noise keeps going; 1 is a sine
_CANDIDATES = 40
_ROUNDS = 50
_DRAWS = 4000


@dataclass(frozen=True)
class Oscillation:
    r"""The most likely oscillation of an evenly spaced series.

    Attributes
    ----------
    gain : float
        Log-likelihood gained over a smooth spectrum without a peak.
    period : Estimate
        Rows.
    modulus : Estimate
        Of the root: the factor by which the swing changes from row to row.
    amplitude : Estimate
        Of the sine, in the series' unit.
    noise : float
        Standard deviation of what is left.
    """

    gain: float
    period: Estimate
    modulus: Estimate
    amplitude: Estimate
    noise: float


def oscillation(
    value: Floats, *, least_cycles: float, clean: Floats | None = None
) -> Oscillation:
    r"""Return the best oscillation in `value`, whether or not it is one.

    Parameters
    ----------
    value : (n,) float array
        Evenly spaced, n >= 16.
    least_cycles : float
        Slower oscillations than this many cycles in the whole series are not looked for, and
        that part of the spectrum is not used.
    clean : (n,) float array, optional
        The series without its trend, where that is known better (a trend fitted alone takes a
        part of the oscillation with it): amplitude and modulus are read off it.

    Notes
    -----
    A monotone trend is taken out (isotonic regression). The periodogram I_k of the tapered rest
    is near f_k times a unit exponential, so its log-likelihood is -sum(log f_k + I_k/f_k)
    (Whittle). Without oscillation f is a mixture, with weights >= 0, of AR(1) spectra from
    correlation -0.6 to 0.99: white noise, red noise and their sums. With one, a peak is added: a
    sine's, as broad as the taper makes it, or a resonance's of modulus 0.9 to 0.98. Weights are
    found by the multiplicative updates that raise this likelihood (Itakura-Saito).  (extension)
    """
    rest = without_trend(value)
    rest = rest - rest.mean()
    scale = float(np.sqrt(np.mean(rest**2)))
    if scale == 0:
        none = Estimate(0.0, 0.0, 0.0, "")
        return Oscillation(0.0, Estimate(np.inf, 2.0, np.inf, "rows"), none, none, 0.0)
    model = _Model(evened(rest), least_cycles)
    gain, frequency, modulus = model.best()
    return _described(rest if clean is None else clean, model, gain, frequency, modulus)


class _Model:
    """Periodogram, background and peaks on the frequencies that are used."""

    def __init__(self, rest: Floats, least_cycles: float) -> None:
        n = len(rest)
        taper = tukey(n, _TAPER)
        taper /= np.sqrt(np.sum(taper**2))
        self.n = n
        used = np.arange(max(1, int(np.ceil(least_cycles - 0.5))), n // 2 + 1)
        self.frequency = 2 * np.pi * used / n
        self.power = np.maximum(np.abs(np.fft.rfft(rest * taper)[used]) ** 2, 1e-12)
        self.background = _first_order(self.frequency, np.array(_BACKGROUND))
        self._taper = taper
        self.lowest = 2 * np.pi * least_cycles / n

    def best(self) -> tuple[float, float, float]:
        """Return gain, angular frequency and modulus of the best peak."""
        fitted = self._fit(np.empty((1, 0, len(self.power))))[0]
        fine = np.arange(self.lowest, np.pi + 1e-9, np.pi / self.n)
        places = [(float(w), 1.0) for w in fine]
        for modulus in _MODULI:
            coarse = np.arange(self.lowest, np.pi + 1e-9, max(np.pi / self.n, (1 - modulus) / 2))
            places += [(float(w), modulus) for w in coarse]
        peaks = self.peaks(places)
        density = self._density(fitted)
        score = (peaks @ (self.power / density**2 - 1 / density)) / np.sqrt(
            peaks**2 @ (1 / density**2)
        )
        chosen = np.argsort(-score)[:_CANDIDATES]
        gains = self.gains(peaks[chosen])
        top = int(np.argmax(gains))
        return float(gains[top]), *places[chosen[top]]

    def peaks(self, places: list[tuple[float, float]]) -> Floats:
        """Return the expected periodogram of each peak, (places, frequencies), largest 1."""
        rows = np.arange(self.n)
        frequencies = np.array([w for w, _ in places])
        moduli = np.array([m for _, m in places])
        shapes = np.empty((len(places), len(self.frequency)))
        sharp = moduli == 1.0
        if sharp.any():
            wave = self._taper[:, None] * np.exp(1j * np.outer(rows, frequencies[sharp]))
            line = np.fft.fft(wave, axis=0)
            used = np.round(self.frequency * self.n / (2 * np.pi)).astype(int)
            # A real sine has both signs of the frequency.
            shapes[sharp] = (np.abs(line[used]) ** 2 + np.abs(line[-used]) ** 2).T
        if not sharp.all():
            shapes[~sharp] = _resonance(self.frequency, frequencies[~sharp], moduli[~sharp])
        return np.asarray(shapes / shapes.max(axis=1, keepdims=True))

    def gains(self, peaks: Floats) -> Floats:
        """Return the log-likelihood each peak gains, (peaks,)."""
        without = self._likelihood(self._fit(np.empty((1, 0, len(self.power)))))
        return self._likelihood(self._fit(peaks[:, None, :]), peaks) - without

    def _fit(self, peaks: Floats) -> Floats:
        """Return weights, (batch, backgrounds + peaks)."""
        batch = len(peaks)
        parts = np.concatenate(
            [np.broadcast_to(self.background, (batch, *self.background.shape)), peaks], axis=1
        )
        share = np.mean(self.power) / parts.mean(axis=2) / parts.shape[1]
        weights = np.array(share)
        for _ in range(_ROUNDS):
            density = np.maximum(np.einsum("bj,bjk->bk", weights, parts), 1e-300)
            up = np.einsum("bjk,bk->bj", parts, self.power / density**2)
            weights = weights * up / np.einsum("bjk,bk->bj", parts, 1 / density)
        return weights

    def _density(self, weights: Floats, peaks: Floats | None = None) -> Floats:
        background = len(_BACKGROUND)
        density = weights[..., :background] @ self.background
        if peaks is not None:
            density = density + weights[..., background:] * peaks
        return np.asarray(np.maximum(density, 1e-300))

    def _likelihood(self, weights: Floats, peaks: Floats | None = None) -> Floats:
        density = self._density(weights, peaks)
        return np.asarray(-(np.log(density) + self.power / density).sum(axis=-1))


def _first_order(frequency: Floats, correlation: Floats) -> Floats:
    phi = correlation[:, None]
    shape = (1 - phi**2) / (1 - 2 * phi * np.cos(frequency) + phi**2)
    return np.asarray(shape / shape.max(axis=1, keepdims=True))


def _resonance(frequency: Floats, centre: Floats, modulus: Floats) -> Floats:
    z = np.exp(-1j * frequency)
    root = (modulus * np.exp(1j * centre))[:, None]
    return np.asarray(1 / np.abs((1 - root * z) * (1 - root.conj() * z)) ** 2)


def _described(
    rest: Floats, model: _Model, gain: float, frequency: float, modulus: float
) -> Oscillation:
    n = len(rest)
    near = frequency + np.linspace(-2, 2, 41) * np.pi / n
    near = near[(near >= model.lowest * 0.9) & (near <= np.pi)]
    held = model.gains(model.peaks([(float(w), modulus) for w in near]))
    top = near[int(np.argmax(held))] if held.max() > gain else frequency
    within = near[held >= max(float(held.max()), gain) - 1.92]
    edges = (within.min(), within.max()) if len(within) else (top, top)
    low, high = edges[0] - np.pi / n / 20, edges[1] + np.pi / n / 20
    period = Estimate(2 * np.pi / top, 2 * np.pi / high, 2 * np.pi / max(low, 1e-9), "rows")
    amplitude, error, left = _sine(rest, float(top))
    whole = Estimate(amplitude, max(0.0, amplitude - 1.96 * error), amplitude + 1.96 * error, "")
    return Oscillation(gain, period, _modulus(rest, model, float(top), modulus), whole, left)


def _modulus(rest: Floats, model: _Model, frequency: float, modulus: float) -> Estimate:
    """Return the root's modulus: of a sine from its growth, of a resonance from its width.

    The trend takes up to half a cycle's worth of the swing with it, which counts as an error.
    """
    if modulus < 1:
        grid = np.linspace(0.7, 0.995, 60)
        held = model.gains(model.peaks([(frequency, float(m)) for m in grid]))
        within = grid[held >= held.max() - 1.92]
        return Estimate(float(grid[int(np.argmax(held))]), float(within.min()),
                        float(within.max()), "per row")  # fmt: skip
    half = len(rest) // 2
    (first, error, _), (second, later, _) = (
        _sine(part, frequency) for part in (rest[:half], rest[-half:])
    )
    first, second = max(first, 1e-12 + error / 10), max(second, 1e-12 + later / 10)
    rate = np.log(second / first) / half
    cycles = frequency * len(rest) / (2 * np.pi)
    relative = np.array([error / first, later / second, 0.5 / cycles])
    spread = 1.96 * float(np.linalg.norm(relative)) / half
    ends = np.exp(np.clip([rate, rate - spread, rate + spread], -5, 5))
    return Estimate(float(ends[0]), float(ends[1]), float(ends[2]), "per row")


def _sine(rest: Floats, frequency: float) -> tuple[float, float, float]:
    """Return amplitude, its standard error and the rest's standard deviation."""
    n = len(rest)
    phase = frequency * np.arange(n)
    basis = np.column_stack([np.ones(n), np.cos(phase), np.sin(phase)])
    found = np.linalg.lstsq(basis, rest, rcond=None)[0]
    left = float(np.sqrt(np.sum((rest - basis @ found) ** 2) / max(n - 4, 1)))
    return float(np.hypot(found[1], found[2])), left * float(np.sqrt(2 / n)), left


def autoregression(rest: Floats) -> tuple[Estimate, Estimate]:
    r"""Return modulus and period (rows) of the leading root of an AR(2) recurrence.

    q_k = a q_{k-1} + b q_{k-2} + noise by least squares; z^2 = a z + b. Intervals come from
    normal draws of (a, b) with their covariance, from a fixed seed. Noise of the measurement,
    which this recurrence does not have, makes the modulus too small. A real positive root has an
    infinite period.  (extension)
    """
    past = np.column_stack([rest[1:-1], rest[:-2]])
    now = rest[2:]
    found, *_ = np.linalg.lstsq(past, now, rcond=None)
    error = now - past @ found
    spread = np.linalg.pinv(past.T @ past) * float(error @ error) / max(len(now) - 2, 1)
    random = np.random.default_rng(0)
    draws = np.vstack([found, random.multivariate_normal(found, spread, _DRAWS)])
    modulus, period = _leading(draws)
    ends = np.quantile(modulus[1:], [0.025, 0.975])
    angles = np.quantile(1 / period[1:], [0.025, 0.975])
    return (
        Estimate(float(modulus[0]), float(ends[0]), float(ends[1]), "per row"),
        Estimate(float(period[0]), float(_inverse(angles[1])), float(_inverse(angles[0])), "rows"),
    )


def _leading(coefficients: Floats) -> tuple[Floats, NDArray[np.float64]]:
    a, b = coefficients.T
    square = np.sqrt((a**2 + 4 * b).astype(complex))
    roots = np.stack([(a + square) / 2, (a - square) / 2])
    lead = np.take_along_axis(roots, np.argmax(np.abs(roots), axis=0)[None], axis=0)[0]
    return np.abs(lead), _inverse(np.abs(np.angle(lead)) / (2 * np.pi))


def _inverse(value: Floats) -> Floats:
    value = np.asarray(value)
    return np.asarray(
        np.divide(1.0, value, out=np.full(value.shape, np.inf), where=value > 0)
    )

r"""The first x at which a constant or random lag puts a root on the unit circle, over arrays.

chi is linear in x, ``A(z) + x F(z)`` with ``A = (z - 1)(1 - mu/z)`` and
``F = G (1 - s + s E z**-D)``, so a root on the unit circle needs ``x = -A/F`` to be real and
positive there. ``Im(A conj F)/sin w`` is a polynomial in cos w, and its roots are all the contacts
there are. A small x is stable, so the first contact is the threshold of the mean map. (Extension;
theory section 3, points 1, 3, 6 and 7.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics.characteristic import ComplexArray, force_coefficients
from numerics.dynamics.enclosure import RandomLag, enclose_threshold
from numerics.dynamics.model import FloatArray, Model

__all__ = ["Contact", "first_contact", "mean_threshold"]

_REAL = 1e-5  # imaginary part and overshoot of cos w up to which a root is followed
_STEPS = 40  # six are enough but from far off, or where two contacts meet
_MET = 1e-9  # phase of -A/F up to which a followed root is a contact
_ARRIVED = 1e-7  # relative, of the last step: it is quadratic, or linear to a double contact
_OPEN = 1e-6  # phase from which on a followed root is no contact without doubt
_ROUNDING = 1e-14
_EPS = float(np.finfo(np.float64).eps)
_UNHEARD = 1e-30  # of the largest coefficient; what it moves is followed to its place anyway
_NONE = 1e-14  # of the whole force, up to which what acts at -1 is rounding
_WORK = 1_000_000  # matrix elements held at a time


class Contact(NamedTuple):
    """The first contacts of n runs."""

    x: FloatArray
    kind: NDArray[np.str_]
    """``"flip"`` (a root at -1) or ``"neimark-sacker"`` (a complex pair)."""
    error: FloatArray
    """Relative error to be expected; inf where it is open whether roots meet on the circle."""


def first_contact(family: Model) -> Contact:
    """Return the first contacts of a flat family of one L."""
    parts = []
    size = max(1, _WORK // (family.longest + 3) ** 2)
    for begin in range(0, max(1, family.mu.size), size):
        chosen = family.take(np.arange(begin, min(begin + size, family.mu.size)))
        flip = _flip(chosen)
        pair, error = _least_pair(chosen)
        at_minus_one = flip <= pair * (1 + _MET)
        together = at_minus_one & (flip >= pair * (1 - _MET))  # or none of either was found
        error = np.where(together, np.inf, error)
        error = np.where(flip < pair, np.minimum(error, _ROUNDING), error)
        kind = np.where(at_minus_one, "flip", "neimark-sacker")
        parts.append((np.minimum(flip, pair), kind, error))
    return Contact(*map(np.concatenate, zip(*parts, strict=True)))


def mean_threshold(family: Model) -> Contact:
    """Return the first contacts of a flat family under a random lag, each of them found.

    At shares of 1e8 and beyond they can lie too close together on the circle to be told apart in
    floats; they are then enclosed by ball arithmetic, run by run.
    """
    assert family.law is not None
    x, kind, error = first_contact(family)
    flip = _flip(family)
    for run in np.flatnonzero(~np.isfinite(x)):
        law = tuple(family.law[run].tolist())
        mu, share = float(family.mu[run]), float(family.stale_share[run])
        lower, upper = enclose_threshold(RandomLag(family.optimizer, mu, share, law))
        x[run], error[run] = (lower + upper) / 2, _ROUNDING
        kind[run] = "flip" if abs(flip[run] / x[run] - 1) <= _MET else "neimark-sacker"
    return Contact(x, kind, error)


def _flip(family: Model) -> FloatArray:
    """Return the x that puts a root at -1, inf if none does."""
    terms = force_coefficients(family)
    terms = terms * (-1.0) ** np.arange(terms.shape[1])
    total = terms.sum(axis=1)
    pulls = total > _NONE * np.abs(terms).sum(axis=1)
    return np.asarray(np.where(pulls, 2 * (1 + family.mu) / np.where(pulls, total, 1.0), np.inf))


def _least_pair(family: Model) -> tuple[FloatArray, FloatArray]:
    """Return the least x that puts a complex pair on the circle, inf if none does; its error."""
    force = force_coefficients(family)
    start = np.arccos(np.clip(_near_contacts(family, force), -1.0, 1.0))
    at = _along_circle(family, force, _followed(family, force, start))
    near = np.maximum(_ROUNDING, _ARRIVED * at.w * np.abs(at.slope))
    inside = at.w < np.pi
    met = (np.abs(at.phase) <= np.minimum(_MET, near)) & inside
    x = np.where(met, at.size, np.inf)
    first = np.argmin(x, axis=1)[:, None]
    value, error = (np.take_along_axis(each, first, axis=1)[:, 0] for each in (x, at.error))
    open_before = ~met & inside & (np.abs(at.phase) <= _OPEN) & (at.size <= value[:, None])
    return value, np.where(open_before.any(axis=1), np.inf, error)


def _near_contacts(family: Model, force: FloatArray) -> FloatArray:
    r"""Return approximate cos w of all contacts, NaN for the rest.

    ``A conj F`` has real coefficients c_k of z**k, so its imaginary part over sin w is the sum of
    ``b_k U_{k-1}(cos w)``, b_k = c_k - c_{-k}: eigenvalues of the matrix that multiplies the U by
    cos w. The one nearest to w = 0, which at mu near 1 they can miss, comes from the expansion.
    """
    mu = family.mu[:, None]
    sine = np.zeros((len(force), force.shape[1] + 1))  # b_1, b_2, ...
    sine[:, : force.shape[1]] += force
    sine[:, : force.shape[1] - 1] -= (1 + mu) * force[:, 1:]
    sine[:, : force.shape[1] - 2] += mu * force[:, 2:]
    sine[:, 0] -= mu[:, 0] * force[:, 0]
    k = np.arange(1, sine.shape[1] + 1)
    bend = (sine * (k**3 - k)).sum(axis=1)
    level = 3 * (1 - family.mu) * sum(family.gain)
    found = np.full((len(force), sine.shape[1]), np.nan)
    ahead = bend > level / 2
    found[ahead, -1] = 1 - level[ahead] / bend[ahead]
    # A leading coefficient that small only puts roots far outside [-1, 1].
    heard = np.abs(sine) > _UNHEARD * np.abs(sine).max(axis=1, keepdims=True)
    degrees = sine.shape[1] - 1 - np.argmax(heard[:, ::-1], axis=1)
    for degree in np.unique(degrees[degrees > 0]):
        rows = np.flatnonzero(degrees == degree)
        matrix = np.zeros((rows.size, degree, degree))
        matrix[:, range(1, degree), range(degree - 1)] = 0.5
        matrix[:, range(degree - 1), range(1, degree)] = 0.5
        matrix[:, -1, :] -= sine[rows, :degree] / (2 * sine[rows, degree, None])
        cosine = np.linalg.eigvals(matrix)
        near = (np.abs(cosine.imag) <= _REAL) & (np.abs(cosine.real) <= 1 + _REAL)
        found[rows, :degree] = np.where(near, cosine.real, np.nan)
    return found


class _Place(NamedTuple):
    """Points exp(iw) of the circle: phase and modulus of -A/F there, and how they go on."""

    w: FloatArray
    phase: FloatArray
    size: FloatArray
    slope: FloatArray
    """Of the phase, by w."""
    error: FloatArray
    """Relative, that rounding leaves in the modulus where the phase is found to be 0."""


def _followed(family: Model, force: FloatArray, w: FloatArray) -> FloatArray:
    """Newton's method for the phase of -A/F to be 0, kept inside (0, pi)."""
    for _ in range(_STEPS):
        at = _along_circle(family, force, w)
        with np.errstate(all="ignore"):
            new = np.clip(w - at.phase / at.slope, w / 2, (w + np.pi) / 2)
        if np.array_equal(new, w, equal_nan=True):
            break
        w = new
    return w


def _along_circle(family: Model, force: FloatArray, w: FloatArray) -> _Place:
    mu = family.mu[:, None]
    half, u = np.sin(w / 2), np.exp(-1j * w)
    v, room = 2 * half * half, (1 - mu) ** 2 + 4 * mu * half * half  # 1 - cos w, |z - mu|**2
    value, turn = np.zeros_like(u), np.zeros_like(u)  # F and -z F'
    for power in range(force.shape[1] - 1, -1, -1):
        value = value * u + force[:, power, None]
        turn = turn * u + power * force[:, power, None]
    inertia: ComplexArray = -(1 + mu) * v + 1j * (1 - mu) * np.sin(w)
    with np.errstate(all="ignore"):
        logarithmic = turn / value
        slope = 0.5 + mu * ((1 - mu) - v) / room + logarithmic.real
        growth = 0.5 / np.tan(w / 2) + mu * np.sin(w) / room - logarithmic.imag  # of ln size
        size = 2 * half * np.sqrt(room) / np.abs(value)
        noise = _EPS * np.abs(force).sum(axis=1, keepdims=True) / np.abs(value)
        error = noise * (1 + np.abs(growth / slope))
    return _Place(w, np.angle(-inertia * value.conj()), size, slope, error)

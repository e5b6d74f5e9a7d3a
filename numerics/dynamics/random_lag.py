r"""Where a run with random lag loses stability: in the mean, and in mean square.

The lag D is drawn afresh at every step, so the mean obeys chi with ``z**-d`` replaced by its mean
over the law. chi is linear in x, ``A(z) + x B(z)``, and a root on the unit circle needs
``x = -A/B`` to be real there: the sine series ``Im(A conj B)`` over ``sin w`` is a polynomial in
``cos w``, and its roots are all the contacts there are. The second moment obeys
``C -> E[M_D C M_D^T]``, which maps positive matrices to positive ones, so its spectral radius is an
eigenvalue: it is 1 where a pencil quadratic in x is singular. Theory section 3.3 (extension).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike

from numerics.dynamics.characteristic import coefficients
from numerics.dynamics.model import FloatArray, Model, model, stiffness
from numerics.inputs import InvalidInput, common_shape

__all__ = ["LONGEST_MEAN_SQUARE", "mean_square_radius", "mean_square_threshold", "mean_threshold"]

#: The longest lag of a law whose second moments are propagated: their number grows with its square.
LONGEST_MEAN_SQUARE = 20

_REAL = 1e-6  # of the imaginary part of a root of the contact polynomial, before it is polished
_POLISH = 8
_SAME = 1e-9
_COPIES_OF_ZERO = 1e-6  # of the mean's threshold
_BESIDE = 1e-6  # how far beside a root of the pencil both sides of it are looked at


def mean_threshold(family: Model) -> tuple[FloatArray, list[str]]:
    """Return the first x at which the mean map loses stability, and how; of a flat family."""
    found = [_first_loss(family.take(np.array([place]))) for place in range(family.mu.size)]
    return np.array([x for x, _ in found], dtype=np.float64), [kind for _, kind in found]


def mean_square_threshold(
    optimizer: str, *, mu: ArrayLike, stale_share: ArrayLike, lag_law: ArrayLike
) -> Any:
    r"""Return the first x > 0 at which the second moment of q stops decaying.

    Never above the threshold of the mean: fluctuations are lost first.

    Parameters
    ----------
    optimizer, mu, stale_share, lag_law
        As in `model`; the law reaches at most `LONGEST_MEAN_SQUARE`.

    Returns
    -------
    float64 scalar or array of the common shape.

    Raises
    ------
    InvalidInput
        A value outside its domain, or a law that reaches too far.
    """
    family = _checked(model(optimizer, mu=mu, stale_share=stale_share, lag_law=lag_law))
    flat = family.flat(family.shape)
    found = [_square_border(flat.take(np.array([place]))) for place in range(flat.mu.size)]
    return np.array(found, dtype=np.float64).reshape(family.shape)[()]


def mean_square_radius(
    optimizer: str, *, mu: ArrayLike, x: ArrayLike, stale_share: ArrayLike, lag_law: ArrayLike
) -> Any:
    """Return the growth factor of the second moment of q per step, below 1 if it decays.

    Parameters and errors as in `mean_square_threshold`; x > 0 is the stiffness per step.
    """
    family = _checked(model(optimizer, mu=mu, stale_share=stale_share, lag_law=lag_law))
    force = stiffness(x)
    shape = common_shape(parameters=family.shape, x=force.shape)
    flat = family.flat(shape)
    stiff = np.broadcast_to(force, shape).reshape(-1)
    found = [
        _radius(_pencil(flat.take(np.array([place]))), value) for place, value in enumerate(stiff)
    ]
    return np.array(found, dtype=np.float64).reshape(shape)[()]


def _checked(family: Model) -> Model:
    if family.longest > LONGEST_MEAN_SQUARE:
        raise InvalidInput(
            f"lag_law reaches to lag {family.longest}: second moments are propagated up to "
            f"{LONGEST_MEAN_SQUARE} steps"
        )
    return family


# -- the mean


def _first_loss(one: Model) -> tuple[float, str]:
    contacts = _contacts(one)
    ends = [x for x, _ in contacts]
    beyond = [(a + b) / 2 for a, b in pairwise(ends)] + [2 * ends[-1]]
    for (x, kind), after in zip(contacts, beyond, strict=True):
        if _largest_modulus(one, after) > 1:
            return x, kind
    raise ArithmeticError("no end of stability found under a random lag; please report it")


def _contacts(one: Model) -> list[tuple[float, str]]:
    """Return every x > 0 with a root on the unit circle, ascending, and of which kind."""
    inertia, force = _sides(one)
    product = np.convolve(inertia, force[::-1])  # of A(z) and B(1/z), by powers of z
    middle = len(force)  # where the power is 0: A has the powers 1, 0, -1
    size = max(middle, len(product) - middle)
    sine = np.zeros(size)  # coefficients of sin(k w), k from 1
    for power, value in enumerate(product, start=-middle):
        if power:
            sine[abs(power) - 1] += np.sign(power) * value
    in_cosine = np.zeros(size)  # sin(k w)/sin w = U_{k-1}(cos w), as a Chebyshev series
    for k, value in enumerate(sine):
        in_cosine[k % 2 : k + 1 : 2] += 2 * value
        if k % 2 == 0:
            in_cosine[0] -= value
    series = chebyshev.chebtrim(in_cosine, tol=1e-15 * np.abs(in_cosine).max(initial=0.0))
    cosines = chebyshev.chebroots(series) if len(series) > 1 else np.empty(0)
    near = cosines[(np.abs(cosines.imag) < _REAL) & (np.abs(cosines.real) < 1 + _REAL)].real
    slope = chebyshev.chebder(series)
    for _ in range(_POLISH):
        with np.errstate(all="ignore"):
            step = chebyshev.chebval(near, series) / chebyshev.chebval(near, slope)
        near = near - np.where(np.isfinite(step) & (np.abs(step) < 1e-3), step, 0.0)
    angles = np.arccos(np.clip(near[np.abs(near) < 1], -1, 1))
    crossings = [_x_at(one, angle) for angle in angles]
    found = [(x, "neimark-sacker") for x in crossings if x > 0]
    flip = _flip(one)
    if flip > 0:
        found = [(x, kind) for x, kind in found if abs(x - flip) > _SAME * flip]
        found.append((flip, "flip"))
    return sorted(found)


def _sides(one: Model) -> tuple[FloatArray, FloatArray]:
    """Return A by the powers 1, 0, -1 of z, and B by the powers 0, -1, ..."""
    without, with_one = (coefficients(one, np.array([x]))[0] for x in (0.0, 1.0))
    return without[:3], (with_one - without)[1:]


def _x_at(one: Model, angle: float) -> float:
    """Return ``-A/B`` at ``exp(i angle)``, real there; ``z - 1`` without cancellation."""
    z = np.exp(1j * angle)
    below = 2j * np.sin(angle / 2) * np.exp(0.5j * angle)
    inertia = below * (below + 1 - one.mu[0]) / z
    force = np.polynomial.polynomial.polyval(1 / z, _sides(one)[1])
    return float((-inertia / force).real) if force != 0 else -1.0


def _flip(one: Model) -> float:
    """Return the x that puts a root at -1, or -1 if none does."""
    force = _sides(one)[1]
    total = float(force @ (-1.0) ** np.arange(force.size))
    if abs(total) <= 1e-15 * np.abs(force).sum():
        return -1.0
    return float(-2 * (1 + one.mu[0]) / -total)


def _largest_modulus(one: Model, x: float) -> float:
    return float(np.abs(np.roots(coefficients(one, np.array([x]))[0])).max(initial=0.0))


# -- the mean square


def _pencil(one: Model) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return S0, S1, S2 of the second-moment map ``S0 + x S1 + x**2 S2`` on symmetric matrices.

    The state is (q_k, ..., q_{k-L}, v_{k-1}).
    """
    assert one.law is not None
    law, share = one.law[0], float(one.stale_share[0])
    memory, intake, direct, passed = (float(part[0]) for part in one.recurrence)
    size = law.size + 1
    free = np.zeros((size, size))  # x = 0
    free[0, 0], free[0, -1] = 1.0, passed * memory
    free[range(1, size - 1), range(size - 2)] = 1.0
    free[-1, -1] = memory
    moved = direct + passed * intake
    parts = [np.zeros((size * (size + 1) // 2,) * 2) for _ in range(3)]
    for lag, probability in enumerate(law):
        pull = np.zeros((size, size))  # the part proportional to x
        for place, part in ((0, 1 - share), (lag, share)):
            pull[0, place] -= moved * part
            pull[-1, place] -= intake * part
        parts[0] += probability * _on_symmetric(free, free)
        parts[1] += probability * (_on_symmetric(free, pull) + _on_symmetric(pull, free))
        parts[2] += probability * _on_symmetric(pull, pull)
    return parts[0], parts[1], parts[2]


def _on_symmetric(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the matrix of ``C -> a C b^T`` from symmetric C, by their upper triangles."""
    row, column = np.triu_indices(len(a))
    straight = a[np.ix_(row, row)] * b[np.ix_(column, column)]
    crossed = a[np.ix_(row, column)] * b[np.ix_(column, row)]
    return np.asarray(straight + np.where(row == column, 0.0, crossed))


def _radius(pencil: tuple[FloatArray, FloatArray, FloatArray], x: float) -> float:
    fixed, linear, square = pencil
    return float(np.abs(np.linalg.eigvals(fixed + x * linear + x * x * square)).max())


def _square_border(one: Model) -> float:
    """Return the smallest x > 0 at which ``I - S(x)`` is singular and stability is lost."""
    from scipy.linalg import eigvals  # only this needs SciPy, which is slow to import
    from scipy.optimize import brentq

    pencil = _pencil(one)
    fixed, linear, square = pencil
    size = len(fixed)
    eye, none = np.eye(size), np.zeros((size, size))
    # (I - S0) y = x (S1 y + S2 x y), with y and x y as unknowns.
    left = np.block([[eye - fixed, none], [none, eye]])
    right = np.block([[linear, square], [eye, none]])
    candidates = eigvals(left, right)
    candidates = candidates[np.isfinite(candidates) & (np.abs(candidates.imag) < _REAL)]
    # x = 0 itself solves the pencil, several times; rounding puts copies of it near 0, where
    # the loss of the second moment, of order x, outweighs what its spread adds, of order x**2.
    least = _COPIES_OF_ZERO * _first_loss(one)[0]
    ascending = np.sort(candidates.real[candidates.real > least])
    for x in ascending:
        if _radius(pencil, x * (1 + _BESIDE)) > 1 and _radius(pencil, x * (1 - _BESIDE)) < 1:
            return float(
                brentq(
                    lambda value: _radius(pencil, value) - 1,
                    x * (1 - _BESIDE), x * (1 + _BESIDE), xtol=1e-300, rtol=1e-13,
                )
            )  # fmt: skip
    raise ArithmeticError("no end of mean-square stability found; please report it")

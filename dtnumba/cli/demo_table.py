"""A generated table for trying things out: a machine's sensors, and the state the machine is in.

Nothing is downloaded, and a seed gives the same table again, so that examples need no file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


STATES = ("sound", "worn", "failing")
WRONG_LABELS = 0.10
MISSING_CELLS = 0.05


def sample_table(n_samples: int = 20_000, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.str_], list[str]]:
    """Return readings of a machine, the state it is in, and the names of the columns.

    Seven columns carry signal: a band of speeds that resonates, products of two columns, a voltage that harms when it
    is too low or too high. Five are noise. A tenth of the labels are wrong and about a twentieth of the cells are
    missing, those of `vibration` more often the worse the machine is.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    seed : int
        The same seed gives the same table.

    Returns
    -------
    X : (n_samples, 12) float64
        Readings, NaN where one is missing.
    y : (n_samples,) str
        "sound" (about half of the rows), "worn" or "failing".
    names : list of str
        The 12 names of the columns.
    """
    rng = np.random.default_rng(seed)
    columns = _readings(rng, n_samples)
    wear = _wear(columns)
    # Fixed borders, not quantiles: a row's label must not depend on the other rows.
    state = (wear > 1.0).astype(np.intp) + (wear > 2.0)
    X = np.column_stack(list(columns.values()))
    names = list(columns)

    missing_share = np.full(X.shape, MISSING_CELLS)
    missing_share[:, names.index("vibration")] *= state
    X[rng.random(X.shape) < missing_share] = np.nan

    wrong = rng.random(n_samples) < WRONG_LABELS
    state[wrong] = (state[wrong] + rng.integers(1, len(STATES), wrong.sum())) % len(STATES)
    return X, np.array(STATES)[state], names


def _readings(rng: np.random.Generator, n_samples: int) -> dict[str, NDArray[np.float64]]:
    """Draw the columns, rounded as an instrument would, so that some have many equal values and some few."""
    n = n_samples
    return {
        "temperature": rng.normal(65, 12, n).round(1),
        "vibration": rng.gamma(2.0, 1.2, n).round(3),
        "pressure": rng.normal(3.0, 0.7, n).round(2),
        "load": rng.beta(2.5, 2.0, n).round(4),
        "speed": rng.uniform(600, 3_000, n).round(),
        "oil_age": rng.exponential(900, n).round(),
        "run_hours": rng.uniform(0, 20_000, n).round(1),
        "voltage": rng.normal(230, 8, n).round(1),
        "humidity": rng.uniform(20, 90, n).round(1),
        "ambient_light": rng.lognormal(5.0, 1.0, n).round(2),
        "shift_minute": rng.integers(0, 480, n).astype(np.float64),
        "floor_noise": rng.normal(70, 5, n),
    }


def _wear(columns: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Score how worn a machine is; none of the terms is linear."""
    c = columns
    hot_under_load = np.maximum(c["temperature"] - 62, 0) * c["load"] / 8
    resonance = ((c["speed"] > 1_400) & (c["speed"] < 1_900)) * np.sqrt(c["vibration"])
    starved = (c["pressure"] < 2.8) * (c["oil_age"] > 600) * 1.5
    off_voltage = (np.abs(c["voltage"] - 230) > 13) * 1.5
    return np.asarray(hot_under_load + resonance + starved + off_voltage)

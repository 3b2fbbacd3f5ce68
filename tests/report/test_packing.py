"""Numbers as texts: what the page unpacks is what went in, to half a step."""

from __future__ import annotations

import base64

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from surefoot.report.packing import packed, quantised

FINITE = st.floats(-1e6, 1e6)


def restored(found: dict, columns: int = 1) -> np.ndarray:
    counts = np.frombuffer(base64.b64decode(found["data"]), dtype="<u2").reshape(-1, columns).astype(float)
    values = np.where(counts == 65535, np.nan, np.array(found["low"]) + np.array(found["step"]) * counts)
    return values if columns > 1 else values[:, 0]


@given(arrays(float, st.integers(1, 40), elements=FINITE))
def test_values_come_back_to_half_a_step(values: np.ndarray) -> None:
    found = quantised(values)
    assert np.abs(restored(found) - values).max() <= 0.51 * found["step"] + 1e-6
    np.testing.assert_allclose(
        [restored(found).min(), restored(found).max()], [values.min(), values.max()], rtol=1e-9, atol=1e-9
    )


def test_what_is_not_finite_is_nothing(rng: np.random.Generator) -> None:
    values = rng.normal(size=20)
    values[[3, 7, 11]] = np.nan, np.inf, -np.inf
    back = restored(quantised(values))
    np.testing.assert_array_equal(np.isnan(back), ~np.isfinite(values))


def test_columns_have_steps_of_their_own(rng: np.random.Generator) -> None:
    values = rng.normal(size=(30, 3)) * [1.0, 1e-3, 1e4]
    back = restored(quantised(values), 3)
    assert (np.abs(back - values).max(axis=0) <= 0.51 * np.ptp(values, axis=0) / 65534).all()


def test_bytes_are_little_endian() -> None:
    assert base64.b64decode(packed([1, 256], "u2")) == b"\x01\x00\x00\x01"


def test_nothing_at_all_is_packed() -> None:
    assert quantised(np.zeros((0, 3)))["data"] == ""

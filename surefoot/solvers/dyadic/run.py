"""The sparse dyadic reduction as loops, for `NativeCode`.

Index vectors are those of `dyadic_layout.Layout`. The other arrays are

    A (m n), b (m), z_d (n): the index                            d0 (n), d1 (m): its weights, changed on the way
    upper, lower: stored entries of explicit and implicit rows    upper_noise, lower_noise: bounds of their errors
    z (n), index (1): the solution

All but the index and its weights begin as zeros.
"""

from __future__ import annotations

from surefoot.codegen.loops import Floats, Ints, NativeCode


def all_within(x: Floats, count: int, least: float) -> int:
    """Whether all numbers are finite, and none is below the least."""
    good = 0
    for i in range(count):
        if x[i] >= least and x[i] <= 1.7976931348623157e308:
            good += 1
    return 1 if good == count else 0


def non_zeros(x: Floats, count: int) -> int:
    """How many numbers are not 0."""
    found = 0
    for i in range(count):
        if x[i] != 0.0:
            found += 1
    return found


def non_zeros_at(x: Floats, places: Ints, count: int) -> int:
    """How many numbers at some places are not 0."""
    found = 0
    for k in range(count):
        if x[places[k]] != 0.0:
            found += 1
    return found


def reduction_step(
    p: int, r: int, at: int, first: int, last: int, group_p: Ints, group_r: Ints, group_length: Ints, tolerance: float,
    negligible: float, d0: Floats, d1: Floats, upper: Floats, lower: Floats, upper_noise: Floats, lower_noise: Floats
) -> None:  # fmt: skip
    """The step (p, r) of (4.36) to (4.38), with row p as a weighted mean; b_rp is the entry at a place."""
    b_rp = lower[at]
    weight = d1[r]
    total = d0[p] + weight * b_rp * b_rp
    noise = lower_noise[at]
    if weight == 0.0 or total == 0.0:
        return
    if abs(b_rp) <= tolerance * noise and d0[p] <= negligible * weight * noise * noise:
        return
    kept = d0[p] / total
    gain = weight / total * b_rp
    d0[p] = total
    d1[r] = kept * weight
    for g in range(first, last):
        i = group_p[g]
        j = group_r[g]
        for k in range(group_length[g]):
            old_p = upper[i + k]
            old_r = lower[j + k]
            noise_p = upper_noise[i + k]
            noise_r = lower_noise[j + k]
            upper[i + k] = kept * old_p + gain * old_r
            lower[j + k] = old_r - b_rp * old_p
            upper_noise[i + k] = max(kept * noise_p, abs(gain) * noise_r)
            lower_noise[j + k] = max(noise_r, abs(b_rp) * max(noise_p, abs(old_p)))


def back_substitution(upper: Floats, upper_start: Ints, upper_column: Ints, n: int, z: Floats) -> None:
    """U z = z' (4.71), from the last row to the first."""
    for i in range(n - 1, -1, -1):
        last = upper_start[i + 1] - 1
        value = -upper[last]
        for k in range(upper_start[i], last):
            value -= upper[k] * z[upper_column[k]]
        z[i] = value


def are_valid(A: Floats, b: Floats, z_d: Floats, d0: Floats, d1: Floats, n: int, m: int) -> int:
    """Whether all numbers are finite and no weight is negative."""
    least = -1.7976931348623157e308
    good = all_within(A, m * n, least) + all_within(b, m, least) + all_within(z_d, n, least)
    return 1 if good + all_within(d0, n, 0.0) + all_within(d1, m, 0.0) == 5 else 0


def run_plan(
    A: Floats, n: int, m: int, upper_start: Ints, upper_column: Ints, lower_start: Ints, entry_from: Ints,
    entry_to: Ints, entries: int, zero_rows: Ints, zeros: int, explicit_rhs: int, step_p: Ints, step_r: Ints,
    step_rp: Ints, step_groups: Ints, group_p: Ints, group_r: Ints, group_length: Ints, steps: int, tolerance: float,
    negligible: float, b: Floats, z_d: Floats, d0: Floats, d1: Floats, upper: Floats, lower: Floats,
    upper_noise: Floats, lower_noise: Floats, z: Floats, index: Floats
) -> int:  # fmt: skip
    """Solve; returns 0, or 1: numbers are not valid, 2: entries outside the pattern, 3: the result is not finite."""
    if not are_valid(A, b, z_d, d0, d1, n, m):
        return 1
    outside = non_zeros(A, m * n) - non_zeros_at(A, entry_from, entries) + non_zeros_at(b, zero_rows, zeros)
    if outside > 0 or (explicit_rhs == 0 and non_zeros(z_d, n) > 0):
        return 2
    for k in range(entries):
        lower[entry_to[k]] = A[entry_from[k]]
    for i in range(n):
        upper[upper_start[i + 1] - 1] = -z_d[i]
    for i in range(m):
        lower[lower_start[i + 1] - 1] = b[i]
    for s in range(steps):
        reduction_step(
            step_p[s], step_r[s], step_rp[s], step_groups[s], step_groups[s + 1], group_p, group_r, group_length,
            tolerance, negligible, d0, d1, upper, lower, upper_noise, lower_noise
        )  # fmt: skip
    back_substitution(upper, upper_start, upper_column, n, z)
    for i in range(m):
        last = lower[lower_start[i + 1] - 1]
        index[0] += 0.5 * d1[i] * last * last
    return 0 if all_within(z, n, -1.7976931348623157e308) + all_within(index, 1, 0.0) == 2 else 3


_FUNCTIONS = (all_within, non_zeros, non_zeros_at, reduction_step, back_substitution, are_valid, run_plan)
RUN = NativeCode(_FUNCTIONS, entries=["run_plan"])

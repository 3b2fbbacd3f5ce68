"""The covariance of the invariant filter through a step and through a look at the legs; loops for `NativeCode`.

P (size × size) is that of the error of `invariant_filter`, in its order; n contact points have m = 3 n rows of noise
(m × m), residual (m) and H (m × size), whose many zeros are skipped. All arrays are flat, matrices by rows.
"""

from __future__ import annotations

from math import sqrt

from surefoot.codegen.loops import Floats, Ints, NativeCode


def predict(
    P: Floats, size: int, inputs: Floats, known: Floats, noise: Floats, walk: Floats, dt: float, g: Floats, W: Floats,
    U: Floats
) -> None:  # fmt: skip
    """A step: P ← F P Fᵀ + B diag(noise) Bᵀ + diag(walk), with `inputs` B (size × 6).

    F is I, and dt g̃, dt² g̃ / 2 and dt I from rotation to velocity and position and from velocity to position, and
    B diag(known) in the columns of the offsets. W (size × size) and U (6 × size) are scratch.
    """
    for i in range(size):
        for c in range(6):
            U[c * size + i] = inputs[i * 6 + c]
    for i in range(size):
        for j in range(size):
            W[i * size + j] = P[i * size + j]
        for c in range(6):
            share = inputs[i * 6 + c] * known[c]
            if share != 0.0:
                for j in range(size):
                    W[i * size + j] += share * P[(9 + c) * size + j]
    for k in range(3):
        a = k + 1 if k < 2 else 0
        b = k + 2 if k < 1 else k - 1
        for j in range(size):
            falling = g[a] * P[b * size + j] - g[b] * P[a * size + j]
            W[(3 + k) * size + j] += dt * falling
            W[(6 + k) * size + j] += dt * P[(3 + k) * size + j] + 0.5 * dt * dt * falling
    for i in range(size):
        at = i * size
        for j in range(size):
            P[at + j] = W[at + j]
        for c in range(6):
            share = W[at + 9 + c] * known[c] + inputs[i * 6 + c] * noise[c]
            for j in range(size):
                P[at + j] += share * U[c * size + j]
        for k in range(3):
            a = k + 1 if k < 2 else 0
            b = k + 2 if k < 1 else k - 1
            falling = g[a] * W[at + b] - g[b] * W[at + a]
            P[at + 3 + k] += dt * falling
            P[at + 6 + k] += dt * W[at + 3 + k] + 0.5 * dt * dt * falling
        P[at + i] += walk[i]


def point_noise(
    n: int, nj: int, jacobians: Floats, R: Floats, variance: Floats, likely: Floats, softness: float, turned: Floats,
    noise: Floats
) -> None:  # fmt: skip
    """Noise of all points in world: encoders and softness, larger where the touch is unsure."""
    m = 3 * n
    for k in range(n):
        for i in range(3):
            at = (3 * k + i) * nj
            for j in range(nj):
                turned[at + j] = 0.0
            for c in range(3):
                share = R[3 * i + c] / likely[k]
                for j in range(nj):
                    turned[at + j] += share * jacobians[(3 * k + c) * nj + j]
    for r in range(m):
        for s in range(r + 1):
            total = 0.0
            for j in range(nj):
                total += turned[r * nj + j] * variance[j] * turned[s * nj + j]
            noise[r * m + s] = total
            noise[s * m + r] = total
        noise[r * m + r] += softness * softness / (likely[r // 3] * likely[r // 3])


def innovate(P: Floats, size: int, H: Floats, m: int, noise: Floats, HP: Floats, S: Floats) -> None:
    """The products H P (m × size) and S = H P Hᵀ + noise (m × m)."""
    for r in range(m):
        for j in range(size):
            HP[r * size + j] = 0.0
        for c in range(size):
            if H[r * size + c] != 0.0:
                for j in range(size):
                    HP[r * size + j] += H[r * size + c] * P[c * size + j]
    for s in range(m):
        for r in range(m):
            S[r * m + s] = noise[r * m + s]
        for c in range(size):
            if H[s * size + c] != 0.0:
                for r in range(m):
                    S[r * m + s] += H[s * size + c] * HP[r * size + c]


def distance(S: Floats, m: int, z: Floats, at: int) -> float:
    """Squared Mahalanobis distance of the three residuals from row `at` on, by the Cholesky factor of their block."""
    a = sqrt(S[at * m + at])
    b = S[(at + 1) * m + at] / a
    c = S[(at + 2) * m + at] / a
    d = sqrt(S[(at + 1) * m + at + 1] - b * b)
    e = (S[(at + 2) * m + at + 1] - b * c) / d
    f = sqrt(S[(at + 2) * m + at + 2] - c * c - e * e)
    x = z[at] / a
    y = (z[at + 1] - b * x) / d
    w = (z[at + 2] - c * x - e * y) / f
    return x * x + y * y + w * w


def correct(
    P: Floats, size: int, H: Floats, m: int, noise: Floats, z: Floats, rows: Ints, count: int, HP: Floats, S: Floats,
    K: Floats, D: Floats, W: Floats, step: Floats
) -> None:  # fmt: skip
    """A Kalman step with the `count` chosen rows of z = H ξ + w, after `innovate`; the covariance in Joseph's form.

    With K = S⁻¹ H P (transposed, count × size) and A = P − Kᵀ H P: P ← A + (Kᵀ noise − A Hᵀ) K, and step ← −Kᵀ z. S
    becomes the Cholesky factor of its chosen part; D (m × size) and W (size) are scratch.
    """
    for p in range(count):
        for q in range(p + 1):
            total = S[rows[p] * m + rows[q]]
            for c in range(q):
                total -= S[p * m + c] * S[q * m + c]
            S[p * m + q] = sqrt(total) if p == q else total / S[q * m + q]
    for p in range(count):
        for j in range(size):
            K[p * size + j] = HP[rows[p] * size + j]
        for q in range(p):
            for j in range(size):
                K[p * size + j] -= S[p * m + q] * K[q * size + j]
        for j in range(size):
            K[p * size + j] /= S[p * m + p]
    for p in range(count - 1, -1, -1):
        for q in range(p + 1, count):
            for j in range(size):
                K[p * size + j] -= S[q * m + p] * K[q * size + j]
        for j in range(size):
            K[p * size + j] /= S[p * m + p]
    for p in range(count):
        for j in range(size):
            D[p * size + j] = 0.0
        for q in range(count):
            for j in range(size):
                D[p * size + j] += noise[rows[p] * m + rows[q]] * K[q * size + j]
    for i in range(size):
        step[i] = 0.0
        for j in range(size):
            W[j] = P[i * size + j]
        for p in range(count):
            step[i] -= K[p * size + i] * z[rows[p]]
            for j in range(size):
                W[j] -= K[p * size + i] * HP[rows[p] * size + j]
        for j in range(size):
            P[i * size + j] = W[j]
        for p in range(count):
            share = D[p * size + i]
            for c in range(size):
                share -= W[c] * H[rows[p] * size + c]
            for j in range(size):
                P[i * size + j] += share * K[p * size + j]


def look(
    P: Floats, size: int, H: Floats, n: int, nj: int, points: Floats, jacobians: Floats, variance: Floats,
    probability: Floats, contact_of: Ints, dt: float, settings: Floats, R: Floats, p: Floats, footholds: Floats,
    used: Ints, beyond: Floats, likely: Floats, turned: Floats, noise: Floats, z: Floats, rows: Ints, HP: Floats,
    S: Floats, K: Floats, D: Floats, W: Floats, step: Floats, found: Ints
) -> None:  # fmt: skip
    """Noise of all points, and a Kalman step with those that are used and within the gate.

    A point is no longer used when its touch is unlikely, or when it has been `beyond` the gate for too long. `settings`
    are the probabilities at which footholds are taken and left, softness [m], gate and patience [s]; `found` becomes
    the number of rows that corrected, of points that were lost beyond the gate, and of points that need a foothold.
    """
    m = 3 * n
    count = 0
    users = 0
    for k in range(n):
        likely[k] = probability[contact_of[k]]
        if likely[k] < settings[1]:
            likely[k] = settings[1]
            used[k] = 0
        users += used[k]
    point_noise(n, nj, jacobians, R, variance, likely, settings[2], turned, noise)
    if users > 0:
        innovate(P, size, H, m, noise, HP, S)
    found[1] = 0
    for k in range(n):
        for i in range(3):
            total = p[i] - footholds[3 * k + i]
            for c in range(3):
                total += R[3 * i + c] * points[3 * k + c]
            z[3 * k + i] = total
        if used[k] == 0:
            beyond[k] = 0.0
        elif distance(S, m, z, 3 * k) <= settings[3]:
            beyond[k] = 0.0
            for i in range(3):
                rows[count] = 3 * k + i
                count += 1
        else:
            beyond[k] += dt
            if beyond[k] > settings[4]:
                used[k] = 0
                found[1] += 1
    if count > 0:
        correct(P, size, H, m, noise, z, rows, count, HP, S, K, D, W, step)
    found[0] = count
    found[2] = 0
    for k in range(n):
        if used[k] == 0 and likely[k] > settings[0]:
            found[2] += 1


COVARIANCE = NativeCode([predict, point_noise, innovate, distance, correct, look])

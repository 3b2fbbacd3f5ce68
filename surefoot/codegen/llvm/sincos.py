"""Sine and cosine of all lanes at once, as LLVM assembly.

x = n π/2 + r with π/2 in three parts (Cody & Waite 1980): with fused multiply-adds the first difference is exact for
|x| ≤ 1e4 and the parts hold 159 bits, so that r keeps its relative accuracy next to multiples of π/2. Then polynomials
on |r| ≤ π/4, and the quadrant chooses and signs them. If a lane is beyond the range, infinite or not a number, all
lanes go through the C library, one by one.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surefoot.codegen.build import Build


RANGE = 1e4
SINCOS_NAME = "surefoot.sincos"

# π/2 to 200 bits, in three doubles.
_HALF_PI = Fraction(
    "1.570796326794896619231321691639751442098584699687552910487472296153908203143104499314017412671058533991074"
)


def _parts(value: Fraction, count: int) -> list[float]:
    out = []
    for _ in range(count):
        out.append(float(value))
        value -= Fraction(out[-1])
    return out


# sin r = r + r³ P(r²) and cos r = 1 − r²/2 + r⁴ Q(r²) on |r| ≤ π/4: P and Q interpolate the exact series at Chebyshev
# nodes in r² (solved in rational arithmetic); what is omitted is below 1.4e-17.
_SIN = (-1 / 6, 0.008333333333330948, -0.00019841269836758528, 2.7557316102528646e-06, -2.5051131840044124e-08,
        1.5918128937554457e-10)  # fmt: skip
_COS = (1 / 24, -0.0013888888888887398, 2.480158729876566e-05, -2.7557317271714906e-07, 2.0876146265300598e-09,
        -1.138263220199036e-11)  # fmt: skip
_ROUND = 1.5 * 2.0**52  # added to a small number, its lowest bits are those of the nearest integer


def sincos_text(build: Build) -> str:
    """The function `void surefoot.sincos(ptr x, ptr y)`: y[0] = sin x, y[1] = cos x, for tiles of `build`.

    Floats are computed in double precision and rounded.

    Args:
        build: Lanes and type.
    """
    return _Text(build).text()


class _Text:
    """Writes the function, one value per line."""

    def __init__(self, build: Build) -> None:
        self.build, self.fresh = build, 0
        self.lines: list[str] = []
        self.wide = type(build)(build.width, 64)
        vector = build.width > 1
        self.integers = f"<{build.width} x i64>" if vector else "i64"
        self.mask = f"<{build.width} x i1>" if vector else "i1"

    def new(self, text: str) -> str:
        self.fresh += 1
        self.lines.append(f"%{self.fresh} = {text}")
        return f"%{self.fresh}"

    def fma(self, a: str, b: str, c: str) -> str:
        t = self.wide.vector
        return self.new(f"call {t} @llvm.fma.{self.wide.suffix}({t} {a}, {t} {b}, {t} {c})")

    def op(self, name: str, a: str, b: str) -> str:
        return self.new(f"{name} {self.wide.vector} {a}, {b}")

    def bits(self, name: str, a: str, b: int) -> str:
        constant = str(b) if self.build.width == 1 else f"splat (i64 {b})"
        return self.new(f"{name} {self.integers} {a}, {constant}")

    def text(self) -> str:
        number, t = self.wide.number, self.wide.vector
        x = self.loaded()
        shifted = self.fma(x, number(2.0 / math.pi), number(_ROUND))
        n = self.op("fsub", shifted, number(_ROUND))
        quadrant = self.new(f"bitcast {t} {shifted} to {self.integers}")
        minus_n = self.new(f"fneg {t} {n}")
        r = x
        for part in _parts(_HALF_PI, 3):
            r = self.fma(minus_n, number(part), r)
        sine, cosine = self.polynomials(r)
        self.branch(x, *self.in_quadrant(quadrant, sine, cosine))
        body = "\n".join(self.lines)
        return f"define internal void @{SINCOS_NAME}(ptr %x, ptr %y) #0 {{\nentry:\n{body}\n}}\n{self.declarations()}"

    def loaded(self) -> str:
        x = self.new(f"load {self.build.vector}, ptr %x, align {min(64, self.build.stride)}")
        return x if self.build.bits == 64 else self.new(f"fpext {self.build.vector} {x} to {self.wide.vector}")

    def polynomials(self, r: str) -> tuple[str, str]:
        """Sin r and cos r for |r| ≤ π/4."""
        number = self.wide.number
        z = self.op("fmul", r, r)
        p, c = number(_SIN[-1]), number(_COS[-1])
        for k in reversed(range(len(_SIN) - 1)):
            p, c = self.fma(p, z, number(_SIN[k])), self.fma(c, z, number(_COS[k]))
        sine = self.fma(self.op("fmul", r, z), p, r)
        cosine = self.fma(self.op("fmul", z, z), c, self.fma(z, number(-0.5), number(1.0)))
        return sine, cosine

    def in_quadrant(self, quadrant: str, sine: str, cosine: str) -> tuple[str, str]:
        """Exchanged in odd quadrants; the sine is negative in 2 and 3, the cosine in 1 and 2."""
        t = self.wide.vector
        zero = "0" if self.build.width == 1 else "zeroinitializer"
        odd = self.new(f"icmp ne {self.integers} {self.bits('and', quadrant, 1)}, {zero}")
        s = self.new(f"select {self.mask} {odd}, {t} {cosine}, {t} {sine}")
        c = self.new(f"select {self.mask} {odd}, {t} {sine}, {t} {cosine}")
        return self.signed(s, quadrant), self.signed(c, self.bits("add", quadrant, 1))

    def signed(self, value: str, quadrant: str) -> str:
        t = self.wide.vector
        sign = self.bits("shl", self.bits("and", quadrant, 2), 62)
        flipped = self.new(f"xor {self.integers} {self.new(f'bitcast {t} {value} to {self.integers}')}, {sign}")
        return self.new(f"bitcast {self.integers} {flipped} to {t}")

    def branch(self, x: str, sine: str, cosine: str) -> None:
        """Store; lanes beyond the range are replaced by what the C library says."""
        t = self.wide.vector
        size = self.new(f"call {t} @llvm.fabs.{self.wide.suffix}({t} {x})")
        far = self.new(f"fcmp ugt {t} {size}, {self.wide.number(RANGE)}")
        some = far
        if self.build.width > 1:
            packed = self.new(f"bitcast {self.mask} {far} to i{self.build.width}")
            some = self.new(f"icmp ne i{self.build.width} {packed}, 0")
        self.lines.append(f"br i1 {some}, label %slow, label %done\nslow:")
        exact = [self.lane_by_lane(name, x) for name in ("sin", "cos")]
        mixed = [
            self.new(f"select {self.mask} {far}, {t} {a}, {t} {b}") for a, b in zip(exact, (sine, cosine), strict=True)
        ]
        self.lines.append("br label %done\ndone:")
        for k, (fast, slow) in enumerate(zip((sine, cosine), mixed, strict=True)):
            value = self.new(f"phi {t} [ {fast}, %entry ], [ {slow}, %slow ]")
            exact[k] = value
        for k, value in enumerate(exact):
            self.stored(value, k)
        self.lines.append("ret void")

    def lane_by_lane(self, name: str, x: str) -> str:
        if self.build.width == 1:
            return self.new(f"call double @{name}(double {x})")
        t, out = self.wide.vector, "poison"
        for lane in range(self.build.width):
            one = self.new(f"extractelement {t} {x}, i32 {lane}")
            value = self.new(f"call double @{name}(double {one})")
            out = self.new(f"insertelement {t} {out}, double {value}, i32 {lane}")
        return out

    def stored(self, value: str, k: int) -> None:
        if self.build.bits == 32:
            value = self.new(f"fptrunc {self.wide.vector} {value} to {self.build.vector}")
        where = self.new(f"getelementptr i8, ptr %y, i64 {k * self.build.stride}")
        self.lines.append(f"store {self.build.vector} {value}, ptr {where}, align {min(64, self.build.stride)}")

    def declarations(self) -> str:
        t, suffix = self.wide.vector, self.wide.suffix
        return (
            f"declare {t} @llvm.fma.{suffix}({t}, {t}, {t})\ndeclare {t} @llvm.fabs.{suffix}({t})\n"
            "declare double @sin(double)\ndeclare double @cos(double)"
        )

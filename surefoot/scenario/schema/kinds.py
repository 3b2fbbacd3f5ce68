"""`KindTable`: a table whose `kind` decides which keys it may have and which it needs."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field, Strict, model_validator

from surefoot.scenario.schema_words import expected_at
from surefoot.scenario.table import Table, complaint

Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Friction = Annotated[float, Field(ge=0.0, le=1000.0)]
Time = Annotated[float, Field(ge=0.0, le=1e6)]
Duration = Annotated[float, Field(gt=0.0, le=600.0)]
Hold = Annotated[float, Field(ge=0.0, le=60.0)]
Cycle = Annotated[float, Field(ge=5e-4, le=1.0)]
_LIST = Strict(False)  # TOML has lists where we have tuples
Pair = Annotated[tuple[float, float], _LIST]
PositivePair = Annotated[tuple[Positive, Positive], _LIST]
Vector = Annotated[tuple[float, float, float], _LIST]
Edges = Annotated[tuple[Positive, Positive, Positive], _LIST]


class KindTable(Table):
    """A table with a `kind`; keys of other kinds are refused."""

    KINDS: ClassVar[dict[str, str]] = {}
    """What each kind is, in a line."""
    KEYS: ClassVar[dict[str, set[str]]] = {}
    """Keys of each kind."""
    NEEDS: ClassVar[dict[str, set[str]]] = {}
    """Required keys of each kind."""

    @model_validator(mode="after")
    def _keys_fit_the_kind(self) -> Self:
        kind: str = self.kind  # type: ignore[attr-defined]
        own = self.KEYS[kind]
        several = {key for keys in self.KEYS.values() for key in keys}
        given = {key for key in self.model_fields_set if getattr(self, key) is not None} & several
        if wrong := sorted(given - own):
            known = f"it has {', '.join(sorted(own))}" if own else "it has no further keys"
            raise complaint(wrong[0], getattr(self, wrong[0]), f"a {kind} has no `{wrong[0]}`; {known}")
        if missing := sorted(self.NEEDS.get(kind, set()) - given):
            raise complaint("kind", kind, f"a {kind} needs `{missing[0]}`, {expected_at(type(self), missing[:1])}")
        return self

"""`KindTable`: a table whose `kind` decides which keys it may have and which it needs."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from surefoot.robot.toml_file import StrictModel

__all__ = ["KindTable", "NotNegative", "Positive", "Vector"]

Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Vector = tuple[float, float, float]


class KindTable(StrictModel):
    """A table with a `kind`; keys that another kind has are refused."""

    KEYS: ClassVar[dict[str, set[str]]] = {}
    """Keys of each kind."""
    NEEDS: ClassVar[dict[str, set[str]]] = {}
    """Those without which it makes no sense."""

    @model_validator(mode="after")
    def _keys_fit_the_kind(self) -> Self:
        kind: str = self.kind  # type: ignore[attr-defined]
        own = self.KEYS[kind]
        several = {key for keys in self.KEYS.values() for key in keys}
        given = {key for key in self.model_fields_set if getattr(self, key) is not None} & several
        if wrong := sorted(given - own):
            known = f"it has {', '.join(sorted(own))}" if own else "it has no keys of its own"
            raise ValueError(f"a {kind} has no `{wrong[0]}`; {known}")
        if missing := sorted(self.NEEDS.get(kind, set()) - given):
            raise ValueError(f"a {kind} needs `{missing[0]}`")
        return self

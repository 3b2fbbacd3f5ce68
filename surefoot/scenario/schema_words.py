"""Descriptions of the values that a key accepts, for docs/scenarios.md and for error messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

_BOUNDS = ((Gt, ">", "gt"), (Ge, "≥", "ge"), (Lt, "<", "lt"), (Le, "≤", "le"))
_PLAIN = {float: "number", int: "whole number", str: "text", bool: "true or false"}
_NOUN = re.compile(r"\b(number|text|table|list)\b")


def words_of_field(field: FieldInfo) -> str:
    """The accepted values: a type, choices, a range.

    Args:
        field: The field of a table.
    """
    if field.description:
        return field.description
    return _bounded(_words(field.annotation), field.metadata)


def expected_at(table: type[BaseModel], path: Sequence[str | int]) -> str:
    """The same with an article, for a value of a table or inside of it.

    Args:
        table: The table.
        path: Its key, and the way into lists and tables from there.
    """
    field = table.model_fields[str(path[0])]
    words = words_of_field(field) if len(path) == 1 else " or ".join(map(_words, _inside(field.annotation, path[1:])))
    return f"a {words}" if words.startswith(("number", "whole", "text", "table", "list")) else words


def choices_at(table: type[BaseModel], path: Sequence[str | int]) -> list[str]:
    """The accepted strings, if only some are accepted.

    Args:
        table: The table.
        path: As in `expected_at`.
    """
    places = _inside(table.model_fields[str(path[0])].annotation, path[1:])
    return [str(choice) for place in places if get_origin(place) is Literal for choice in get_args(place)]


def alternatives(annotation: Any) -> list[Any]:
    """The members of a union except None, or the annotation itself, without bounds.

    Args:
        annotation: Of a field.
    """
    if get_origin(annotation) is Annotated:
        return alternatives(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [found for member in get_args(annotation) if member is not NoneType for found in alternatives(member)]
    return [annotation]


def _inside(annotation: Any, path: Sequence[str | int]) -> list[Any]:
    """The annotations below an annotation, along a path of keys and indices."""
    if not path:
        return alternatives(annotation)
    below: list[Any] = []
    for member in alternatives(annotation):
        inner = get_args(member)[1:] if get_origin(member) is dict else get_args(member)[:1]
        below += [found for one in inner for found in ([one] if len(path) == 1 else _inside(one, path[1:]))]
    return below


def _words(annotation: Any) -> str:
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _bounded(_words(inside[0]), _metadata(inside[1:]))
    if origin is Literal:
        return _listed([f'"{choice}"' for choice in inside])
    if origin in (Union, UnionType):
        return " or ".join(_words(part) for part in inside if part is not NoneType)
    if origin is list:
        return f"list of {_several(_words(inside[0]))}"
    if origin is tuple:
        return f"list of {len(inside)} {_several(_words(inside[0]))}"
    if origin is dict:
        return f"table of {_several(_words(inside[1]))}"
    return "table" if _is_table(annotation) else _PLAIN.get(annotation, str(annotation))


def _several(words: str) -> str:
    return _NOUN.sub(r"\1s", words, count=1)


def _bounded(words: str, metadata: Iterable[Any]) -> str:
    signs = [f"{sign} {getattr(item, key):g}" for item in metadata for kind, sign, key in _BOUNDS if type(item) is kind]
    return f"{words} {' and '.join(signs)}" if signs else words


def _metadata(items: tuple[Any, ...]) -> list[Any]:
    """Bounds, also those inside of a pydantic `Field`."""
    return [part for item in items for part in (item.metadata if isinstance(item, FieldInfo) else (item,))]


def _listed(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def _is_table(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)

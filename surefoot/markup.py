"""HTML with the texts in it escaped: the one border at which names, messages and file contents become markup."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from string import Formatter
from typing import Any

__all__ = ["Html", "html", "joined"]


class Html(str):
    """Text that is HTML; any other text is escaped where it becomes part of one."""

    __slots__ = ()


class _Escaping(Formatter):
    """Fills templates; what is not HTML is escaped."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        return value if isinstance(value, Html) else escape(format(value, format_spec), quote=True)


_FILL = _Escaping()


def html(template: str, /, *values: object, **named: object) -> Html:
    """A template of HTML with texts and numbers in its fields, as `str.format` would put them there, but escaped.

        html('<b title="{}">{:.2f}</b>', name, value)

    Attributes must be in quotes. Scripts and styles take no fields: other rules than those of HTML hold there.

    Args:
        template: HTML of the program, never of a file.
        *values: Values of the fields; `Html` is put in as it is.
        **named: Values of fields with names.
    """
    return Html(_FILL.vformat(template, values, named))


def joined(parts: Iterable[object], between: str = "") -> Html:
    """Parts one after the other; those that are not HTML are escaped.

    Args:
        parts: The parts.
        between: HTML between two of them.
    """
    return Html(between.join(html("{}", part) for part in parts))

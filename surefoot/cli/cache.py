"""`surefoot cache`: show, clear or limit the compiled kernels on disk."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from surefoot.cli.console import page_console
from surefoot.codegen import Entry, bound, clear, entries, kernel_folder, read_size, size_limit

_COLUMNS = ("robot", "algorithm", "build")
_WIDEST = 48


def show_cache(as_json: bool) -> int:
    """Print the folder and its entries, last used first; 1 if one of them cannot be used."""
    found = entries()[::-1]
    facts = _facts(found)
    if as_json:
        print(json.dumps({**facts, "entries": [_row(entry) for entry in found]}, indent=1))
    else:
        print(_summary(facts))
        _print_table(found)
    return 1 if any(entry.defect for entry in found) else 0


def clear_cache(older_than_days: float | None, as_json: bool) -> int:
    """Remove the entries, or those not used for so many days."""
    _print_removal(clear(older_than_days), as_json)
    return 0


def bound_cache(size: str, as_json: bool) -> int:
    """Remove the least recently used entries until the rest fits into a size such as `500M`."""
    _print_removal(bound(read_size(size)), as_json)
    return 0


def _print_removal(removed: int, as_json: bool) -> None:
    facts = _facts(entries())
    print(json.dumps({"removed": removed, **facts}, indent=1) if as_json else f"removed {removed}\n{_summary(facts)}")


def _facts(found: list[Entry]) -> dict[str, Any]:
    return {
        "folder": str(kernel_folder()),
        "count": len(found),
        "size_bytes": sum(entry.size for entry in found),
        "limit_bytes": size_limit(),
    }


def _summary(facts: dict[str, Any]) -> str:
    kernels = f"{facts['count']} kernel{'' if facts['count'] == 1 else 's'}"
    return f"{facts['folder']}: {kernels}, {_human(facts['size_bytes'])} of {_human(facts['limit_bytes'])}"


def _row(entry: Entry) -> dict[str, Any]:
    return {
        "key": entry.key,
        "size_bytes": entry.size,
        "last_used": datetime.fromtimestamp(entry.used, UTC).isoformat(timespec="seconds"),
        "description": dict(entry.description),
        "defect": entry.defect,
    }


def _print_table(found: list[Entry]) -> None:
    if not found:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in (*_COLUMNS, "size", "last used"):
        table.add_column(heading, no_wrap=True, justify="right" if heading == "size" else "left")
    for entry in found:
        used = datetime.fromtimestamp(entry.used).isoformat(" ", "seconds")
        table.add_row(*_words(entry), _human(entry.size), used)
    page_console().print(table)
    if any(entry.defect for entry in found):
        print("some kernels are unusable; next: `surefoot cache clear`")


def _words(entry: Entry) -> list[Text]:
    """The first columns; of an entry that cannot be used its key and the reason."""
    if entry.defect:
        return [Text(entry.key[:12]), Text(f"unusable: {entry.defect}"), Text("")]
    return [Text(_shortened(str(entry.description.get(column, "-")))) for column in _COLUMNS]


def _shortened(text: str) -> str:
    """A name that fits into a column; those of bundles can be hundreds of characters long."""
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def _human(size: float) -> str:
    """Bytes for people: `512 B`, `1.5 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024.0 or unit == "GiB":
            break
        size /= 1024.0
    return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"

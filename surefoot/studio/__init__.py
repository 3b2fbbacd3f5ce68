"""The studio: view, move, simulate and audit robots in the browser."""

import importlib
from typing import TYPE_CHECKING, Any

from surefoot.errors import NotSupportedError
from surefoot.studio.show import show

if TYPE_CHECKING:
    from surefoot.studio.live_view import LiveView, view
    from surefoot.studio.server import Studio

__all__ = ["LiveView", "Studio", "show", "view"]

_MODULE_OF = {"Studio": "server", "LiveView": "live_view", "view": "live_view"}


def __getattr__(name: str) -> Any:
    """Import the server on first use: `show` does not need it."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module `surefoot.studio` has no attribute `{name}`")
    try:
        found = getattr(importlib.import_module(f"surefoot.studio.{_MODULE_OF[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("surefoot"):
            raise
        raise NotSupportedError(
            f"the studio needs `{error.name}`, which is not installed",
            next_step="install the extra: pip install 'surefoot[studio]'",
        ) from error
    globals()[name] = found
    return found

"""The studio: view, move, simulate and audit robots in the browser."""

from typing import TYPE_CHECKING, Any

from surefoot.studio.show import show

if TYPE_CHECKING:
    from surefoot.studio.server import Studio

__all__ = ["Studio", "show"]


def __getattr__(name: str) -> Any:
    """Import the server on first use: `show` does not need it."""
    if name == "Studio":
        from surefoot.studio.server import Studio

        return Studio
    raise AttributeError(f"module `surefoot.studio` has no attribute `{name}`")

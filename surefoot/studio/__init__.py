"""The studio: a robot in the browser, to look at, to move, to simulate and to judge."""

from typing import TYPE_CHECKING, Any

from surefoot.studio.show import show

if TYPE_CHECKING:
    from surefoot.studio.server import Studio

__all__ = ["Studio", "show"]


def __getattr__(name: str) -> Any:
    """The server is imported when it is asked for: `show` does without."""
    if name == "Studio":
        from surefoot.studio.server import Studio

        return Studio
    raise AttributeError(f"module `surefoot.studio` has no attribute `{name}`")

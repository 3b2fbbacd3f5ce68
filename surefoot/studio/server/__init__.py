"""The server of the studio, and the tab that each browser gets."""

from surefoot.studio.server.studio import Studio

__all__ = ["Studio"]

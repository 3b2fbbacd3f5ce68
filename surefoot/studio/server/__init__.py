"""The server of the studio, and the tab that each browser gets."""

from surefoot.studio.server.guarded import guarded_server, stop_quietly
from surefoot.studio.server.studio import Studio

__all__ = ["Studio", "guarded_server", "stop_quietly"]

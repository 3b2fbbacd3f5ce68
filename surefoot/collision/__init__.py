"""Room collision."""

__all__: list[str] = []

"""Room ik."""

__all__: list[str] = []

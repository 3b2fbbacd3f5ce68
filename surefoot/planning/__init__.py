"""Planning of motions with contacts."""

__all__: list[str] = []

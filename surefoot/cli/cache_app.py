"""`surefoot cache …`: compiled kernels on disk."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["cache", "cache_bound", "cache_clear", "cache_show"]

cache = typer.Typer(invoke_without_command=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]


@cache.callback()
def cache_show(context: typer.Context, json: Json = False) -> int:
    """The compiled kernels on disk: show, clear and bound them; status 1 if one of them cannot be used."""
    from surefoot.cli.cache import show_cache

    context.obj = json
    return 0 if context.invoked_subcommand else show_cache(json)


@cache.command(name="clear")
def cache_clear(
    context: typer.Context,
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Only what was not used for so many days.", min=0.0)
    ] = None,
    json: Json = False,
) -> int:
    """Remove compiled kernels."""
    from surefoot.cli.cache import clear_cache

    return clear_cache(older_than, json or context.obj)


@cache.command(name="bound")
def cache_bound(
    context: typer.Context,
    size: Annotated[str, typer.Argument(metavar="SIZE", help="Bytes, or a number with K, M, G or T, such as 500M.")],
    json: Json = False,
) -> int:
    """Remove the kernels not used for longest until the rest is within SIZE."""
    from surefoot.cli.cache import bound_cache

    return bound_cache(size, json or context.obj)

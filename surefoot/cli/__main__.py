"""`python -m surefoot.cli`."""

from surefoot.cli.main import main

__all__: list[str] = []

if __name__ == "__main__":
    main()

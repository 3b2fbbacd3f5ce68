"""Scripts for those who work on surefoot."""

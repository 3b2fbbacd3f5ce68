"""The robots and the cache of the compiler's tests."""

from tests.compiler.conftest import _own_cache, arm, canary, of_arm, of_walker, walker

__all__ = ["_own_cache", "arm", "canary", "of_arm", "of_walker", "walker"]

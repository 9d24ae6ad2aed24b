"""numpy if it is installed. The package works without it."""

from __future__ import annotations

from typing import Any, Optional

numpy: Optional[Any]
try:
    import numpy
except ImportError:
    numpy = None


def require_numpy() -> Any:
    """numpy. Raises ImportError with what to do if it is missing."""
    if numpy is None:
        raise ImportError(
            "this needs numpy (Debian: apt install python3-numpy); " "to_pylist() works without it"
        )
    return numpy

"""The one exception class of the package that is not a builtin."""

from __future__ import annotations

import sys
from functools import cache


class NotFittedError(ValueError, AttributeError):
    """Raised when a model is asked something before ``fit``; caught by handlers of either parent, as scikit-learn's."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the message, so that it also comes out of a worker that has loaded other packages."""
        return not_fitted, self.args


def not_fitted(message: str) -> NotFittedError:
    """Return the exception; where scikit-learn is loaded, one that its users' handlers catch too."""
    theirs = sys.modules.get("sklearn.exceptions")
    return NotFittedError(message) if theirs is None else _for_both(theirs.NotFittedError)(message)


@cache
def _for_both(theirs: type[Exception]) -> type[NotFittedError]:
    return type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__})

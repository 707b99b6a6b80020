"""The one exception class of the package that is not a builtin."""


class NotFittedError(ValueError, AttributeError):
    """Raised when a model is asked something before ``fit``; caught by handlers of either parent, as scikit-learn's."""

"""What scikit-learn's metadata routing asks of an estimator; scikit-learn is imported only when it asks.

With ``sklearn.set_config(enable_metadata_routing=True)`` a pipeline or a search hands ``sample_weight`` on to those
that have requested it: ``model.set_fit_request(sample_weight=True)``.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_METHODS = ("fit", "score", "predict", "predict_proba", "predict_log_proba")
_ROWS = {"self", "X", "y"}  # every method has them; they are not metadata


class Request:
    """The method ``set_fit_request``, or that of another method, of a class where it takes more than rows."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Learn which method it is about."""
        self._method = name.removeprefix("set_").removesuffix("_request")

    def __get__(self, model: Any, owner: type) -> Callable[..., Any]:
        """Return the method of a model or of a class."""
        known = _taken_by(owner, self._method)
        if not known:
            raise AttributeError(f"{owner.__name__}.{self._method} takes nothing but rows: there is nothing to request")

        def request(*owners: Any, **wanted: Any) -> Any:
            """Say which metadata the method is handed: True, False, None (an error where there is some) or an alias."""
            return _requested(owners[0] if model is None else model, self._method, known, wanted)

        request.__name__ = f"set_{self._method}_request"
        return request


def _taken_by(owner: type, method: str) -> list[str]:
    found = getattr(owner, method, None)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    taken = inspect.signature(found).parameters.items() if callable(found) else ()
    return [name for name, one in taken if name not in _ROWS and one.kind in kinds]


def _requested(model: Any, method: str, known: list[str], wanted: dict[str, Any]) -> Any:
    import sklearn

    if not sklearn.get_config().get("enable_metadata_routing"):
        raise RuntimeError(
            f"set_{method}_request: metadata routing is off; switch it on by "
            "sklearn.set_config(enable_metadata_routing=True)"
        )
    unknown = sorted(set(wanted) - set(known))
    if unknown:
        raise TypeError(f"Unexpected args: {set(unknown)} in {method}. Accepted arguments are: {set(known)}")
    requests = model.get_metadata_routing()
    for name, value in wanted.items():
        if value != "$UNCHANGED$":
            getattr(requests, method).add_request(param=name, alias=value)
    model._metadata_request = requests  # noqa: SLF001  where scikit-learn's clone looks for it
    return model


class TakesMetadata:
    """An estimator that scikit-learn routes metadata to."""

    set_fit_request = Request()
    set_score_request = Request()
    set_predict_request = Request()
    set_predict_proba_request = Request()

    def get_metadata_routing(self) -> Any:
        """Return which metadata each method has requested, as scikit-learn's MetadataRequest."""
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        if "_metadata_request" in vars(self):
            return get_routing_for_object(vars(self)["_metadata_request"])
        requests = MetadataRequest(owner=self)
        for method in _METHODS:
            for name in _taken_by(type(self), method):
                if hasattr(requests, method):
                    getattr(requests, method).add_request(param=name, alias=None)
        return requests

"""What scikit-learn asks of a classifier, for one whose use should not wait for the import of scikit-learn."""

import inspect
from typing import Any, Self

from graphreach.arguments import nearest
from graphreach.errors import InputError


class Parameters:
    """Constructor arguments that can be read and set by their names, which is what ``sklearn.base.clone`` and searches use.

    Example:
        >>> class Model(Parameters):
        ...     def __init__(self, depth=2, rate=0.1):
        ...         self.depth, self.rate = depth, rate
        >>> Model(rate=0.5).set_params(depth=3).get_params()
        {'depth': 3, 'rate': 0.5}
        >>> Model(rate=0.5)
        Model(rate=0.5)
    """

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        signature = inspect.signature(cls.__init__).parameters.values()
        return {each.name: each.default for each in signature if each.name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's arguments by name.

        Args:
            deep: For scikit-learn; none of the arguments has parameters of its own.
        """
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **values: Any) -> Self:
        """Set arguments of the constructor by name; they are checked when the estimator is fitted."""
        known = self._defaults()
        for name, value in values.items():
            if name not in known:
                raise InputError(
                    f"parameters of {type(self).__name__} must be among {', '.join(known)}, got {name!r}"
                    f"{nearest(name, list(known))}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}" for name, default in self._defaults().items()
            if getattr(self, name) is not default and getattr(self, name) != default
        ]  # fmt: skip
        return f"{type(self).__name__}({', '.join(changed)})"

    _estimator_type = "classifier"
    """What versions of scikit-learn before 1.6 look at."""

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator, ClassifierMixin

        return type("Classifier", (ClassifierMixin, BaseEstimator), {})().__sklearn_tags__()

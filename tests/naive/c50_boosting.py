"""C5.0's boosting in plain NumPy: a loop over trees, or their rules, each grown with other weights of the cases."""

from __future__ import annotations

import numpy as np
from naive.c50 import Grower
from naive.c50_rules import RuleMaker

LEAST = 1e-3  # of its own weight, that a case which is not given up keeps


class Booster:
    """Trees, or sets of rules, that vote; ``weight`` is that of the cases at first."""

    def __init__(self, X, y, kinds, n_levels, n_classes, *, trials=10, rules=False, early_stopping=True, weight=None,
                 **control):  # fmt: skip
        self.given, self.control = (X, y, kinds, n_levels, n_classes), control
        self.y, self.K, self.trials, self.is_rules, self.early = y, n_classes, trials, rules, early_stopping
        self.cases = np.ones(len(y)) if weight is None else np.asarray(weight, float)

    def one(self, weight, **more):
        grower = Grower(*self.given, weight=weight, **self.control, **more).fit()
        if self.is_rules:
            grower.rules_of = RuleMaker(grower, self.cases).fit()
        return grower

    def answers_of(self, model, X):
        """Return label and confidence of each row."""
        if self.is_rules:
            return model.rules_of.confidences_of(X)
        shares = model.shares_of(X)
        labels = model.plain_labels_of(X)
        return labels, shares[np.arange(len(X)), labels]

    def size_of(self, model):
        if self.is_rules:
            return len(model.rules_of.rules)
        return max(model.root.n_leaves(), 1)

    def fit(self):
        X, y = self.given[0], self.y
        n, w = len(y), self.cases
        n_left, votes, budget = w.sum(), np.zeros((n, self.K)), {}
        self.models, self.errors = [], []
        for t in range(self.trials):
            model = self.one(w, **budget)
            labels, confidence = self.answers_of(model, X)
            wrong = labels != y
            err = w[wrong].sum()
            is_nothing = model.root.is_leaf
            if t == 0:
                budget = {"leaves_per_case": 1.1 * model.root.n_leaves() / n_left, "regrows": False}
            elif self.early and (is_nothing or err / n_left >= 0.49):
                break
            self.models.append(model)
            self.errors.append(self.cases[wrong].sum())
            if err < 0.1 or (is_nothing and t == 0):
                break
            own_class = confidence if self.is_rules else model.plain_shares_of(X)[np.arange(n), labels]
            votes[np.arange(n), labels] += own_class
            if t + 1 > self.trials / 2:  # what cannot be won any more takes no further part
                own = votes[np.arange(n), y]
                others = votes.copy()
                others[np.arange(n), y] = -1
                w = np.where(others.max(axis=1) > own + self.trials - t - 1, 0.0, w)
                if not w.any():
                    break
            w, n_left = self.shifted(w, wrong)
        if len(self.models) <= 2:
            self.models = self.models[:1]
        self.sizes = [self.size_of(m) for m in self.models]
        return self

    def shifted(self, w, wrong):
        """Return weights that move half the way to where wrong cases weigh as much as the others, and their sum."""
        live = w > 0
        bad, good = live & wrong, live & ~wrong
        ok = w[good].sum()
        x = (ok - w[bad].sum()) / 4
        new = np.zeros(len(w))
        new[bad] = w[bad] + x * (self.cases[bad] / self.cases[bad].sum())
        new[good] = w[good] * ((ok - x) / ok if ok else 0)
        n_left = self.cases[live].sum()
        new *= n_left / new.sum()
        return np.where(live, np.maximum(new, LEAST * self.cases), 0.0), n_left

    def sums_of(self, X):
        out = np.zeros((len(X), self.K))
        for model in self.models:
            labels, confidence = self.answers_of(model, X)
            out[np.arange(len(X)), labels] += confidence
        return out

    def labels_of(self, X):
        return self.sums_of(X).argmax(axis=1)

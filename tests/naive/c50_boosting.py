"""C5.0's boosting in plain NumPy: a loop over trees, or their rules, each grown with other weights of the cases."""

from __future__ import annotations

import numpy as np
from naive.c50 import Grower
from naive.c50_rules import RuleMaker

LEAST = 1e-3  # weight of a case that is not given up


class Booster:
    """Trees, or sets of rules, that vote."""

    def __init__(self, X, y, kinds, n_levels, n_classes, *, trials=10, rules=False, early_stopping=True, **control):
        self.given, self.control = (X, y, kinds, n_levels, n_classes), control
        self.y, self.K, self.trials, self.is_rules, self.early = y, n_classes, trials, rules, early_stopping

    def one(self, weight, **more):
        grower = Grower(*self.given, weight=weight, **self.control, **more).fit()
        if self.is_rules:
            grower.rules_of = RuleMaker(grower).fit()
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
        return max(model.root.n_leaves(not model.subset), 1)

    def fit(self):
        X, y = self.given[0], self.y
        n = len(y)
        w, votes, budget = np.ones(n), np.zeros((n, self.K)), {}
        self.models, self.errors = [], []
        for t in range(self.trials):
            model = self.one(w if t else None, **budget)
            labels, confidence = self.answers_of(model, X)
            wrong = labels != y
            err, ok = w[wrong].sum(), w[~wrong].sum()
            is_nothing = model.root.is_leaf
            if t == 0:
                budget = {"leaves_per_case": 1.1 * model.root.n_leaves() / n, "regrows": False}
            elif self.early and (is_nothing or err / n >= 0.49):
                break
            self.models.append(model)
            self.errors.append(int(wrong.sum()))
            if err < 0.1 or (is_nothing and t == 0):
                break
            votes[np.arange(n), labels] += confidence
            x = (ok - err) / 4
            w = np.where(wrong, w + x / max(((w > 0) & wrong).sum(), 1), w * (ok - x) / ok) * (w > 0)
            w *= n / w.sum()
            w = np.where(w > 0, np.maximum(w, LEAST), 0)
            left = self.trials - t - 1
            if t + 1 > self.trials / 2:
                own = votes[np.arange(n), y]
                others = votes.copy()
                others[np.arange(n), y] = -1
                kept = np.where(others.max(axis=1) > own + left, 0.0, w)
                w = kept * (n / kept.sum()) if kept.any() else w
        if len(self.models) <= 2:
            self.models = self.models[:1]
        self.sizes = [self.size_of(m) for m in self.models]
        return self

    def sums_of(self, X):
        out = np.zeros((len(X), self.K))
        for model in self.models:
            labels, confidence = self.answers_of(model, X)
            out[np.arange(len(X)), labels] += confidence
        return out

    def labels_of(self, X):
        return self.sums_of(X).argmax(axis=1)

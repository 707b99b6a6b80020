"""What C5.0 prints of a model: its trees or rules, how it does on the rows it was made of, the columns it looks at."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from dtnumba.export.as_text import feature_names_of, text
from dtnumba.export.reading import columns_of
from dtnumba.export.text_styles.c50 import cut, tenths
from dtnumba.export.text_styles.printed import plain
from dtnumba.rules.layout import LEVELS, body_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dtnumba.export.reading import Columns
    from dtnumba.rules.layout import Condition, Rules

_MOST_CLASSES = 20  # of which a table is printed
_FEWEST = 0.05  # a weight of errors that is shown
_NO_CASE = 1e-7
_TITLES = {  # by whether there are rules, and costs
    (False, False): "    Decision Tree   ",
    (True, False): "        Rules     ",
    (False, True): "       Decision Tree       ",
    (True, True): "           Rules         ",
}


def c50_summary(model: Any, asked: dict[str, Any] | None = None, feature_names: Sequence[str] | None = None) -> str:
    """Return the lines that C5.0 prints of a fitted model; ``asked`` is how it does on other rows."""
    columns = _in_words(columns_of(model), feature_names)
    parts = [_winnowed(model, columns)] if model.winnow else []
    many = model.n_trials_ > 1
    rules = getattr(model, "rules_", None)
    for t, one in enumerate(model.estimators_):
        if many:
            parts.append(f"\n-----  Trial {t}:  -----\n")
        if rules is None:
            parts.append(text(one, style="c50", feature_names=columns.names))
        else:
            parts.append(_rules(rules[t].arrays, columns, model, f"{t}/" if many else ""))
    parts.append(_stop(model))
    if "errors_" in vars(model):  # not of a model that was pruned
        parts += [_evaluation(model, "training data"), _confusion(model, columns), _usage(model, columns)]
        if model.bands and rules is not None and not many and len(rules[0]):
            parts.append(_utility(model))
    if asked is not None:
        shown = copy.copy(model)
        vars(shown).pop("confusion_", None)
        vars(shown).update(asked)
        parts += [_evaluation(shown, "test data"), _confusion(shown, columns)]
    return "".join(parts)


def _in_words(columns: Columns, feature_names: Sequence[str] | None = None) -> Columns:
    """Return columns whose names, levels and classes are as they are written, each on one line."""
    names = feature_names_of(feature_names, len(columns.names)) or columns.names
    levels = [None if own is None else list(map(plain, own)) for own in columns.levels]
    classes = None if columns.classes is None else [list(map(plain, own)) for own in columns.classes]
    return columns._replace(names=list(map(plain, names)), levels=levels, classes=classes)


def rules_in_style(model: Any) -> str:
    """Return the rules of a model as C5.0 prints them."""
    columns, many = _in_words(columns_of(model)), model.n_trials_ > 1
    parts = []
    for t, own in enumerate(model.rules_):
        head = f"\n-----  Trial {t}:  -----\n" if many else ""
        parts.append(head + _rules(own.arrays, columns, model, f"{t}/" if many else ""))
    return "".join(parts)


def _winnowed(model: Any, columns: Columns) -> str:
    n, gain = len(model.winnowed_features_), model.winnow_importances_
    if np.isnan(gain).all():  # nothing would have been left
        return ""
    if n == 0:  # said where some columns did harm at first
        return "\nNo attributes winnowed\n" if (gain < 0.0).any() else ""
    said = f"\n{n} attribute{'s' * (n > 1)} winnowed\nEstimated importance of remaining attributes:\n\n"
    kept = sorted((j for j in range(len(gain)) if not math.isnan(gain[j])), key=lambda j: -max(gain[j], 0.0))
    for j in kept:
        share = "     <1%" if gain[j] < 0.005 else f"{100.0 * gain[j]:7.0f}%"
        said += f"{share}  {columns.names[j]}\n"
    return said


def _rules(rules: Rules, columns: Columns, model: Any, trial: str) -> str:
    assert columns.classes is not None
    classes, said = columns.classes[0], "\nRules:\n"
    for r in range(rules.n_rules):
        wrong = float(rules.covered[r] - rules.correct[r])
        errors = f"/{tenths(wrong)}" if wrong >= _FEWEST else ""
        k = int(rules.label[r])
        sure = np.float32(rules.correct[r] + 1.0) / np.float32(rules.covered[r] + 2.0)
        lift = np.float32(sure / np.float32(rules.prior[k]))
        said += f"\nRule {trial}{r + 1}: ({tenths(float(rules.covered[r]))}{errors}, lift {float(lift):.1f})\n"
        for test in body_of(rules, r):
            said += "".join(f"\t{columns.names[test.feature]} {part}\n" for part in _asked(test, columns, model))
        said += f"\t->  class {classes[k]}  [{math.floor(1000.0 * float(rules.confidence[r]) + 0.5) / 1000.0:.3f}]\n"
    return f"{said}\nDefault class: {classes[rules.default]}\n"


def _asked(test: Condition, columns: Columns, model: Any) -> list[str]:
    """Return what a test asks of its column."""
    if test.kind == LEVELS:
        names = columns.levels[test.feature]
        assert names is not None
        own = [names[level] for level in test.levels]
        if len(own) == 1:
            return [f"= {own[0]}"]
        return [f"in [{own[0]}-{own[-1]}]" if test.feature in model.ordered_features_ else f"in {{{', '.join(own)}}}"]
    low = [f"> {cut(test.low)}"] if test.low == test.low else []
    return low + ([f"<= {cut(test.high)}"] if test.high < math.inf else [])


def _stop(model: Any) -> str:
    """Return why there are fewer trials than were asked for, and what that means where they are too few."""
    n = vars(model).get("stopped_after_", 0)
    if n == 0:
        return ""
    how = "accurate" if model.stopped_without_errors_ else "inaccurate"
    said = f"\n*** boosting reduced to {n} trial{'s' * (n > 1)} since last classifier is very {how}\n"
    return said + ("" if model.n_trials_ > 1 else "\n*** boosting abandoned (too few classifiers)\n")


def _share(weight: float, total: float) -> str:
    return f"{math.floor(weight + 0.5):4d}({100.0 * weight / total:4.1f}%)"


def _evaluation(model: Any, rows: str) -> str:
    """Return the table of errors, a line a trial."""
    n, many = model.n_cases_, model.n_trials_ > 1
    has_costs = model.label_rule is not None
    is_rules = hasattr(model, "rules_")
    said = f"\n\nEvaluation on {rows} ({math.floor(n + 0.5)} cases):\n\n"
    title = _TITLES[is_rules, has_costs]
    dashes = "-" * (23 if has_costs else 16)
    tail = "" if is_rules else "  "
    said += f"{'Trial' if many else ''}\t{title}\n{'-----' if many else ''}\t  {dashes}{tail}\n"
    said += f"\t{'    No ' if is_rules else '  Size '}     Errors{'   Cost' if has_costs else ''}{tail}\n\n"
    for t, size in enumerate(model.sizes_ if is_rules else map(_n_leaves, model.estimators_)):
        cost = f"{model.trial_costs_[t] / n:7.2f}" if has_costs else ""
        end = "" if many else "   <<"
        said += f"{f'{t:4d}' if many else ''}\t{size:6d} {_share(model.trial_errors_[t], n)}{cost}{end}\n"
    if many:
        said += f"boost\t       {_share(model.errors_, n)}   <<\n"
    return said


def _n_leaves(model: Any) -> int:
    """Return the leaves that have cases, of which C5.0 prints the number."""
    trees = model.trees_
    return max(int((trees.weight[trees.feature < 0] > _NO_CASE).sum()), 1)


def _letter(k: int) -> str:
    return f"({chr(ord('a') + k)})"


def _confusion(model: Any, columns: Columns) -> str:
    """Return which classes rows of each class are taken for; "" where they are too many for a table."""
    assert columns.classes is not None
    if "confusion_" not in vars(model) or len(model.classes_) > _MOST_CLASSES:
        return ""
    classes = columns.classes[0]
    said = "\n\n\t" + "".join(f"{_letter(k):>6}" for k in range(len(classes))) + "    <-classified as\n"
    said += "\t" + "  ----" * len(classes) + "\n"
    for k, name in enumerate(classes):
        cells = [math.floor(x + 0.5) for x in model.confusion_[k].tolist()]
        said += "\t" + "".join(f"{x:6d}" if x else " " * 6 for x in cells) + f"    {_letter(k)}: class {name}\n"
    return said


def _usage(model: Any, columns: Columns) -> str:
    """Return how many rows each column is looked at for."""
    usage = 100.0 * model.feature_usage_
    order = [j for j in np.argsort(-usage, kind="stable").tolist() if usage[j] > 0]
    if not order:
        return ""
    return "\n\n\tAttribute usage:\n\n" + "".join(f"\t{usage[j]:6.2f}%\t{columns.names[j]}\n" for j in order)


def _utility(model: Any) -> str:
    """Return how many rows the most useful rules get wrong, a line a band."""
    n_rules, bands = len(model.rules_[0]), model.bands
    ends = sorted({max(1, math.floor(n_rules * (b + 1) / bands + 0.5)) for b in range(bands - 1)})
    said = "\nRule utility summary:\n\n\tRules\t      Errors\n\t-----\t      ------\n"
    for end in ends:
        if end < n_rules:
            name = "1" if end == 1 else f"1-{end}"
            said += f"\t{name}\t {_share(model.utility_errors_[end - 1], model.n_cases_)}\n"
    return said

"""Rule sets learned from samples in one call, for the Hamming and the zero-one loss."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from cpx.data.samples import Samples
from cpx.errors import InvalidInstance
from cpx.models.rule_set.methods.column_generation.generate import Round
from cpx.models.rule_set.methods.column_generation.learnable import Listener
from cpx.models.rule_set.methods.column_generation.learner import Learner
from cpx.models.rule_set.methods.column_generation.table import Features
from cpx.options import TIME_LIMIT, SolveOptions
from cpx.support.shares import percent
from cpx.support.validation import positive_integer, seconds

if TYPE_CHECKING:
    from cpx.answers.explanation import Explanation
    from cpx.models.rule_set.learning import RuleSetLearning
    from cpx.models.rule_set.selection import RuleSetSelection
    from cpx.support.validation import Share

__all__ = ["LearnedRules", "learn_rules"]


@dataclass(frozen=True)
class LearnedRules:
    """A set of rules, and what is proved about every other set.

    Attributes
    ----------
    problem : RuleSetLearning
        What was asked, for :func:`cpx.solve`, :func:`cpx.save` and engines.
    explanation : Explanation
        The rules, in words and figures.
    rules : tuple of tuple of int
        The literals of each.
    objective : Fraction
        Weight of the errors plus the price of the rules: the zero-one loss. The bound is not
        one of it.
    hamming : Fraction
        The least Hamming loss plus price of a set that was found, which may be another
        one: ``hamming_rules``.
    hamming_rules : tuple of tuple of int
    hamming_bound : Fraction
        No set of rules with at most k literals each has a lower ``hamming``.
    closed : bool
        The linear programme over all rules is solved: pricing proved that none is left.
    finished : bool
        No step was ended by the time limit or by ``stop``; with ``prove`` it is closed, too.
    selection : RuleSetSelection
        The selection from the rules found, for other engines.
    rounds : tuple of Round
        Seconds, value of the linear programme over the rules so far, and bound.
    """

    problem: RuleSetLearning
    explanation: Explanation
    rules: tuple[Features, ...]
    objective: Fraction
    hamming: Fraction
    hamming_rules: tuple[Features, ...]
    hamming_bound: Fraction
    closed: bool
    finished: bool
    selection: RuleSetSelection
    rounds: tuple[Round, ...]

    def __str__(self) -> str:
        gap = float((self.hamming - self.hamming_bound) / max(Fraction(1), self.hamming))
        closed = "no rule is left to add" if self.closed else "rules may be left to add"
        message = [
            self.explanation.summary(),
            f"zero-one   {float(self.objective):g}, no bound",
            f"Hamming    {float(self.hamming):g}, at least {float(self.hamming_bound):g} for "
            f"every set (gap {percent(gap)}; {closed})",
        ]
        return "\n".join(message)


def learn_rules(
    samples: Samples,
    k: int,
    penalty: Share,
    *,
    class_weights: tuple[int, int] | None = None,
    time_limit: float | None = TIME_LIMIT,
    threads: int = 1,
    seed: int = 0,
    stop: threading.Event | None = None,
    prove: bool = True,
) -> LearnedRules:
    """Learn a set of rules of at most k literals each: few errors, and few rules.

    This is :class:`~cpx.models.RuleSetLearning` by the engine ``column-generation``, with what
    it finds and proves of both losses in one answer: column generation on the Hamming loss
    [1]_, a selection by the zero-one loss, and a local search over all rules.

    The two objectives are never mixed: the bound is one of the Hamming loss, which counts
    a sample of another class once for each rule that covers it. :func:`cpx.solve` has a bound
    of the zero-one loss.

    Parameters
    ----------
    samples : Samples
        ``agreement`` are the literals, ``same`` tells the class. Equal samples are merged.
    k : int
        Maximum number of literals of a rule, at least 1.
    penalty : Fraction, int, float or str
        Price of a rule as a share of the weight of all samples.
    class_weights : pair of int, optional
        What an error on a sample of another class, and on one of the class, weighs.
    time_limit : float or None, default=10.0
        Seconds > 0; ``None`` goes on until no rule is left and a best set of the Hamming loss
        is proved among those found, however long that takes.
    threads : int
        Of the exact search.
    seed : int
    stop : threading.Event, optional
        Ends the learning when another thread, or what handles Ctrl-C, sets it: the rules are
        chosen of those found by then.
    prove : bool
        Whether to look on, in the time there is, until no rule is left to add and a best set of
        the Hamming loss is proved; else some tenths of a second go into its bound. The rules are
        hardly worse.

    Returns
    -------
    LearnedRules

    Raises
    ------
    InvalidInstance, InvalidOption
        Naming the argument and its value.

    References
    ----------
    .. [1] S. Dash, O. Gunluk, D. Wei: Boolean Decision Rules via Column Generation, NeurIPS
       2018.

    Examples
    --------
    >>> from cpx import Samples, learn_rules
    >>> samples = Samples([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], [1, 0, 1, 0],
    ...                   features=("a", "b", "c"))
    >>> learned = learn_rules(samples, k=2, penalty="1/10")
    >>> print(learned.explanation)
    b or c => the class
    >>> learned.objective, learned.hamming, learned.hamming_bound, learned.closed
    (Fraction(4, 5), Fraction(4, 5), Fraction(4, 5), True)
    """
    from cpx.models.rule_set.learning import RuleSetLearning

    limit = seconds(None if time_limit == math.inf else time_limit) or math.inf
    asked = SolveOptions(threads=threads, seed=seed)
    k = positive_integer("k", k)
    if not isinstance(samples, Samples):
        raise InvalidInstance(f"samples must be Samples, got {type(samples).__name__}")
    problem = RuleSetLearning(samples.merged(), k, penalty, class_weights=class_weights)
    stop = stop or threading.Event()
    listener = Listener(stop=stop.is_set, cancel=stop)
    learner = Learner(problem, limit, asked.threads, asked.seed, listener=listener, prove=prove)
    learner.run()
    learner.use_rest()
    best, generation = learner.best, learner.generation
    explanation = problem._shortened(problem.explanation_of(best.rules))
    return LearnedRules(
        problem=problem,
        explanation=explanation,
        rules=tuple(map(problem.literals, explanation.features)),
        objective=best.value,
        hamming=learner.hamming.value,
        hamming_rules=learner.hamming.rules,
        hamming_bound=learner.hamming_bound,
        closed=generation.closed,
        finished=generation.ended and not learner.cut,
        selection=problem.select_from(dict.fromkeys([*generation.rules, *best.rules])),
        rounds=tuple(generation.rounds),
    )

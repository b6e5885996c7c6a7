# %% [markdown]
# # 8 A problem of one's own
#
# A new question is a class: what is given, what a solution is worth, and how it is stated. Then all engines answer it, and all that you know of encodings holds for it.

# %%
from dataclasses import dataclass, field
from itertools import combinations

import cpmpy as cp
import numpy as np

import cpx
from cpx.check import register as register_judge
from cpx.check import violations
from cpx.modelling.parameters import Integer, parameter
from cpx.models import Encoding, Statement, register
from cpx.models.monomial.encodings.clausal import clausal
from cpx.models.monomial.problem import WeightedProblem

# %% [markdown]
# ## The question
#
# A bank explains why it refused a credit. A rule that covers a customer who was *not* refused is a false alarm, and costs ten times as much as a refused customer whom it misses.
#
# ## Exercise 8.1: what a rule costs
#
# A problem whose answer is one rule says what each sample costs when it is covered, and when it is not. `weights` and `same` are arrays over the samples. What stands below is the loss, in which both mistakes cost the same.


# %%
# Exercise 8.1
def costs(weights, same, alarm):
    """Return the costs of covering, and of not covering, each sample."""
    return np.where(same, 0, weights), np.where(same, weights, 0)


# %%
@register
@dataclass(frozen=True, eq=False)
class Careful(WeightedProblem):
    """Find a rule of at most k features that hardly ever raises a false alarm."""

    alarm: int = field(
        default=10, metadata=parameter(Integer(1), "what a false alarm costs, in misses")
    )

    kind = "careful-student"
    encodings = (Encoding("clausal", clausal),)

    def costs(self):
        """Return the costs of covering, and of not covering, each sample."""
        return costs(self.samples.weights, self.samples.same, self.alarm)


rng = np.random.default_rng(3)
samples = cpx.Samples(rng.random((25, 6)) < 0.7, rng.random(25) < 0.6)
problem = Careful(samples, k=2, alarm=10)


# %%
def definition(chosen):
    """Return what a set of features costs, by the definition."""
    covered = samples.agreement[:, list(chosen)].all(axis=1)
    alarms, misses = (covered & ~samples.same).sum(), (~covered & samples.same).sum()
    return int(10 * alarms + misses)


sets = [chosen for size in range(3) for chosen in combinations(range(6), size)]

# %%
# Mark of 8.1
all(problem.evaluate(problem.explanation(s)).objective == definition(s) for s in sets)

# %% [markdown]
# Parameters, validation, saved files and words come with the declaration:

# %%
print(cpx.solve(problem, "cpsat"))

# %% [markdown]
# ## Exercise 8.2: an encoding
#
# The encodings of rules do, since they take costs. Write one for this problem all the same: a program with a row $\sum_{j \in M_i} X_j \ge 1 - C_i$ for each sample that costs when it is covered, and rows for the others. What is below forgets the samples that are missed.


# %%
# Exercise 8.2
def rows(form, X, C, U):
    """Return the rows that charge samples; C and U map samples to variables."""
    return [c + cp.sum(X[~form.agreement[i]]) >= 1 for i, c in C.items()]


# %%
def careful_program(form):
    """Return careful rules as a linear program."""
    d = form.agreement.shape[1]
    X = cp.boolvar(shape=(d,), name="X")
    C = {i: cp.boolvar(name=f"C[{i}]") for i in np.flatnonzero(form.cost_covered)}
    U = {i: cp.boolvar(name=f"U[{i}]") for i in np.flatnonzero(form.cost_uncovered)}
    paid = [int(form.cost_covered[i]) * c for i, c in C.items()]
    paid += [int(form.cost_uncovered[i]) * u for i, u in U.items()]
    stated = [cp.sum(X) <= form.k, *rows(form, X, C, U)]
    arrays = {"X": X, "C": list(C.values()), "U": list(U.values())}
    return Statement(cp.Model(stated, minimize=cp.sum(paid)), arrays, None)


PLAIN = ("limits", "required", "forbidden", "one_per_group")

# %%
# Mark of 8.2
cpx.grade(careful_program, "careful-student", without=PLAIN, n=60)

# %% [markdown]
# ## Exercise 8.3: a judge
#
# The answer above was not independently checked: nobody has said what a saved answer must be. A judge reads a saved instance and returns a function that lists what is wrong with a saved result. It is written from the definition and not from the class, so that both cannot share a mistake.
#
# This one looks at the size of the rule. Let it look at the value as well: `result["objective"]`.


# %%
# Exercise 8.3
def judge(instance):
    """Read an instance; return what says what is wrong with a result."""
    agrees = np.array([[bit == "1" for bit in row] for row in instance["samples"]])
    same = np.array([label == "1" for label in instance["labels"]])
    k, alarm = instance["parameters"]["k"], instance["parameters"]["alarm"]

    def wrong(result):
        chosen = result["explanation"]["features"]
        return ["the rule is too long"] if len(chosen) > k else []

    return wrong


# %%
register_judge("careful-student", judge)
saved, told = problem.to_dict(), cpx.solve(problem).to_dict()
longer = {**told["explanation"], "features": [0, 1, 2]}
false = [{**told, "objective": told["objective"] - 1}, {**told, "explanation": longer}]

# %%
# Mark of 8.3
judge(saved)(told) == [] and all(judge(saved)(wrong) for wrong in false)

# %% [markdown]
# With it, the answer is checked:

# %%
cpx.solve(problem).verified, violations(saved, told)

# %% [markdown]
# ## Where to go from here
#
# `docs/extend/adding-a-problem.md` makes a package of such a problem: with a command, tiny cases on which every engine is tried, and proofs.
#
# ## Questions
#
# 1. How large must `alarm` be, so that a rule with a false alarm is never best?
# 2. Which of the encodings of notebooks 1 to 6 state this problem without a change?
# 3. State another question as costs: which rule tells two classes apart best, if a third one does not matter?

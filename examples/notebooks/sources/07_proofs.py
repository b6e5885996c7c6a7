# %% [markdown]
# # 7 Bounds, proofs and checking
#
# An engine says "optimal". Why should anybody believe it? Its value can be recomputed. Its bound needs a proof. And what a model proves is true of the problem only if the model is right.

# %%
import json
from itertools import combinations

import cpmpy as cp
import numpy as np
import pandas as pd

import cpx
from cpx.check import violations
from cpx.check.proofs import Claim, Refused, fingerprint, proved
from cpx.models import Encoding, Statement
from cpx.models.monomial import search_tree
from cpx.models.monomial.encodings.clausal import clausal

rng = np.random.default_rng(8)
samples = cpx.Samples(rng.random((50, 8)) < 0.6, rng.random(50) < 0.4)
problem = cpx.KMonomial(samples, k=5)
instance = problem.to_dict()

# %% [markdown]
# ## Value and bound
#
# While an engine works, the best value known falls and the bound rises. When they meet, the value is optimal.

# %%
result = cpx.solve(problem, "maxsat{adapt=false,exhaust=false}", warm_start=False)
pd.DataFrame([point[1:] for point in result.trace], columns=["value", "bound"]).drop_duplicates()

# %% [markdown]
# ## The check
#
# `violations` recomputes what a saved result says, from the saved instance alone. It shares no code with any engine.

# %%
saved = result.to_dict()
violations(instance, saved), violations(instance, {**saved, "objective": saved["objective"] - 1})

# %% [markdown]
# A bound that is too high contradicts only a better solution, which the check would have to find. It tries a little. Here is the right answer to another question, in which the best features are forbidden:

# %%
best = result.explanation.features
other = cpx.KMonomial(samples, k=problem.k, forbidden=tuple(best))
violations(instance, cpx.solve(other, "search").to_dict())

# %% [markdown]
# ## Exercise 7.1: a bound
#
# Branch and bound cuts off what cannot be better. A part of the search has chosen features R, and may add at most r of some candidates. Return a number that no such rule can cost less than. All samples have weight 1.
#
# A rule pays for samples of other classes that it covers, and for samples of the class that it loses. With more features it covers fewer, and loses more. How many of other classes can r candidates remove at most? What stands here is right, and cuts nothing off.


# %%
# Exercise 7.1
def bound(agreement, same, chosen, candidates, r):
    """Return a lower bound on the cost of all rules that add at most r candidates."""
    return 0


# %%
def cost(chosen):
    """Return what a set of features costs."""
    covered = samples.agreement[:, list(chosen)].all(axis=1)
    return int(samples.weights[covered != samples.same].sum())


def parts():
    """Yield parts of the search: chosen features, candidates, and how many of them."""
    d = samples.agreement.shape[1]
    for a, b in combinations(range(d), 2):
        for r in (1, 2):
            yield (a,), [j for j in range(d) if j not in (a, b)], r


def least(chosen, candidates, r):
    """Return the least cost in a part, by trying all."""
    tried = (c for size in range(r + 1) for c in combinations(candidates, size))
    return min(cost((*chosen, *more)) for more in tried)


rows = np.repeat(np.arange(len(samples.weights)), samples.weights)
bounds = [bound(samples.agreement[rows], samples.same[rows], *part) for part in parts()]
sum(bounds), sum(least(*part) for part in parts())

# %% [markdown]
# The second number is what the best bounds would add up to.

# %%
# Mark of 7.1
all(b <= least(*part) for b, part in zip(bounds, parts())) and sum(bounds) >= 660

# %% [markdown]
# `cpx.models.monomial.search_tree` draws the tree of the exact search of a small instance, and `cpx tree` does so in the shell.

# %%
small = cpx.KMonomial(samples, k=2)
search_tree(small)

# %% [markdown]
# ## A proof
#
# The check confirms the value, and takes the bound on trust: `cpx check` says so. A proof settles it. It is a text that a small program follows line by line. This one is of a tree over sets of features:

# %%
print(cpx.solve(problem, "search", proof=True).proof.to_bytes().decode())

# %% [markdown]
# The first line names the instance by its fingerprint, and claims that no rule loses less than the bound. The root is all rules of at most k = 5 features. `split 1 4 ...` splits it by features: rules with feature 1, the others with feature 4, and so on, a line for each part. `counted` asks the checker to try all sets of a part, which may have at most 4 features to go.
#
# ## Exercise 7.2: a proof by hand
#
# Write a proof of the strongest bound that the checker accepts. All features are to be split, in any order, and each part is counted. The proof below claims too little, and splits too few.


# %%
# Exercise 7.2
def proof(instance):
    """Return the text of a proof: the header, then a line for each box."""
    header = {
        "format": "cpx-proof",
        "version": 1,
        "kind": "monomial",
        "problem": "k-monomial",
        "instance": fingerprint(instance),
        "claim": {"bound": 0},
    }
    lines = [json.dumps(header), "split 0 1", "counted", "counted"]
    return "\n".join(lines) + "\n"


# %%
def accepted(text):
    """Return what a proof proves, or why it is refused."""
    try:
        return proved(instance, text.encode())
    except Refused as reason:
        return f"refused: {reason}"


accepted(proof(instance))

# %%
# Mark of 7.2
accepted(proof(instance)) == Claim(bound=result.objective)

# %% [markdown]
# Claim one more, and it is refused: proofs of false bounds do not exist, whoever writes them.
#
# ## Redundant constraints, and constraints that are none
#
# A constraint that follows from the others makes bounds better, and changes no solution. A constraint that excludes *some* solutions, but not all optimal ones, is something else. It is allowed, for who knows it.
#
# A feature on which all samples of other classes agree with x excludes none of them. Without it a rule is as good or better, so it need not be chosen.


# %%
def without_idle(form):
    """State that features that exclude no sample of another class are not chosen."""
    stated = clausal(form)
    X = stated.variables["X"]
    charged = form.agreement[form.cost_covered > 0]
    required = set(form.required)
    idle = [~x for j, x in enumerate(X) if charged[:, j].all() and j not in required]
    model = cp.Model([*stated.model.constraints, *idle], minimize=stated.model.objective_)
    return Statement(model, stated.variables, None)


cpx.grade(without_idle, without=["limits"], n=60)

# %% [markdown]
# ## Exercise 7.3: say what you leave out
#
# Too strong, says the verdict, for it takes the encoding for one that has every solution. An `Encoding` says otherwise with `every_solution=False`: then it may leave out what is no better than a solution that it has. Wrap the function, and let it be graded as what it is. Limits are not in the exercise: with them, a feature that excludes nobody can be needed.

# %%
# Exercise 7.3
honest = Encoding("without-idle", without_idle)

# %%
# Mark of 7.3
cpx.grade(honest, without=["limits"], n=60)

# %% [markdown]
# ## Questions
#
# 1. Which of these can an engine get wrong without anybody noticing: value, bound, status, encoding?
# 2. The same samples with k = 4 have another fingerprint. Why must a proof name its instance?
# 3. How many lines has a proof for k = 6 and 20 features, if it only splits and counts?

# %% [markdown]
# # 3 Counters
#
# "At most k of these are true" is no clause. Three ways to say it with clauses, and what each costs.

# %%
from dataclasses import replace
from itertools import combinations
from math import comb

import cpmpy as cp
import pandas as pd
from pysat.card import CardEnc, EncType

import cpx
from cpx.models import Statement
from cpx.models.monomial.encodings.clausal import clausal

# %% [markdown]
# An encoding of cpx has all but the counter. The function below takes away the limit on the size, which is none for k = d, and puts that of a counter in its place. `counter(X, k)` returns clauses and the list of the auxiliary variables that they use.


# %%
def counted_by(counter):
    """Return an encoding of k-monomials that counts features with a counter."""

    def encoding(form):
        free = clausal(replace(form, k=form.agreement.shape[1]))
        rows, auxiliary = counter(list(free.variables["X"]), form.k)
        model = cp.Model([*free.model.constraints, *rows], minimize=free.model.objective_)
        return Statement(model, {**free.variables, "A": auxiliary}, None)

    return encoding


# %% [markdown]
# ## Exercise 3.1: binomial
#
# Without auxiliary variables: of any k + 1 features one is not chosen. For k = 1 these are the pairs. Repair the mistake: the counterexample shows it.


# %%
# Exercise 3.1
def binomial(X, k):
    """Return a clause for each set of features that may not all be chosen."""
    return [cp.any([~x for x in chosen]) for chosen in combinations(X, k) if chosen], []


# %%
# Mark of 3.1
cpx.grade(counted_by(binomial), n=100)

# %% [markdown]
# That makes $\binom{d}{k+1}$ clauses:

# %%
pd.DataFrame({f"d = {d}": [comb(d, k + 1) for k in (1, 2, 5)] for d in (10, 40, 100)}, (1, 2, 5))

# %% [markdown]
# ## Exercise 3.2: a sequential counter
#
# $S_{jc}$ says that more than c of $X_0, \ldots, X_j$ are chosen, for $c < k$ (Sinz, 2005). Then
#
# $$X_j \rightarrow S_{j0}, \qquad S_{j-1,c} \rightarrow S_{jc}, \qquad X_j \land S_{j-1,c-1} \rightarrow S_{jc}, \qquad X_j \rightarrow \lnot S_{j-1,k-1}.$$
#
# The last three look at the feature before, so they are for j > 0. Two of the four are missing here. Which set does the smallest counterexample allow, and how does it get past the counter?


# %%
# Exercise 3.2
def sequential(X, k):
    """Return the clauses of Sinz's counter."""
    if k == 0:
        return [~x for x in X], []
    S = [[cp.boolvar(name=f"S[{j},{c}]") for c in range(k)] for j in range(len(X))]
    rows = []
    for j, x in enumerate(X):
        rows.append(~x | S[j][0])
        if j > 0:
            rows.append(~x | ~S[j - 1][k - 1])
    return rows, [s for row in S for s in row]


# %%
# Mark of 3.2
cpx.grade(counted_by(sequential), n=100)

# %% [markdown]
# ## Exercise 3.3: a totalizer
#
# A tree (Bailleux and Boufkhad, 2003). Each node lists outputs: $O_c$ says that more than c of its features are chosen. A leaf has one output, the feature. A node with the outputs $P$ and $Q$ of its parts has
#
# $$P_a \rightarrow O_a, \qquad Q_b \rightarrow O_b, \qquad P_a \land Q_b \rightarrow O_{a+b+1}.$$
#
# At the root $\lnot O_k$. Write the third kind of clauses.


# %%
# Exercise 3.3
def merged(P, Q, O):
    """Return the clauses of a node."""
    return [~p | o for p, o in zip(P, O)] + [~q | o for q, o in zip(Q, O)]


# %%
def totalizer(X, k):
    """Return the clauses of a totalizer."""
    rows, made = [], []

    def node(features):
        if len(features) == 1:
            return list(features)
        half = len(features) // 2
        P, Q = node(features[:half]), node(features[half:])
        O = [cp.boolvar(name=f"O[{len(made) + c}]") for c in range(len(features))]
        made.extend(O)
        rows.extend(merged(P, Q, O))
        return O

    root = node(X)
    return rows + [~root[c] for c in range(k, len(X))], made


# %%
# Mark of 3.3
cpx.grade(counted_by(totalizer), n=100)

# %% [markdown]
# ## What each costs
#
# Clauses and variables of ours:


# %%
def sizes(counter, d, k):
    """Return how many clauses and auxiliary variables a counter has."""
    rows, auxiliary = counter(list(cp.boolvar(shape=(d,))), k)
    return len(rows), len(auxiliary)


pd.DataFrame(
    [
        (d, k, name, *sizes(counter, d, k))
        for d, k in ((12, 2), (12, 4), (40, 2))
        for name, counter in (
            ("binomial", binomial),
            ("sequential", sequential),
            ("totalizer", totalizer),
        )
    ],
    columns=["d", "k", "counter", "clauses", "auxiliary"],
)

# %% [markdown]
# And those of a library, PySAT:


# %%
def pysat_sizes(kind, d, k):
    """Return clauses and auxiliary variables of an encoding of PySAT."""
    made = CardEnc.atmost(lits=range(1, d + 1), bound=k, encoding=kind)
    return len(made.clauses), max(made.nv, d) - d


pd.DataFrame(
    {
        (d, k): [
            pysat_sizes(getattr(EncType, name), d, k)
            for name in ("seqcounter", "totalizer", "cardnetwrk", "kmtotalizer")
        ]
        for d, k in ((40, 2), (40, 5), (100, 5))
    },
    ["sequential", "totalizer", "cardinality network", "k-totalizer"],
)

# %% [markdown]
# ## Questions
#
# 1. Our totalizer counts up to d. Which outputs are never needed, and how many clauses does leaving them out save?
# 2. Only one direction is stated: chosen features make outputs true. Which constraint needs the other one?
# 3. Leave out $S_{j-1,c} \rightarrow S_{jc}$. The counter is too weak: what does its smallest counterexample choose?

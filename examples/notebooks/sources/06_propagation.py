# %% [markdown]
# # 6 Propagation
#
# A SAT solver decides a literal and propagates: in a clause whose other literals are all false, the last one must be true. What an encoding lets it conclude without search is its other strength. It ranks encodings otherwise than the relaxation does.

# %%
from dataclasses import replace
from itertools import combinations

import cpmpy as cp
import numpy as np
from pysat.formula import WCNF
from pysat.solvers import Minisat22

import cpx
from cpx.export import export_bytes, read_legend
from cpx.models import Encoding, Statement, add_encoding
from cpx.models.monomial.encodings.clausal import clausal

rng = np.random.default_rng(6)
larger = cpx.KMonomial(cpx.Samples(rng.random((40, 8)) < 0.6, rng.random(40) < 0.5), k=3)

# %% [markdown]
# ## What is fixed
#
# `fixed_half` and `fixed_all` are the soft literals that unit propagation fixes when half, or all, of the features are decided at random. `root` is the value of the linear relaxation.

# %%
measured = cpx.compare.encodings_table(larger, ["clausal", "reified"], ["wcnf", "lp"]).to_frame()
measured.groupby("encoding")[["root", "fixed_half", "fixed_all"]].max().round(2)

# %% [markdown]
# `clausal` states one direction: it makes $C_i$ true where it must be, and never false. `reified` fixes all once the features are known.
#
# ## Exercise 6.1: both directions
#
# The encoding below is right, and its costs are not fixed by the features. Add the clauses of the other direction: a cost is false when its sample does not cause it. They must be implied by the definition, or the encoding is too strong.


# %%
# Exercise 6.1
def other_direction(form, X, C, U):
    """Return clauses that make costs false; C and U map samples to variables."""
    return []


# %%
def two_sided(form):
    """Return the clausal encoding with the other direction."""
    stated = clausal(form)
    X = stated.variables["X"]
    C = dict(zip(np.flatnonzero(form.cost_covered), stated.variables["C"]))
    U = dict(zip(np.flatnonzero(form.cost_uncovered), stated.variables["U"]))
    rows = [*stated.model.constraints, *other_direction(form, X, C, U)]
    model = cp.Model(rows, minimize=stated.model.objective_)
    return Statement(model, stated.variables, stated.complete)


add_encoding("k-monomial", Encoding("two-sided", two_sided, limits=False))
fixed = cpx.compare.encodings_table(larger, ["two-sided"], ["wcnf"]).to_frame()
fixed[["constraints", "fixed_half", "fixed_all"]]

# %%
verdict_two_sided = cpx.grade(two_sided, without="limits", n=60)
verdict_two_sided

# %%
# Mark of 6.1
verdict_two_sided.right and fixed["fixed_all"].item() == 40

# %% [markdown]
# ## Counters
#
# A counter should see at once that k features are chosen, and that all others are false. A binary adder does not. It adds the features, bit by bit, and compares the sum with k: few clauses, and nothing is known before nearly all is decided.


# %%
def adder(X, k):
    """Return constraints of a binary counter, and its variables."""
    rows, made, bits = [], [], []
    for x in X:
        carry = x
        for place, bit in enumerate(bits):
            total, more = (cp.boolvar(name=f"A[{len(made) + n}]") for n in range(2))
            made += [total, more]
            rows += [total == (bit != carry), more == (bit & carry)]
            bits[place], carry = total, more
        bits.append(carry)
    # A number is greater than k where some bit of it is 1, that of k is 0, and all higher agree.
    for place, bit in enumerate(bits):
        if not k >> place & 1:
            higher = [bits[h] for h in range(place + 1, len(bits)) if k >> h & 1]
            rows.append(cp.any([~bit, *(~h for h in higher)]))
    return rows, made


def counted_by(counter):
    """Return an encoding of k-monomials that counts features with a counter."""

    def encoding(form):
        free = clausal(replace(form, k=form.agreement.shape[1]))
        rows, auxiliary = counter(list(free.variables["X"]), form.k)
        model = cp.Model([*free.model.constraints, *rows], minimize=free.model.objective_)
        return Statement(model, {**free.variables, "A": auxiliary}, None)

    return encoding


cpx.grade(counted_by(adder), n=60)

# %% [markdown]
# ## Exercise 6.2: a counter that propagates
#
# Write a counter of which unit propagation makes all other features false, whichever k are chosen. The one of notebook 3 will do, if it is right.


# %%
# Exercise 6.2
def counter(X, k):
    """Return constraints that say that at most k are true, and auxiliary variables."""
    return adder(X, k)


# %%
def share_seen(counter):
    """Return of how many choices of k features propagation fixes all the others."""
    add_encoding("k-monomial", Encoding(counter.__name__, counted_by(counter)))
    data = export_bytes(larger, "wcnf", counter.__name__)
    numbers = {place: int(number) for number, place in read_legend(data).names.items()}
    X = [numbers["X", j] for j in range(8)]
    seen = []
    with Minisat22(WCNF(from_string=data.decode()).hard) as solver:
        for chosen in combinations(X, larger.k):
            consistent, literals = solver.propagate(chosen)
            seen.append(consistent and {-x for x in X} - {-x for x in chosen} <= {*literals})
    return sum(seen) / len(seen)


share_seen(adder)

# %%
verdict_counter = cpx.grade(counted_by(counter), n=100)
verdict_counter

# %%
# Mark of 6.2
verdict_counter.right and share_seen(counter) == 1

# %% [markdown]
# ## Questions
#
# 1. The one-sided encoding fixes less, and solvers are faster with it. What do they not need to know?
# 2. How many clauses have the adder and your counter for 100 features and k = 5?
# 3. Unit propagation with `reified`: which feature must be false when $V_i$ is decided to be true?

# %% [markdown]
# # 5 Linear relaxations and their strength
#
# An integer program is solved by way of its linear relaxation: the same rows, with fractions allowed. Its value is a bound, and the nearer it is to the optimum, the less there is to search. Two models with the same solutions may have very different bounds.

# %%
import cpmpy as cp
import numpy as np

import cpx
from cpx.export import show
from cpx.models import Encoding, Statement, add_encoding

rng = np.random.default_rng(5)
larger = cpx.KMonomial(cpx.Samples(rng.random((40, 12)) < 0.5, rng.random(40) < 0.5), k=3)
optimum = cpx.solve(larger).objective
optimum

# %% [markdown]
# ## Rows
#
# A clause is a row: $C_i \lor X_1 \lor X_2$ is $C_i + X_1 + X_2 \ge 1$. On an instance of three features:

# %%
small = cpx.KMonomial(
    cpx.Samples([[0, 0, 0], [1, 0, 1], [0, 1, 1]], [1, 0, 1], features=("a", "b", "c")), k=2
)
print(show(small, "lp"))

# %% [markdown]
# ## The root
#
# The value of the relaxation, before any branching, is called the root. The optimum stands above, and here are the roots of the encodings of cpx:


# %%
def root(*names):
    """Return the values of the linear relaxations of encodings."""
    frame = cpx.compare.encodings_table(larger, names, ["lp"]).to_frame()
    return frame["root"].droplevel("form").round(3)


root("clausal", "reified", "channelling", "sizes", "pairs")

# %% [markdown]
# All have the same solutions. `sizes` and `pairs` also say what a rule of each size costs at least: here their root is the optimum, and nothing is left to search.
#
# ## Exercise 5.1: a row for each sample
#
# $X_j \rightarrow U_i$ for all $j \in M_i$ can be one row: $\sum_{j \in M_i} X_j \le c_i U_i$. The number $c_i$ must be large enough for all sets that are allowed, and otherwise as small as can be. With $c_i = d$ the row is right, and weak. Find the least $c_i$.


# %%
# Exercise 5.1
def by_sample(form, X, U):
    """Return a row for each sample that costs when it is not covered."""
    d = len(X)
    return [cp.sum(X[~form.agreement[i]]) <= d * u for i, u in U.items()]


# %%
def program(rows):
    """Return an encoding whose samples that are lost are charged by some rows."""

    def encoding(form):
        d = form.agreement.shape[1]
        X = cp.boolvar(shape=(d,), name="X")
        C = {i: cp.boolvar(name=f"C[{i}]") for i in np.flatnonzero(form.cost_covered)}
        U = {i: cp.boolvar(name=f"U[{i}]") for i in np.flatnonzero(form.cost_uncovered)}
        weighted = [int(form.cost_covered[i]) * c for i, c in C.items()]
        weighted += [int(form.cost_uncovered[i]) * u for i, u in U.items()]
        stated = [X[j] for j in form.required] + [~X[j] for j in form.forbidden]
        stated += [cp.sum(X) <= form.k]
        stated += [c + cp.sum(X[~form.agreement[i]]) >= 1 for i, c in C.items()]
        stated += [row for row in rows(form, X, U) if row is not True]
        arrays = {"X": X, "C": list(C.values()), "U": list(U.values())}
        return Statement(cp.Model(stated, minimize=cp.sum(weighted)), arrays, None)

    return encoding


def strength(name, rows):
    """Register an encoding of such rows, and return its root on the larger instance."""
    add_encoding("k-monomial", Encoding(name, program(rows), limits=False))
    return root(name).item()


PLAIN = ("limits", "one_per_group")

# %%
strength_by_sample = strength("by-sample", by_sample)
strength_by_sample

# %%
verdict_by_sample = cpx.grade(program(by_sample), without=PLAIN, n=60)
verdict_by_sample

# %%
# Mark of 5.1
verdict_by_sample.right and strength_by_sample >= 7.3

# %% [markdown]
# ## Exercise 5.2: a row for each pair
#
# Or a row $X_j \le U_i$ for each pair. Below is one row for each *feature* instead: $|I_j| X_j \le \sum_{i \in I_j} U_i$, where $I_j$ are the samples that feature j loses. It follows from the rows by pair. Replace it by these, and compare the roots.


# %%
# Exercise 5.2
def by_pair(form, X, U):
    """Return the rows that charge the samples which chosen features lose."""
    rows = []
    for j, x in enumerate(X):
        lost = [u for i, u in U.items() if not form.agreement[i, j]]
        if lost:
            rows.append(len(lost) * x <= cp.sum(lost))
    return rows


# %%
strength_by_pair = strength("by-pair", by_pair)
strength_by_pair

# %%
verdict_by_pair = cpx.grade(program(by_pair), without=PLAIN, n=60)
verdict_by_pair

# %%
# Mark of 5.2
verdict_by_pair.right and strength_by_pair >= 5.8

# %% [markdown]
# Neither is always stronger. Rows by sample ask little of $U_i$ where one feature has all the weight, rows by pair where many features share it. Both together are at least as strong as either:


# %%
def by_both(form, X, U):
    """Return both kinds of rows."""
    return [*by_sample(form, X, U), *by_pair(form, X, U)]


strength("by-both", by_both)

# %% [markdown]
# ## A row that is too strong
#
# The smaller $c_i$ is, the higher the root, until the row forbids solutions. Then the "bound" is none. `grade` sees it, the root does not:


# %%
def too_strong(form, X, U):
    """Return rows with c = 1, which allow one chosen feature of M only."""
    return [cp.sum(X[~form.agreement[i]]) <= u for i, u in U.items()]


strength("too-strong", too_strong)

# %%
cpx.grade(program(too_strong), without=PLAIN, n=60)

# %% [markdown]
# ## Questions
#
# 1. For which samples are both kinds of rows the same?
# 2. A solver branches on $X_j$. What happens to the rows by sample when $X_j = 1$?
# 3. Solve `larger` with `milp` in the encodings `clausal` and `pairs`, with `warm_start=False`, and print `result.statistics`. Is the stronger root worth its columns?

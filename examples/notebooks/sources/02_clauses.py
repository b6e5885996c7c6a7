# %% [markdown]
# # 2 Clauses
#
# SAT and MaxSAT solvers read clauses: literals joined by "or". This notebook states rules with clauses alone, in one direction only, and counts what that saves.

# %%
import tempfile
from pathlib import Path

import cpmpy as cp
from pysat.solvers import Cadical153

import cpx
from cpx.export import show
from cpx.models import Statement
from cpx.models.monomial.encodings.common import cost

four = cpx.KMonomial(
    cpx.Samples(
        agreement=[[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]],
        same=[1, 0, 0, 0],
        features=("a", "b", "c", "d"),
    ),
    k=1,
)

# %% [markdown]
# ## Implications are clauses
#
# $A \rightarrow B$ is $\lnot A \lor B$. $A \rightarrow B \land C$ is two clauses, $A \land B \rightarrow C$ is one of three literals. $A \leftrightarrow B$ is two implications. In the format of solvers, variables are numbers and `-3` is "not 3".
#
# A SAT solver lists all solutions of $x_1 \leftrightarrow (x_2 \lor x_3)$:

# %%
with Cadical153([[-1, 2, 3], [1, -2], [1, -3]]) as solver:
    models = list(solver.enum_models())
models

# %% [markdown]
# ## Both directions, or one
#
# Coverage is an equivalence: $V_i \leftrightarrow \lnot \bigvee_{j \in M_i} X_j$, where $M_i$ are the features on which sample i differs from x. As clauses that is one of $|M_i| + 1$ literals, and $|M_i|$ of two.
#
# Often one direction is enough. Let $C_i$ stand for "sample i is covered and this costs", and $U_i$ for "it is not covered and this costs". Both are minimised. So $C_i$ must be true when sample i is covered, and need not be false otherwise: the objective sees to it.

# %%
print(show(four, "cnf", "reified"))

# %%
print(show(four, "cnf", "clausal"))

# %% [markdown]
# ## Exercise 2.1: charged when covered
#
# Write the clauses that make `C[i]` true when no chosen feature differs. `C` maps each sample with a cost of being covered to its variable. What stands here charges the wrong samples: which?


# %%
# Exercise 2.1
def when_covered(form, X, C):
    """Return a clause for each sample that costs when it is covered."""
    return [cp.any([charged, *X[form.agreement[i]]]) for i, charged in C.items()]


# %% [markdown]
# ## Exercise 2.2: charged when missed
#
# Write the clauses that make `U[i]` true when a chosen feature differs. Each clause has two literals. What stands here says too little.


# %%
# Exercise 2.2
def when_missed(form, X, U):
    """Return the clauses for the samples that cost when they are not covered."""
    return [~X[0] | charged for charged in U.values()]


# %%
def one_sided(covered, missed):
    """Return an encoding made of two lists of clauses."""

    def encoding(form):
        d = form.agreement.shape[1]
        X = cp.boolvar(shape=(d,), name="X")
        C = {i: cp.boolvar(name=f"C[{i}]") for i, c in enumerate(form.cost_covered) if c}
        U = {i: cp.boolvar(name=f"U[{i}]") for i, c in enumerate(form.cost_uncovered) if c}
        charges = (
            (form.cost_covered[list(C)], C.values()),
            (form.cost_uncovered[list(U)], U.values()),
        )
        rows = [X[j] for j in form.required] + [~X[j] for j in form.forbidden]
        rows += [cp.sum(X) <= form.k, *covered(form, X, C), *missed(form, X, U)]
        arrays = {"X": X, "C": list(C.values()), "U": list(U.values())}
        return Statement(cp.Model(rows, minimize=cost(X, *charges)), arrays, None)

    return encoding


PLAIN = ("limits", "one_per_group")

# %%
# Mark of 2.1
cpx.grade(one_sided(when_covered, lambda *_: []), "negative-only", without=PLAIN, n=60)

# %% [markdown]
# The exercise was marked on the problem `negative-only`, in which missed samples cost nothing.

# %%
# Mark of 2.2
cpx.grade(one_sided(when_covered, when_missed), without=PLAIN, n=60)

# %% [markdown]
# ## A file for a solver
#
# A weighted CNF has *hard* clauses, which must hold, and *soft* ones, whose weight is paid where they do not. Comments name the variables:

# %%
print(show(four, "wcnf"))

# %% [markdown]
# ## Exercise 2.3: by hand
#
# Write such a file for this instance: the features a and b, at most one of which is chosen. Sample 0 agrees with x on both and is of another class. Sample 1 agrees on a alone and has the class of x. Sample 2 agrees on b alone and is of another class, with weight 3.
#
# Three hard clauses are missing, and two soft ones.

# %%
by_hand = cpx.KMonomial(
    cpx.Samples([[1, 1], [1, 0], [0, 1]], [0, 1, 0], weights=[1, 1, 3], features=("a", "b")), k=1
)

# %%
# Exercise 2.3
wcnf = """
c 1 = X[0]: a
c 2 = X[1]: b
c 3 = C[0]
c 4 = U[1]
c 5 = C[2]
h -1 -2 0
1 -3 0
"""

# %%
# Mark of 2.3
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "mine.wcnf").write_text(wcnf.strip() + "\n")
    verdict = cpx.grade(Path(folder, "mine.wcnf"), by_hand)
verdict

# %% [markdown]
# ## Questions
#
# 1. How many clauses have `reified` and `clausal` for m samples, half of them of the class, each differing on n features?
# 2. Name an objective for which $C_i$ must be false when sample i is not covered.
# 3. A solver returns a solution with $C_2$ true, and sample 2 is not covered. Is it optimal?

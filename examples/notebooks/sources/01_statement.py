# %% [markdown]
# # 1 From a prediction to a statement
#
# A classifier says *versicolor*. Why? We ask for a short rule that tells the flowers of this class from the others, and state this as a constraint model.
#
# You will write such a model, and `cpx.grade` will say whether it is right. Change the cells that begin with "Exercise", and run those that begin with "Mark".

# %%
from itertools import combinations

import cpmpy as cp
import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import cpx
from cpx.export import show
from cpx.models import Encoding, Statement, add_encoding

# %% [markdown]
# ## A prediction and a rule
#
# Row 60 of Fisher's irises, and a decision tree:

# %%
iris = load_iris(as_frame=True)
tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(iris.data, iris.target)
explainer = cpx.Explainer(tree, iris.data, class_names=iris.target_names)
x = iris.data.iloc[60]
explainer.rule(x, k=2)

# %% [markdown]
# ## What was asked
#
# Each column becomes a few conditions that are true of x: the *features*. Each flower z becomes a *sample*. Its row says on which features it agrees with x, $a_{ij} = [z_{ij} = x_j]$, and `same` whether it gets the class of x. Equal samples are one, with a weight.

# %%
samples = explainer.of("rule").samples(x)
table = pd.DataFrame(samples.agreement.astype(int), columns=samples.features)
table.assign(same=samples.same.astype(int), weight=samples.weights)

# %% [markdown]
# A rule is a set $S$ of at most k features. It *covers* sample i when $a_{ij} = 1$ for all $j \in S$. Its *loss* is the weight of what it gets wrong: samples of another class that it covers, and samples of the class that it misses.


# %%
def loss(chosen):
    """Return the loss of a set of features, by the definition."""
    covered = samples.agreement[:, list(chosen)].all(axis=1)
    return int(samples.weights[covered != samples.same].sum())


loss([]), loss([7]), loss([0, 7])

# %% [markdown]
# There are few sets of at most two features, so we can try them all:

# %%
sets = [chosen for size in range(3) for chosen in combinations(range(len(samples.features)), size)]
best = min(sets, key=loss)
print(len(sets), "sets; least loss", loss(best), "by", [samples.features[j] for j in best])

# %% [markdown]
# With 100 features and k = 5 there are 79 million. Engines do not try them all. They need a statement.

# %%
problem = cpx.KMonomial(samples, k=2)
result = cpx.solve(problem, "cpsat")
assert result.objective == loss(best)
result

# %% [markdown]
# ## A statement
#
# $X_j$ says that feature j is chosen, $V_i$ that sample i is covered. On four samples:

# %%
four = cpx.KMonomial(
    cpx.Samples(
        agreement=[[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 0], [0, 1, 1, 0]],
        same=[1, 0, 0, 0],
        features=("a", "b", "c", "d"),
    ),
    k=2,
)
print(show(four, "cpmpy", "reified"))

# %% [markdown]
# Read the lines against the samples. Sample 0 differs from x on d only, so it is covered exactly when d is not chosen. What covering it saves is the *net* cost, $-1$. What all costs when nothing is covered is a constant, the *offset*.
#
# ## Exercise 1.1: coverage
#
# The function below is an *encoding*: from the arrays of an instance to a statement. It has the choice of the features and the objective. It says nothing of $V_i$ yet, so an engine may take any value. State that $V_i$ holds exactly when no chosen feature differs.
#
# `X[~form.agreement[i]]` are the features on which sample i differs. `cp.any` of nothing is an error: take care of samples that differ on none.


# %%
# Exercise 1.1
def covers(form, X, V):
    """Return the constraints that make V[i] true exactly when sample i is covered."""
    rows = []
    for i in range(len(V)):
        differing = X[~form.agreement[i]]
        if len(differing) == 0:
            rows.append(V[i])
    return rows


# %%
def stated(form):
    """Return the definition of k-monomials as a statement."""
    m, d = form.agreement.shape
    X, V = cp.boolvar(shape=(d,), name="X"), cp.boolvar(shape=(m,), name="V")
    rows = [cp.sum(X) <= form.k, *covers(form, X, V)]
    net = form.cost_covered - form.cost_uncovered
    model = cp.Model(rows, minimize=cp.sum(int(c) * v for c, v in zip(net, V)))
    return Statement(model, {"X": X, "V": V}, None, offset=int(form.cost_uncovered.sum()))


PLAIN = ("limits", "required", "forbidden", "one_per_group")  # not yet stated

# %%
# Mark of 1.1
cpx.grade(stated, without=PLAIN, n=60)

# %% [markdown]
# The verdict shows the smallest instance on which the model is wrong: the samples, a set S, and what problem and model say of it.
#
# ## Exercise 1.2: what else is asked
#
# Instances may *require* features and *forbid* others: `form.required` and `form.forbidden` are lists of indices. With `form.groups` not None, at most one feature of each group may be chosen: `form.groups[j]` is the group of j. Complete the list.


# %%
# Exercise 1.2
def allowed(form, X):
    """Return the constraints on what may be chosen, besides how many."""
    return [X[j] for j in form.required]


# %%
def whole(form):
    """Return the statement with the constraints on what may be chosen."""
    plain = stated(form)
    X = plain.variables["X"]
    rows = [*plain.model.constraints, *allowed(form, X)]
    model = cp.Model(rows, minimize=plain.model.objective_)
    return Statement(model, plain.variables, None, offset=plain.offset)


# %%
# Mark of 1.2
cpx.grade(whole, without="limits", n=120)

# %% [markdown]
# ## Exercise 1.3: a known solution
#
# An engine may begin with a known rule, if it is told values of *all* variables. That is the third part of a statement: `complete` maps a set of features to arrays. `form.covered(chosen)` says which samples a set covers.


# %%
# Exercise 1.3
def completed(form, chosen):
    """Return values of X and V for a set of chosen features."""
    m, d = form.agreement.shape
    return {"X": np.zeros(d, dtype=int), "V": np.zeros(m, dtype=int)}


# %%
def with_hints(form):
    """Return the whole statement with ``complete``."""
    plain = whole(form)
    return Statement(
        plain.model, plain.variables, lambda chosen: completed(form, chosen), offset=plain.offset
    )


# %%
# Mark of 1.3
cpx.grade(with_hints, without="limits", n=60)

# %% [markdown]
# ## Use it
#
# An encoding that is right can be used by its name, with any engine:

# %%
add_encoding("k-monomial", Encoding("mine", with_hints, limits=False))
print(cpx.solve(problem, "maxsat", encoding="mine"))

# %% [markdown]
# The line "statement" says that the encoding is none of cpx: it was held against the definition on tiny instances before its bound was believed.
#
# ## Questions
#
# 1. Which rule has the least loss for k = 1, and which for k = 3? Is the one a part of the other?
# 2. The empty rule covers all. When is its loss the least?
# 3. Why must costs be whole numbers?

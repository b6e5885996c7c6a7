# %%
# Exercise 1.1
def covers(form, X, V):
    """Return the constraints that make V[i] true exactly when sample i is covered."""
    rows = []
    for i in range(len(V)):
        differing = X[~form.agreement[i]]
        rows.append(V[i] == ~cp.any(differing) if len(differing) else V[i])
    return rows


# %%
# Exercise 1.2
def allowed(form, X):
    """Return the constraints on what may be chosen, besides how many."""
    rows = [X[j] for j in form.required] + [~X[j] for j in form.forbidden]
    if form.groups is not None:
        rows += [cp.sum(X[form.groups == group]) <= 1 for group in np.unique(form.groups)]
    return rows


# %%
# Exercise 1.3
def completed(form, chosen):
    """Return values of X and V for a set of chosen features."""
    d = form.agreement.shape[1]
    return {"X": np.isin(np.arange(d), chosen).astype(int), "V": form.covered(chosen).astype(int)}

# %%
# Exercise 5.1
def by_sample(form, X, U):
    """Return a row for each sample that costs when it is not covered."""
    rows = []
    for i, u in U.items():
        differing = X[~form.agreement[i]]
        rows.append(cp.sum(differing) <= min(form.k, len(differing)) * u)
    return rows


# %%
# Exercise 5.2
def by_pair(form, X, U):
    """Return the rows that charge the samples which chosen features lose."""
    return [x <= u for i, u in U.items() for x in X[~form.agreement[i]]]

# %%
# Exercise 8.1
def costs(weights, same, alarm):
    """Return the costs of covering, and of not covering, each sample."""
    return np.where(same, 0, alarm * weights), np.where(same, weights, 0)


# %%
# Exercise 8.2
def rows(form, X, C, U):
    """Return the rows that charge samples; C and U map samples to variables."""
    charged = [c + cp.sum(X[~form.agreement[i]]) >= 1 for i, c in C.items()]
    return charged + [x <= u for i, u in U.items() for x in X[~form.agreement[i]]]


# %%
# Exercise 8.3
def judge(instance):
    """Read an instance; return what says what is wrong with a result."""
    agrees = np.array([[bit == "1" for bit in row] for row in instance["samples"]])
    same = np.array([label == "1" for label in instance["labels"]])
    weights = np.array(instance.get("weights") or [1] * len(same))
    k, alarm = instance["parameters"]["k"], instance["parameters"]["alarm"]

    def wrong(result):
        chosen = result["explanation"]["features"]
        covered = agrees[:, chosen].all(axis=1)
        value = alarm * weights[covered & ~same].sum() + weights[~covered & same].sum()
        found = ["the rule is too long"] if len(chosen) > k else []
        if value != result["objective"]:
            found.append(f"the value is {value}, not {result['objective']}")
        return found

    return wrong

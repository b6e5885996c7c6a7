"""Explain a prediction of a neural network, and see what the explanation is worth."""

from sklearn.datasets import load_wine
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cpx

data = load_wine(as_frame=True)
X = data.data
network = make_pipeline(StandardScaler(), MLPClassifier(max_iter=500, random_state=0))
network.fit(X, data.target)

x = X.iloc[100]
names = {0: "first cultivar", 1: "second cultivar", 2: "third cultivar"}

for k in (1, 2, 3):
    explanation = cpx.explain(network, X, x, k=k, class_names=names)
    print(f"at most {k}: {explanation}")
    print(f"  precision {explanation.fresh}, coverage {explanation.coverage}")

# The same question about another world: columns drawn independently of each other.
explanation = cpx.explain(network, X, x, k=3, class_names=names, distribution="product")
print(f"\nindependent columns: {explanation}")
print(f"  precision {explanation.fresh}, coverage {explanation.coverage}")

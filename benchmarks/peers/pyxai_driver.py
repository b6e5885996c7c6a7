"""Ask PyXAI for reasons: ``python pyxai_driver.py QUESTIONS ANSWERS``, both JSON files.

Runs in an interpreter that has PyXAI, so it imports nothing of cpx. Each call is made in a
process of its own, forked after the model is read and the row is set, and killed with its
children when they have used more processor time than the cap.
"""

import base64
import json
import os
import pickle
import resource
import signal
import sys
import time
from importlib.metadata import version

_PARENT = os.getppid()


def main(questions, answers):
    """Answer all calls for all rows."""
    from pyxai import Explaining, Learning

    with open(questions) as file:
        asked = json.load(file)
    trees = pickle.loads(base64.b64decode(asked["forest"]))
    _, model = Learning.ModelIO.import_models(trees, instances_type="tabular")
    model.learner_information.feature_names = asked["names"]
    numerical = {"numerical": Learning.DEFAULT}
    explainers = {
        theory: Explaining.initialize(model, features_type=numerical if theory else None)
        for theory in {call["theory"] for call in asked["calls"]}
    }
    tests = model.map_id_binaries_to_features
    found = []
    for number, row in enumerate(asked["rows"]):
        for call in asked["calls"]:
            if number >= call["rows"]:
                continue
            explainer = explainers[call["theory"]]
            start = time.perf_counter()
            explainer.set_instance(row)
            ready = time.perf_counter() - start
            answer = _forked(explainer, call, asked["cap"])
            if answer["reason"] is not None:
                answer["reason"] = [
                    [tests[abs(v)][0] - 1, float(tests[abs(v)][2]), v > 0]
                    for v in answer["reason"]
                ]
            found.append(
                {
                    "row": number,
                    "name": call["name"],
                    "class": int(explainer.target_prediction),
                    "binary": len(explainer.binary_representation),
                    "preparing": ready,
                    **answer,
                }
            )
    versions = {name: version(name) for name in ("pyxai", "scikit-learn", "python-sat")}
    with open(answers, "w") as file:
        json.dump({"versions": versions, "found": found}, file)


def _forked(explainer, call, cap):
    here, there = os.pipe()
    start, used = time.perf_counter(), 0.0
    child = os.fork()
    if not child:
        os.setsid()
        os.close(here)
        try:
            reason = getattr(explainer, call["method"])(**call["options"])
            told = {"reason": None if reason is None else [int(v) for v in reason], "error": None}
        except Exception as error:
            told = {"reason": None, "error": f"{type(error).__name__}: {error}"}
        usage = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        told["cpu"] = sum(u.ru_utime + u.ru_stime for u in usage)
        told["elapsed"] = float(explainer.elapsed_time)
        with os.fdopen(there, "w") as pipe:
            json.dump(told, pipe)
        os._exit(0)
    os.close(there)
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        used = time.perf_counter() - start
        orphaned = os.getppid() != _PARENT
        if orphaned or (used > cap and (used := _used(child)) > cap):
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            if orphaned:
                sys.exit("the benchmark has ended")
            break
        time.sleep(min(0.2, 0.001 + 0.05 * used))
    wall = time.perf_counter() - start
    with os.fdopen(here) as pipe:
        text = pipe.read()
    if not text:
        return {"reason": None, "error": "killed", "cpu": used, "elapsed": None, "wall": wall}
    return {**json.loads(text), "wall": wall}


def _used(session):
    """Return the processor seconds of all processes of a session, on Linux."""
    total = 0
    for place in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{place}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            total += sum(map(int, fields[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(*sys.argv[1:])

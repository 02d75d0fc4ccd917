#!/usr/bin/python3
"""Compares runall train without settings with scikit-learn and LIBSVM.

    peers.py RUNALL OUT [SET...]

For each data set it trains `runall train` with no flag but the label's column,
scikit-learn's SVC(gamma="scale") and Nystroem + SGDClassifier on standardized
features, and svm-train on the output of svm-scale; all other settings are the
defaults. It appends one line of JSON for each to OUT.jsonl, skips what is there
already, and writes the table to OUT.txt.

CPU seconds are those of all threads: of the whole process for runall and
svm-train (reading the file included, svm-scale excluded), of fit alone for
scikit-learn, without the scaling.

It needs Debian's python3-sklearn and libsvm-tools. Letter, Satimage and
Fashion-MNIST are read from $POLK_DATA_DIR.
"""

import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import sklearn
from sklearn import datasets
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

DATA = os.environ.get("POLK_DATA_DIR", "data/cache")


def bundled(load):
    """Two thirds of a data set of scikit-learn train, the rest test."""
    x, y = load(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))
    cut = len(y) * 2 // 3
    return x[order[:cut]], y[order[:cut]], x[order[cut:]], y[order[cut:]]


def generated(make, rows, test, **kw):
    x, y = make(np.random.default_rng(2), rows + test, **kw)
    return x[:rows], y[:rows], x[rows:], y[rows:]


def spirals(rng, n):
    t = np.sqrt(rng.uniform(0.02, 1, n)) * 3 * np.pi
    y = rng.integers(0, 2, n)
    x = np.c_[t * np.cos(t + np.pi * y), t * np.sin(t + np.pi * y)]
    return x + rng.normal(0, 0.25, x.shape), y


def checkerboard(rng, n):
    x = rng.uniform(0, 4, (n, 2))
    return x, (np.floor(x).sum(axis=1) % 2).astype(int)


def ringnorm(rng, n):
    """Breiman's: one class has four times the other's variance."""
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 20))
    return np.where(y[:, None] == 0, 2 * x, x + 2 / np.sqrt(20)), y


def waveform(rng, n):
    """Breiman's, with 19 features of noise, sorted by nothing."""
    i = np.arange(1, 22)
    h = np.array([np.maximum(6 - abs(i - c), 0) for c in (7, 15, 11)])
    y = rng.integers(0, 3, n)
    u = rng.uniform(size=(n, 1))
    a, b = np.array([0, 0, 1])[y], np.array([1, 2, 2])[y]
    return np.c_[u * h[a] + (1 - u) * h[b], np.zeros((n, 19))] + rng.normal(size=(n, 40)), y


def moons(rng, n):
    """Moons on scales of 1000 and 0.001 beside three features of noise."""
    x, y = datasets.make_moons(n, noise=0.2, random_state=3)
    return np.c_[1000 * x[:, 0], 0.001 * x[:, 1], rng.normal(5, 1, (n, 3))], y


def classification(rng, n, features=54, weights=None):
    return datasets.make_classification(
        n, features, n_informative=12, n_redundant=10, n_classes=4, n_clusters_per_class=3,
        class_sep=1.2, flip_y=0.02, weights=weights, random_state=4)


def letter():
    rows = np.loadtxt(f"{DATA}/letter/letter-recognition.data", delimiter=",", dtype=str)
    x, y = rows[:, 1:].astype(float), rows[:, 0]
    return x[:16000], y[:16000], x[16000:], y[16000:]


def satimage():
    a, b = (np.loadtxt(f"{DATA}/satimage/sat.{part}") for part in ("trn", "tst"))
    return a[:, :-1], a[:, -1].astype(int), b[:, :-1], b[:, -1].astype(int)


def fashion():
    def idx(name, skip):
        with gzip.open(f"{DATA}/fashion-mnist/{name}.gz") as f:
            return np.frombuffer(f.read(), np.uint8, offset=skip)
    x, y = idx("train-images-idx3-ubyte", 16).reshape(-1, 784), idx("train-labels-idx1-ubyte", 8)
    u, v = idx("t10k-images-idx3-ubyte", 16).reshape(-1, 784), idx("t10k-labels-idx1-ubyte", 8)
    return x.astype(float), y, u.astype(float), v


SETS = {
    "iris": lambda: bundled(datasets.load_iris),
    "wine": lambda: bundled(datasets.load_wine),
    "breast-cancer": lambda: bundled(datasets.load_breast_cancer),
    "digits": lambda: bundled(datasets.load_digits),
    "spirals": lambda: generated(spirals, 1000, 4000),
    "moons": lambda: generated(moons, 3000, 6000),
    "satimage": satimage,
    "checkerboard": lambda: generated(checkerboard, 8000, 8000),
    "waveform": lambda: generated(waveform, 10000, 10000),
    "ringnorm": lambda: generated(ringnorm, 10000, 10000),
    "letter": letter,
    "imbalanced": lambda: generated(classification, 20000, 10000, features=30, weights=[0.85, 0.05, 0.05, 0.05]),
    "classification": lambda: generated(classification, 30000, 10000),
    "fashion-mnist": fashion,
}


def own(runall, files, sets):
    train, test = files["csv"]
    model = train + ".model"
    seconds, _ = run([runall, "train", train, "--label", "last", "--out", model])
    _, out = run([runall, "evaluate", model, test])
    figures = dict(line.split(None, 1) for line in out.splitlines() if " " in line)
    return seconds, float(figures["error"].split()[0]), int(out.split("model order")[1].split()[0])


def svc(_, files, sets):
    return fitted(SVC(gamma="scale"), sets, lambda m: int(m.n_support_.sum()))


def nystroem(_, files, sets):
    parts = min(100, len(sets[1]))
    return fitted(make_pipeline(Nystroem(n_components=parts, random_state=0), SGDClassifier(random_state=0)), sets, lambda m: parts)


def fitted(model, sets, order):
    x, y, u, v = sets
    scaler = StandardScaler().fit(x)
    x, u = scaler.transform(x), scaler.transform(u)
    start = time.process_time()
    model.fit(x, y)
    seconds = time.process_time() - start
    wrong = sum(np.count_nonzero(model.predict(u[i:i + 1000]) != v[i:i + 1000]) for i in range(0, len(v), 1000))
    return seconds, 100 * wrong / len(v), order(model)


def svm_train(_, files, sets):
    train, test = files["libsvm"]
    with open(train + ".scaled", "w") as f:
        subprocess.run(["svm-scale", "-s", train + ".range", train], stdout=f, check=True)
    with open(test + ".scaled", "w") as f:
        subprocess.run(["svm-scale", "-r", train + ".range", test], stdout=f, stderr=subprocess.DEVNULL, check=True)
    seconds, _ = run(["svm-train", "-q", train + ".scaled", train + ".model"])
    _, out = run(["svm-predict", test + ".scaled", train + ".model", os.devnull])
    with open(train + ".model") as f:
        order = next(int(line.split()[1]) for line in f if line.startswith("total_sv"))
    return seconds, 100 - float(out.split("=")[1].split("%")[0]), order


def run(command):
    """Returns the CPU seconds of a command and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


METHODS = {"runall": own, "SVC": svc, "Nystroem+SGD": nystroem, "svm-train": svm_train}


def write(sets, folder):
    x, y, u, v = sets
    names = {label: i for i, label in enumerate(sorted(set(y.tolist())))}
    files = {}
    for kind in ("csv", "libsvm"):
        for part, a, b in (("train", x, y), ("test", u, v)):
            path = f"{folder}/{part}.{kind}"
            files.setdefault(kind, []).append(path)
            with open(path, "w") as f:
                for row, label in zip(a.tolist(), b.tolist()):
                    if kind == "csv":
                        f.write(",".join("%.9g" % value for value in row) + f",{label}\n")
                    else:
                        f.write(str(names[label]) + "".join(" %d:%.9g" % (q + 1, value) for q, value in enumerate(row) if value) + "\n")
    return files


def table(records):
    lines = ["%-15s %6s %5s %7s " % ("data set", "rows", "feat.", "classes") + "".join("%24s" % m for m in METHODS),
             "%-36s " % "" + "".join("%24s" % "error %   CPU s   order" for _ in METHODS)]
    near = faster = big = complete = 0
    for name in SETS:
        row = [records.get((name, m)) for m in METHODS]
        if not any(row):
            continue
        first = next(r for r in row if r)
        lines.append("%-15s %6d %5d %7d " % (name, first["rows"], first["features"], first["classes"]) + "".join(
            "%8.2f %8.2f %6d" % (r["error"], r["seconds"], r["order"]) if r else "%24s" % "-" for r in row))
        if row[0] and row[1]:
            complete += 1
            near += row[0]["error"] <= row[1]["error"] + 1
            if first["rows"] > 5000:
                big += 1
                faster += row[0]["seconds"] < row[1]["seconds"]
    lines.append(f"\nrunall within 1 point of SVC's error or below it: {near} of {complete} sets; "
                 f"less CPU time than SVC: {faster} of {big} sets of more than 5,000 rows")
    return "\n".join(lines) + "\n"


def main():
    runall, out, wanted = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:] or SETS
    records = {}
    if os.path.exists(out + ".jsonl"):
        with open(out + ".jsonl") as f:
            for r in map(json.loads, f):
                records[r["set"], r["method"]] = r
    for name in wanted:
        if all((name, m) in records for m in METHODS):
            continue
        sets = SETS[name]()
        with tempfile.TemporaryDirectory() as folder:
            files = write(sets, folder)
            for method, measure in METHODS.items():
                if (name, method) in records:
                    continue
                seconds, error, order = measure(runall, files, sets)
                r = {"set": name, "method": method, "rows": len(sets[1]), "features": sets[0].shape[1], "classes": len(set(sets[1].tolist())),
                     "error": round(error, 3), "seconds": round(seconds, 3), "order": order}
                records[name, method] = r
                with open(out + ".jsonl", "a") as f:
                    f.write(json.dumps(r) + "\n")
                print(json.dumps(r), file=sys.stderr)
    _, version = run([runall, "version"])
    with open(out + ".txt", "w") as f:
        f.write(version.strip() + f"\nscikit-learn {sklearn.__version__}, numpy {np.__version__}\n\n" + table(records))


if __name__ == "__main__":
    main()

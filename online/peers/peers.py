#!/usr/bin/python3
"""Compares runall train without settings with scikit-learn.

    peers.py RUNALL OUT [SET...]

On five splits of each data set it trains `runall train` with no flag but the label's
column, the same with --tolerance 0, and scikit-learn's SVC(gamma="scale") (LIBSVM) and
Nystroem + SGDClassifier on standardized features, with their defaults. It appends one
line of JSON for each to OUT.jsonl, skips what is there already, and writes the table
of means to OUT.txt.

Split 0 is the published one where there is one. The others are draws of their own of
generated data, and random splits of all rows into parts of the same sizes elsewhere.

CPU seconds are those of all threads: of the whole process for runall (reading the file
included), of fit alone for scikit-learn, without the scaling.

It needs Debian's python3-sklearn. Letter, Satimage and Fashion-MNIST are read from
$POLK_DATA_DIR.
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


SPLITS = 5


def bundled(split, load):
    """Two thirds of a data set of scikit-learn for training, the rest for testing."""
    x, y = load(return_X_y=True)
    order = np.random.default_rng(1 + split).permutation(len(y))
    cut = len(y) * 2 // 3
    return x[order[:cut]], y[order[:cut]], x[order[cut:]], y[order[cut:]]


def generated(split, make, rows, test, **kw):
    x, y = make(np.random.default_rng(2 + split), rows + test, **kw)
    return x[:rows], y[:rows], x[rows:], y[rows:]


def resplit(split, x, y, u, v):
    """The published split, or a random one into parts of the same sizes."""
    if split == 0:
        return x, y, u, v
    order = np.random.default_rng(split).permutation(len(y) + len(v))
    x, y, cut = np.concatenate([x, u])[order], np.concatenate([y, v])[order], len(y)
    return x[:cut], y[:cut], x[cut:], y[cut:]


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
    """Breiman's, unsorted, with 19 features of noise."""
    i = np.arange(1, 22)
    h = np.array([np.maximum(6 - abs(i - c), 0) for c in (7, 15, 11)])
    y = rng.integers(0, 3, n)
    u = rng.uniform(size=(n, 1))
    a, b = np.array([0, 0, 1])[y], np.array([1, 2, 2])[y]
    return np.c_[u * h[a] + (1 - u) * h[b], np.zeros((n, 19))] + rng.normal(size=(n, 40)), y


def moons(rng, n, state):
    """Moons on scales of 1000 and 0.001 beside three features of noise."""
    x, y = datasets.make_moons(n, noise=0.2, random_state=state)
    return np.c_[1000 * x[:, 0], 0.001 * x[:, 1], rng.normal(5, 1, (n, 3))], y


def classification(rng, n, state, features=54, weights=None):
    return datasets.make_classification(
        n, features, n_informative=12, n_redundant=10, n_classes=4, n_clusters_per_class=3,
        class_sep=1.2, flip_y=0.02, weights=weights, random_state=state)


def letter(split):
    rows = np.loadtxt(f"{DATA}/letter/letter-recognition.data", delimiter=",", dtype=str)
    x, y = rows[:, 1:].astype(float), rows[:, 0]
    return resplit(split, x[:16000], y[:16000], x[16000:], y[16000:])


def satimage(split):
    a, b = (np.loadtxt(f"{DATA}/satimage/sat.{part}") for part in ("trn", "tst"))
    return resplit(split, a[:, :-1], a[:, -1].astype(int), b[:, :-1], b[:, -1].astype(int))


def fashion(split):
    def idx(name, skip):
        with gzip.open(f"{DATA}/fashion-mnist/{name}.gz") as f:
            return np.frombuffer(f.read(), np.uint8, offset=skip)
    x, y = idx("train-images-idx3-ubyte", 16).reshape(-1, 784), idx("train-labels-idx1-ubyte", 8)
    u, v = idx("t10k-images-idx3-ubyte", 16).reshape(-1, 784), idx("t10k-labels-idx1-ubyte", 8)
    return resplit(split, x.astype(float), y, u.astype(float), v)


SETS = {
    "iris": lambda split: bundled(split, datasets.load_iris),
    "wine": lambda split: bundled(split, datasets.load_wine),
    "breast-cancer": lambda split: bundled(split, datasets.load_breast_cancer),
    "digits": lambda split: bundled(split, datasets.load_digits),
    "spirals": lambda split: generated(split, spirals, 1000, 4000),
    "moons": lambda split: generated(split, moons, 3000, 6000, state=3 + split),
    "satimage": satimage,
    "checkerboard": lambda split: generated(split, checkerboard, 8000, 8000),
    "waveform": lambda split: generated(split, waveform, 10000, 10000),
    "ringnorm": lambda split: generated(split, ringnorm, 10000, 10000),
    "letter": letter,
    "imbalanced": lambda split: generated(split, classification, 20000, 10000, state=4 + split, features=30, weights=[0.85, 0.05, 0.05, 0.05]),
    "classification": lambda split: generated(split, classification, 30000, 10000, state=4 + split),
    "fashion-mnist": fashion,
}


def own(*flags):
    def measure(runall, files, sets):
        train, test = files
        model = train + ".model"
        seconds, _ = run([runall, "train", train, "--label", "last", *flags, "--out", model])
        _, out = run([runall, "evaluate", model, test])
        figures = dict(line.split(None, 1) for line in out.splitlines() if " " in line)
        return seconds, float(figures["error"].split()[0]), int(out.split("model order")[1].split()[0])
    return measure


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


def run(command):
    """Returns the CPU seconds of a command and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


METHODS = {"runall": own(), "--tolerance 0": own("--tolerance", "0"), "SVC": svc, "Nystroem+SGD": nystroem}


def write(sets, folder):
    x, y, u, v = sets
    files = []
    for part, a, b in (("train", x, y), ("test", u, v)):
        files.append(f"{folder}/{part}.csv")
        with open(files[-1], "w") as f:
            for row, label in zip(a.tolist(), b.tolist()):
                f.write(",".join("%.9g" % value for value in row) + f",{label}\n")
    return files


def mean(records, name, method):
    """Returns the means over the splits that SVC has too, or None if there are none."""
    splits = [s for s in range(SPLITS) if (name, s, method) in records and (name, s, "SVC") in records]
    rows = [records[name, s, method] for s in splits]
    if not rows:
        return None
    m = {key: float(np.mean([r[key] for r in rows])) for key in ("error", "seconds", "order")}
    m["ratio"] = float(np.mean([r["order"] / records[name, s, "SVC"]["order"] for r, s in zip(rows, splits)]))
    return m


def table(records):
    """Lays out a row for each data set and method, then the comparisons of the goals."""
    lines = ["%-15s %6s %5s %7s  %-13s %8s %8s %7s %10s" % ("data set", "rows", "feat.", "classes", "method", "error %", "CPU s", "order", "order/SVs")]
    means = {m: {} for m in METHODS}
    sizes = {}
    for name in SETS:
        known = next((r for (n, _, _), r in records.items() if n == name), None)
        if not known:
            continue
        sizes[name] = known["rows"]
        left = "%-15s %6d %5d %7d" % (name, known["rows"], known["features"], known["classes"])
        for method in METHODS:
            if m := mean(records, name, method):
                means[method][name] = m
                lines.append("%-36s  %-13s %8.2f %8.2f %7.0f %10.4f" % (left, method, m["error"], m["seconds"], m["order"], m["ratio"]))
                left = ""
    svc = means["SVC"]
    for method in ("runall", "--tolerance 0"):
        own = {n: m for n, m in means[method].items() if n in svc}
        if not own:
            continue
        large = [n for n in own if sizes[n] > 5000]
        lines += ["", f"{method}, means of up to {SPLITS} splits of {len(own)} sets:",
                  f"  error at most SVC's plus half a point: {sum(m['error'] <= svc[n]['error'] + 0.5 for n, m in own.items())} sets; "
                  f"mean error {np.mean([m['error'] for m in own.values()]):.2f} %, SVC's {np.mean([svc[n]['error'] for n in own]):.2f} %",
                  f"  order over SVC's support vectors: median {np.median([m['ratio'] for m in own.values()]):.4f}; "
                  f"above 1/5 with more than 1,000 rows: {', '.join(n for n, m in own.items() if sizes[n] > 1000 and m['ratio'] > 0.2) or 'none'}",
                  f"  CPU at most half of SVC's: {sum(own[n]['seconds'] <= svc[n]['seconds'] / 2 for n in large)} of {len(large)} sets of more than 5,000 rows"]
    return "\n".join(lines) + "\n"


def main():
    runall, out, wanted = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:] or SETS
    records = {}
    if os.path.exists(out + ".jsonl"):
        with open(out + ".jsonl") as f:
            for r in map(json.loads, f):
                records[r["set"], r["split"], r["method"]] = r
    for name in wanted:
        for split in range(SPLITS):
            todo = [m for m in METHODS if (name, split, m) not in records]
            if not todo:
                continue
            sets = SETS[name](split)
            with tempfile.TemporaryDirectory() as folder:
                files = write(sets, folder)
                for method in todo:
                    seconds, error, order = METHODS[method](runall, files, sets)
                    r = {"set": name, "split": split, "method": method, "rows": len(sets[1]), "features": sets[0].shape[1],
                         "classes": len(set(sets[1].tolist())), "error": round(error, 3), "seconds": round(seconds, 3), "order": order}
                    records[name, split, method] = r
                    with open(out + ".jsonl", "a") as f:
                        f.write(json.dumps(r) + "\n")
                    print(json.dumps(r), file=sys.stderr)
    _, version = run([runall, "version"])
    with open(out + ".txt", "w") as f:
        f.write(version.strip() + f"\nscikit-learn {sklearn.__version__}, numpy {np.__version__}\n\n" + table(records))


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Compares runall train without settings with scikit-learn.

    peers.py RUNALL OUT [SET...]

On five splits of each data set it trains `runall train` with no flag but the label's
column (and the loss, for a regression), the same without a learned metric and with
--tolerance 0, and scikit-learn's SVC or SVR with defaults and tuned (LIBSVM),
Nystroem + SGDClassifier, histogram boosting and a network of 64 units, on standardized
features. Tuned means the best of twelve pairs of C and gamma by three folds of at most
3,000 training rows; the search counts as CPU time. Nobody chooses on test rows. The
program appends one line of JSON for each to OUT.jsonl, skips what is there already, and
writes the table of means to OUT.txt.

Split 0 is the published one where there is one. The others are draws of their own of
generated data, and random splits of all rows into parts of the same sizes elsewhere.

CPU seconds are those of all threads: of the whole process for runall (reading the file
included), of fit and of any search for scikit-learn, without the scaling.

It needs Debian's python3-sklearn. Letter, Satimage, a9a and Fashion-MNIST are read from
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

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for others would count as CPU time

import numpy as np
import sklearn
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

DATA = os.environ.get("POLK_DATA_DIR", "data/cache")


SPLITS = 5
ONCE = {"fashion-mnist", "a9a"}  # the published split alone: an SVM takes minutes


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


def scales(rng, n):
    """A rule of six columns on scales of 0.01 to 1,000, six columns of noise on the same
    scales, and 8 % of the labels exchanged."""
    u = rng.uniform(-1, 1, (n, 12))
    f = np.sin(3 * u[:, 0]) * u[:, 1] + u[:, 2] ** 2 - u[:, 3] * u[:, 4] + 0.5 * np.cos(4 * u[:, 5]) - 0.3
    y = (f > 0) ^ (rng.uniform(size=n) < 0.08)
    return u * np.logspace(-2, 3, 12)[rng.permutation(12)], y.astype(int)


def customers(rng, n):
    """A table as companies have it: amounts, counts, ages, codes, and columns of noise."""
    age, tenure = rng.integers(18, 90, n), rng.exponential(4, n)
    income, balance = rng.lognormal(10, 0.6, n), rng.normal(0, 3000, n)
    calls, channel, visits = rng.poisson(1.5, n), rng.integers(0, 5, n), rng.poisson(6, n)
    risk = ((np.log(income) - 10) * -0.9 + (calls - 1.5) * 0.8 + np.where(channel == 3, 1.5, 0) + 1.2 * np.sin(age / 12)
            - 0.25 * (tenure - 4) + 1.5 * (balance < -2000) - 0.05 * (visits - 6) * (channel == 1))
    y = (risk + rng.logistic(0, 0.25, n) > 0.6).astype(int)
    return np.c_[age, tenure, income, balance, calls, channel, visits, rng.lognormal(5, 1, (n, 5)), rng.normal(size=(n, 5))], y


def sine(rng, n):
    x = rng.uniform(size=(n, 5))
    return x, np.sin(5 * x[:, 0]) + x[:, 1] + rng.normal(0, 0.1, n)


def friedman(make, noise):
    return lambda rng, n: make(n, noise=noise, random_state=int(rng.integers(1 << 30)))


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


def a9a(split):
    (x, y), (u, v) = (datasets.load_svmlight_file(f"{DATA}/a9a/a9a_{part}.svm.gz", n_features=123) for part in ("train", "test"))
    return resplit(split, x.toarray(), y.astype(int), u.toarray(), v.astype(int))


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
    "scales": lambda split: generated(split, scales, 12000, 10000),
    "customers": lambda split: generated(split, customers, 40000, 10000),
    "a9a": a9a,
    "fashion-mnist": fashion,
    "sine": lambda split: generated(split, sine, 2000, 10000),
    "friedman 1": lambda split: generated(split, friedman(datasets.make_friedman1, 1), 3000, 10000),
    "friedman 2": lambda split: generated(split, friedman(datasets.make_friedman2, 30), 3000, 10000),
    "friedman 3": lambda split: generated(split, friedman(datasets.make_friedman3, 0.1), 3000, 10000),
}

# The standard deviation of the noise: the RMSE of the true function.
NOISE = {"sine": 0.1, "friedman 1": 1, "friedman 2": 30, "friedman 3": 0.1}
HEADED = {"scales", "customers"}  # written with names of the columns


def own(*flags):
    def measure(runall, files, sets, regression):
        train, test = files
        model = train + ".model"
        loss = ["--loss", "squared"] if regression else []
        seconds, _ = run([runall, "train", train, "--label", "last", *loss, *flags, "--out", model])
        _, out = run([runall, "evaluate", model, test])
        figures = dict(line.split(None, 1) for line in out.splitlines() if " " in line)
        error = float(figures["RMSE" if regression else "error"].split()[0])
        return seconds, error, int(out.split("model order")[1].split()[0])
    return measure


def support(m):
    return len(m.support_)


def svm(regression, **settings):
    return (SVR if regression else SVC)(**settings)


def svc(_, files, sets, regression):
    return fitted(svm(regression, gamma="scale"), sets, support, regression)


GRID = {"C": [1, 10, 100], "gamma": [0.25, 1, 4, 16]}  # gamma times the default


def tuned(_, files, sets, regression):
    x, y, _, _ = sets
    start = time.process_time()
    part = np.random.default_rng(0).permutation(len(y))[:3000]
    x = StandardScaler().fit_transform(x[part])
    default = 1 / (x.shape[1] * x.var())
    grid = {"C": GRID["C"], "gamma": [default * g for g in GRID["gamma"]]}
    best = GridSearchCV(svm(regression), grid, cv=3).fit(x, y[part]).best_params_
    search = time.process_time() - start
    seconds, error, order = fitted(svm(regression, **best), sets, support, regression)
    return search + seconds, error, order


def nystroem(_, files, sets, regression):
    parts = min(100, len(sets[1]))
    return fitted(make_pipeline(Nystroem(n_components=parts, random_state=0), SGDClassifier(random_state=0)), sets, lambda m: parts, regression)


def boosting(_, files, sets, regression):
    model = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    return fitted(model(random_state=0), sets, lambda m: m.n_iter_, regression)


def network(_, files, sets, regression):
    model = MLPRegressor if regression else MLPClassifier
    return fitted(model((64,), random_state=0), sets, lambda m: 64, regression)


def fitted(model, sets, order, regression):
    x, y, u, v = sets
    scaler = StandardScaler().fit(x)
    x, u = scaler.transform(x), scaler.transform(u)
    mean, deviation = (y.mean(), y.std()) if regression else (0, 1)
    start = time.process_time()
    model.fit(x, (y - mean) / deviation if regression else y)
    seconds = time.process_time() - start
    predicted = np.concatenate([model.predict(u[i:i + 1000]) for i in range(0, len(v), 1000)])
    if regression:
        return seconds, float(np.sqrt(np.mean((predicted * deviation + mean - v) ** 2))), order(model)
    return seconds, 100 * float(np.mean(predicted != v)), order(model)


def run(command):
    """Returns the CPU seconds of a command and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


METHODS = {"runall": own(), "without metric": own("--scale", "standard"), "--tolerance 0": own("--tolerance", "0"), "SVM": svc, "tuned SVM": tuned,
           "Nystroem+SGD": nystroem, "boosting": boosting, "network": network}
OTHERS = ["SVM", "tuned SVM", "Nystroem+SGD", "boosting", "network"]


def write(sets, folder, headed):
    x, y, u, v = sets
    files = []
    for part, a, b in (("train", x, y), ("test", u, v)):
        files.append(f"{folder}/{part}.csv")
        with open(files[-1], "w") as f:
            if headed:
                f.write(",".join(f"column_{q}" for q in range(x.shape[1])) + ",outcome\n")
            for row, label in zip(a.tolist(), b.tolist()):
                f.write(",".join("%.9g" % value for value in row) + f",{label}\n")
    return files


def mean(records, name, method):
    """Returns the means over the splits that the tuned SVM has too, or None if there are none."""
    splits = [s for s in range(SPLITS) if (name, s, method) in records and (name, s, "tuned SVM") in records]
    rows = [records[name, s, method] for s in splits]
    if not rows:
        return None
    m = {key: float(np.mean([r[key] for r in rows])) for key in ("error", "seconds", "order")}
    m["ratio"] = float(np.mean([r["order"] / records[name, s, "tuned SVM"]["order"] for r, s in zip(rows, splits)]))
    return m


def table(records):
    """Lays out a row for each data set and method, then the comparisons of the goals."""
    lines = ["%-15s %6s %5s %7s  %-14s %8s %8s %7s %10s" % ("data set", "rows", "feat.", "classes", "method", "error", "CPU s", "order", "order/SVs")]
    means, sizes = {}, {}
    for name in SETS:
        known = next((r for (n, _, _), r in records.items() if n == name), None)
        if not known:
            continue
        sizes[name], means[name] = known["rows"], {}
        left = "%-15s %6d %5d %7s" % (name, known["rows"], known["features"], "" if name in NOISE else known["classes"])
        for method in METHODS:
            if m := mean(records, name, method):
                means[name][method] = m
                lines.append("%-36s  %-14s %8.4g %8.2f %7.0f %10.4f" % (left, method, m["error"], m["seconds"], m["order"], m["ratio"]))
                left = ""
    lines += ["", "Errors are in %, for the regressions the RMSE. order/SVs: order over the support vectors of the tuned SVM."]
    for own in ("runall", "without metric", "--tolerance 0"):
        lines += summary(own, {n: m for n, m in means.items() if own in m and "tuned SVM" in m}, sizes)
    return "\n".join(lines) + "\n"


def summary(own, means, sizes):
    """Compares a way of training with the methods of others."""
    classes = {n: m for n, m in means.items() if n not in NOISE}
    lines = ["", f"{own}, means of up to {SPLITS} splits:"]
    for what, group in (("classification", classes), ("regression", {n: m for n, m in means.items() if n in NOISE})):
        if not group:
            continue
        methods = [own] + [o for o in OTHERS if all(o in m for m in group.values())]
        ranks = {o: np.mean([1 + sum(m[p]["error"] < m[o]["error"] for p in methods) for m in group.values()]) for o in methods}
        lines.append(f"  {what}, {len(group)} sets, mean rank: " + ", ".join(f"{o} {r:.2f}" for o, r in sorted(ranks.items(), key=lambda x: x[1])))
    if classes:
        peer = "tuned SVM"
        large = [n for n in classes if sizes[n] > 5000]
        above = [n for n, m in classes.items() if m[own]["error"] > m[peer]["error"] + 0.5]
        lines += [f"  mean error {np.mean([m[own]['error'] for m in classes.values()]):.2f} %, " + ", ".join(
                      f"{o} {np.mean([m[o]['error'] for m in classes.values()]):.2f}" for o in OTHERS if all(o in m for m in classes.values())),
                  f"  more than half a point above the tuned SVM: {', '.join(above) or 'none'}",
                  f"  order over the tuned SVM's support vectors: median {np.median([m[own]['ratio'] for m in classes.values()]):.4f}",
                  f"  CPU at most a third of the tuned SVM's: {sum(classes[n][own]['seconds'] <= classes[n][peer]['seconds'] / 3 for n in large)} of {len(large)} sets of more than 5,000 rows"]
    noise = [f"{n} {m[own]['error'] / NOISE[n]:.3f}" for n, m in means.items() if n in NOISE]
    if noise:
        lines.append(f"  RMSE over the noise: {', '.join(noise)}")
    return lines


def main():
    runall, out, wanted = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:] or SETS
    records = {}
    if os.path.exists(out + ".jsonl"):
        with open(out + ".jsonl") as f:
            for r in map(json.loads, f):
                records[r["set"], r["split"], r["method"]] = r
    for name in wanted:
        for split in range(1 if name in ONCE else SPLITS):
            todo = [m for m in METHODS if (name, split, m) not in records and not (name in NOISE and m == "Nystroem+SGD")]
            if not todo:
                continue
            sets = SETS[name](split)
            with tempfile.TemporaryDirectory() as folder:
                files = write(sets, folder, name in HEADED)
                for method in todo:
                    seconds, error, order = METHODS[method](runall, files, sets, name in NOISE)
                    r = {"set": name, "split": split, "method": method, "rows": len(sets[1]), "features": sets[0].shape[1],
                         "classes": len(set(sets[1].tolist())), "error": round(error, 5), "seconds": round(seconds, 3), "order": order}
                    records[name, split, method] = r
                    with open(out + ".jsonl", "a") as f:
                        f.write(json.dumps(r) + "\n")
                    print(json.dumps(r), file=sys.stderr)
    _, version = run([runall, "version"])
    with open(out + ".txt", "w") as f:
        f.write(version.strip() + f"\nscikit-learn {sklearn.__version__}, numpy {np.__version__}\n\n" + table(records))


if __name__ == "__main__":
    main()

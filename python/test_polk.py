"""The promises of polk.py, for the test TestCheckPython of cmd/runall."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.utils.estimator_checks import check_estimator

import polk

rng = np.random.default_rng(1)
X = rng.normal(size=(1500, 3))
TREES = np.array(["elm", "oak", "yew"])
Y = TREES[(X[:, 0] + np.sin(2 * X[:, 1]) > 0).astype(int) + (X[:, 2] > 1)]
FAST = dict(order=20, no_tune=True)


def raises(kind, words, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as e:
        assert words in str(e), e
    else:
        raise AssertionError(f"no {kind.__name__}: {words}")


def saved(estimator):
    with tempfile.TemporaryDirectory() as d:
        estimator.save(d + "/m")
        with open(d + "/m", "rb") as f:
            return f.read()


def fed(sizes, estimator=None, rows=len(X)):
    """An estimator that has learned rows in calls of the given sizes, in turn."""
    estimator = estimator or polk.PolkClassifier(order=20)
    at, turn = 0, 0
    while at < rows:
        n = min(sizes[turn % len(sizes)], rows - at)
        estimator.partial_fit(X[at:at + n], Y[at:at + n], classes=TREES)
        at, turn = at + n, turn + 1
    return estimator


def test_check_estimator():
    for estimator in polk.PolkClassifier(), polk.PolkClassifier(loss="logistic"), polk.PolkRegressor():
        names = []
        for one, check in check_estimator(estimator, generate_only=True):
            try:
                check(one)
            except unittest.SkipTest as e:
                assert "check_sample_weights_invariance" in str(e), e
                continue
            names.append(check.func.__name__)
        print(f"check_estimator, {estimator}: {len(names)} checks passed: {', '.join(sorted(set(names)))}")


def test_stream():
    """Calls of one sample or a thousand, a copy in between and runall train -: the same model."""
    whole = saved(fed([1500]))
    assert saved(fed([1, 7, 1000])) == whole
    for cut in 500, 1201:  # while settings are still to be chosen, and after
        half = pickle.loads(pickle.dumps(copy.deepcopy(fed([100], rows=cut))))
        half = pickle.loads(pickle.dumps(half))  # not used in between
        assert saved(half.partial_fit(X[cut:], Y[cut:])) == whole
    with tempfile.TemporaryDirectory() as d:
        rows = "".join(f"{y},{','.join(map(repr, map(float, x)))}\n" for x, y in zip(X, Y))
        subprocess.run([os.environ["POLK_RUNALL"], "train", "-", "--format", "csv", "--header", "no", "--order", "20", "--classes",
                        ",".join(TREES), "--out", d + "/m"], input=rows.encode(), check=True, capture_output=True)
        with open(d + "/m", "rb") as f:
            assert f.read() == whole


def test_draft():
    """There are predictions after the first sample, and they do not change the model."""
    model = polk.PolkClassifier(order=20)
    for i in range(1200):
        model.partial_fit(X[i:i + 1], Y[i:i + 1], classes=TREES)
        if i < 40 or i % 50 == 0:
            model.predict(X[:5])
    assert model.score(X, Y) > 0.8
    assert saved(model) == saved(fed([1200], rows=1200))


def test_go_on():
    """partial_fit continues after fit, with the targets of a regression in their units."""
    model = polk.PolkRegressor(order=60).fit(X[:1000], 1e6 + 1e3 * X[:1000, 0])
    model.partial_fit(X[1000:], 1e6 + 1e3 * X[1000:, 0])
    assert model.score(X, 1e6 + 1e3 * X[:, 0]) > 0.9 and model.order_ <= 60
    process = model._process
    assert model.fit(X[:100], X[:100, 0])._process is process


def test_errors():
    fit = lambda **given: polk.PolkClassifier(**given).fit(X, Y)
    raises(ValueError, '"-1" for "bandwidth"', fit, bandwidth=-1)
    raises(ValueError, '"fast" for "learning_rate"', fit, learning_rate="fast")
    raises(ValueError, "parsimony", fit, parsimony=1, order=5)
    raises(ValueError, "loss squared", fit, loss="squared")
    raises(ValueError, "loss hinge", polk.PolkRegressor(loss="hinge").fit, X, X[:, 0])
    raises(ValueError, "needs two classes, got 3", fit, loss="binary-logistic")
    raises(ValueError, "'elm'", polk.PolkClassifier().partial_fit, X, Y, classes=["oak", "yew"])
    for learn in (polk.PolkRegressor().fit, polk.PolkRegressor().partial_fit):
        raises(ValueError, "could not convert string to float", learn, X, np.where(X[:, 0] > 0, "1", "b"))
    raises(RuntimeError, "make build", fit, runall="/nowhere")
    raises(AttributeError, "no probabilities", polk.PolkClassifier()._probabilistic)
    assert not hasattr(polk.PolkClassifier(), "predict_proba")


def test_process():
    """A process that dies has its messages in the error and leaves no zombie; fit replaces it."""
    model = polk.PolkClassifier(**FAST).fit(X, Y)
    model._process.child.send_signal(signal.SIGQUIT)  # Go's goroutines are on standard error
    model._process.child.wait()
    raises(RuntimeError, "SIGQUIT", model.predict, X)
    raises(RuntimeError, "has ended", model.predict, X)
    child = model.fit(X, Y)._process.child
    assert model.score(X, Y) > 0.6
    del model
    assert child.returncode == 0, child.returncode


def test_fork():
    model = polk.PolkClassifier(**FAST).fit(X, Y)
    before = model.predict(X)
    pid = os.fork()
    if pid == 0:
        try:
            raises(RuntimeError, "fork", model.predict, X)
            model._process.end()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    assert (model.predict(X) == before).all()


def timed_out(*args):
    raise TimeoutError("the user's")


def test_interrupted():
    """A signal whose handler raises ends fit; other calls first finish what they have begun."""
    model = fed([1200], rows=1200)
    signal.signal(signal.SIGALRM, timed_out)
    for sent in [signal.SIGINT, signal.SIGALRM] * 4:
        try:
            threading.Timer(0.02, os.kill, (os.getpid(), sent)).start()
            while True:
                model.partial_fit(X[:50], Y[:50])
                model.predict(X)
        except (KeyboardInterrupt, TimeoutError) as e:
            assert isinstance(e, TimeoutError) == (sent == signal.SIGALRM)
    with tempfile.TemporaryDirectory() as d:
        model.save(d + "/m")
        more = polk.load(d + "/m").settings["rows"] - 1200
    straight = fed([1200], rows=1200)
    for _ in range(more // 50):
        straight.partial_fit(X[:50], Y[:50])
    assert more >= 0 and saved(model) == saved(straight)

    big, y = np.tile(X, (40, 1)), np.tile(Y, 40)
    for sent, kind in (signal.SIGINT, KeyboardInterrupt), (signal.SIGALRM, TimeoutError):
        threading.Timer(0.5, os.kill, (os.getpid(), sent)).start()
        model = polk.PolkClassifier(epochs=1000, order=500, no_tune=True)
        begun = time.time()
        raises(kind, "", model.fit, big, y)
        assert time.time() - begun < 10
        raises(RuntimeError, f"{kind.__name__} interrupted the request fit, and the model is lost", model.predict, X)
        assert model.set_params(**FAST, epochs=None).fit(X, Y).score(X, Y) > 0.6


def test_threads():
    """Threads that use an unpickled estimator at once start one process, with its model."""
    state = pickle.dumps(polk.PolkClassifier(**FAST).fit(X, Y))
    want, start, starts = pickle.loads(state).predict(X), polk._Process.__init__, []

    def start_slowly(*args):
        starts.append(args)
        time.sleep(0.5 * (len(starts) > 1))
        start(*args)

    polk._Process.__init__ = start_slowly
    model, same = pickle.loads(state), []
    threads = [threading.Thread(target=lambda: same.append((model.predict(X) == want).all())) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert same == [True] * 6 and len(starts) == 1, (same, starts)
    assert (model.predict(X) == want).all()


def test_refused():
    """A call with a row or target that is refused learns none of its rows, and the process lives on."""
    model = fed([1200], rows=1200)
    numbers = polk.PolkRegressor(order=20, batch=1).partial_fit(X, X[:, 0])
    for estimator, wrong in (model, 7), (model, 1e300), (model, 1.9999), (numbers, np.nan), (numbers, -np.inf):
        before = saved(estimator)
        raises(ValueError, "of row 3: want ", estimator._ask, dict(op="learn", rows=3), X[:3], np.array([0, 1, wrong]))
        assert saved(estimator) == before
    whole = saved(fed([1500]))
    for cut in 100, 1201:
        model = fed([cut], rows=cut)
        for row in 1400, 4500:  # of the first and the second request
            bad = np.tile(X, (4, 1))
            bad[row, 1] = 1e41
            raises(ValueError, "1e+41", model.partial_fit, bad, np.tile(Y, 4))
        assert saved(model.partial_fit(X[cut:], Y[cut:])) == whole
    raises(ValueError, "to float", polk.PolkRegressor().fit, X, Y)
    raises(ValueError, "to float", numbers.partial_fit, X, Y)
    assert np.isfinite(numbers.predict(X)).all()


def test_features():
    """Estimators and saved models refuse the same features, in each of their methods."""
    for estimator, y in (polk.PolkClassifier(loss="logistic", **FAST), Y), (polk.PolkRegressor(**FAST), X[:, 0]):
        estimator.fit(X, y)
        with tempfile.TemporaryDirectory() as d:
            estimator.save(d + "/m")
            loaded = polk.load(d + "/m")
        for bad in [[np.nan, 0, 0]], [[0, np.inf, 0]], [[0, 1e41, 0]], [[0, -1e308, 0]], [[0, 0]], [0, 0, 0], [[0, 1j, 0]], [["a", "0", "0"]]:
            for model in estimator, loaded:
                for name in "predict", "predict_proba", "decision_function":
                    if hasattr(model, name):
                        raises(ValueError, "", getattr(model, name), np.array(bad))
        assert abs(loaded.predict(X) == estimator.predict(X)).all() or abs(loaded.predict(X) - estimator.predict(X)).max() < 1e-5


def test_load():
    """NumPy alone predicts the same as runall predict, to 1e-5."""
    two = np.where(X[:, 0] > 0, "oak", "elm")
    for y, probability, flags in (
        (Y, False, "--loss hinge --scale standard"),
        (Y, True, "--loss logistic --scale unit --order 30 --no-tune"),
        (two, True, "--loss binary-logistic --scale none --bandwidth 1 --order 30 --no-tune"),
        (1e3 + 50 * np.sin(X[:, 0]), False, "--loss squared --scale none --bandwidth 1 --order 80 --no-tune"),
        (1e3 + 50 * np.sin(X[:, 0]), False, "--loss squared --order 80"),
    ):
        with tempfile.TemporaryDirectory() as d:
            np.savetxt(d + "/x.csv", X, delimiter=",", fmt="%r")
            with open(d + "/xy.csv", "w") as f:
                f.writelines(f"{b},{','.join(map(repr, map(float, a)))}\n" for a, b in zip(X, y))
            run = lambda *args: subprocess.run([os.environ["POLK_RUNALL"], *args], check=True, capture_output=True, text=True).stdout
            run("train", d + "/xy.csv", "--header", "no", "--out", d + "/m", *flags.split())
            lines = run("predict", d + "/m", d + "/x.csv", "--header", "no", *["--probability"] * probability).splitlines()
            code = "import sys; sys.modules['sklearn'] = None; import numpy as np, polk; x = np.loadtxt(sys.argv[2], delimiter=','); " \
                   f"m = polk.load(sys.argv[1]); np.savez(sys.argv[3], m.predict(x), *[m.predict_proba(x) for _ in range({probability:d})])"
            subprocess.run([sys.executable, "-c", code, d + "/m", d + "/x.csv", d + "/p.npz"], check=True, env=dict(os.environ, POLK_RUNALL="/nowhere"))
            with np.load(d + "/p.npz") as f:
                ours = [f[name] for name in f.files]
        if probability:
            theirs = np.array([line.split(",")[1:] for line in lines[1:]], float)
            lines = [line.split(",")[0] for line in lines[1:]]
            ours, apart = ours[0], abs(ours[1] - theirs).max()
        elif y.dtype == float:
            theirs = np.array(lines, float)
            ours, apart = lines, abs(ours[0] / theirs - 1).max()
        else:
            ours, apart = ours[0], 0.0
        print(f"load, {flags}: {apart:.1e}")
        assert list(ours) == lines and len(lines) == len(X) and apart < 1e-5


def test_labels():
    """A saved model predicts the labels that the estimator predicts, or is not saved."""
    h = X[:, 0] > 0
    for a, b, saved in ((1., -1., True), (1., 2., True), ("2", "1", True), ("<=50K", ">50K", True), (True, False, True), ("a b", "ü", True),
                        ("1.0", "2.0", False), ("+1", "-1", False), ("=x", "y", False), ("nan", "y", False), ("x ", "y", False)):
        m = polk.PolkClassifier(order=10, no_tune=True).fit(X, np.where(h, a, b))
        with tempfile.TemporaryDirectory() as d:
            try:
                m.save(d + "/m")
            except ValueError as e:
                assert not saved and "can't name the classes" in str(e), (a, b, e)
                continue
            assert saved, (a, b)
            np.testing.assert_array_equal(polk.load(d + "/m").predict(X), m.predict(X))
        assert m.score(X, np.where(h, a, b)) > 0.9
    print("labels: ok")


def test_weights():
    """Weights of 1 are none, rows that weigh 0 are absent, from fit and partial_fit; a weight counts rows."""
    two = np.where(X[:, 0] > 0, "oak", "elm")
    some = np.tile([1.0, 0.0, 2.0], len(X))[:len(X)]
    for new, y in (lambda: polk.PolkClassifier(order=10), two), (lambda: polk.PolkRegressor(order=10), X[:, 0]):
        first = dict(classes=["elm", "oak"]) if y is two else {}
        assert saved(new().fit(X, y, sample_weight=np.ones(len(X)))) == saved(new().fit(X, y))
        whole = saved(new().fit(X[some > 0], y[some > 0], sample_weight=5 * some[some > 0]))
        assert saved(new().fit(X, y, sample_weight=5 * some)) == whole != saved(new().fit(X[some > 0], y[some > 0]))
        streams = []
        for size in 1500, 7, 613:
            model = new()
            for at in range(0, len(X), size):
                model.partial_fit(X[at:at + size], y[at:at + size], sample_weight=some[at:at + size], **first)
                model = pickle.loads(pickle.dumps(model)) if size == 613 else model
            streams.append(saved(model))
        assert streams[0] == streams[1] == streams[2] != saved(new().partial_fit(X, y, **first))
        for wrong in -1.0, np.nan, np.inf:
            for learn in new().fit, lambda *a, sample_weight: new().partial_fit(*a, **first, sample_weight=sample_weight):
                raises(ValueError, "", learn, X, y, sample_weight=np.where(np.arange(len(X)) == 3, wrong, 1.0))
    rare = np.where(X[:, 0] + 0.7 * rng.normal(size=len(X)) > 1.8, "oak", "elm")
    found = lambda **given: (polk.PolkClassifier(order=10, **given).fit(X, rare).predict(X)[rare == "oak"] == "oak").mean()
    assert found(class_weight="balanced") > max(0.8, found()) and found(class_weight={"oak": 20.0}, metric="error") > 0.8
    raises(ValueError, "not supported for partial_fit", polk.PolkClassifier(class_weight="balanced").partial_fit, X, two, ["elm", "oak"])
    raises(ValueError, "for classifiers", polk.PolkRegressor(class_weight="balanced").fit, X, X[:, 0])
    weak = polk.PolkClassifier(order=4)
    waves = np.random.default_rng(1).normal(size=(600, 2))
    up = np.sin(3 * waves[:, 0]) + waves[:, 1] > 0
    boosted = AdaBoostClassifier(weak, n_estimators=10, algorithm="SAMME").fit(waves, up)
    print(f"AdaBoost: {weak.fit(waves, up).score(waves, up):.3f} by one, {boosted.score(waves, up):.3f} by ten")
    assert boosted.score(waves, up) > weak.score(waves, up) + 0.05


def test_drift():
    """A feature that leaves its range is named in notes_, also of an unpickled model."""
    model = pickle.loads(pickle.dumps(fed([1500])))
    model.partial_fit(X[:64] * [1, 1000, 1], Y[:64])
    assert any("feature 2 is far outside its range" in note for note in model.notes_), model.notes_


def test_rate():
    """Samples a second in batches of 32, by the clock and by the processor time of both processes."""
    for features in 2, 20:
        x = rng.normal(size=(50000, features))
        y = (x[:, 0] + np.sin(2 * x[:, 1]) > 0).astype(int)
        model = polk.PolkClassifier(order=50).partial_fit(x[:2000], y[:2000], classes=[0, 1])
        with open(f"/proc/{model._process.child.pid}/stat") as f:
            before = sum(map(int, f.read().split()[13:15]))
        wall, own = time.time(), time.process_time()
        for i in range(2000, 50000, 32):
            model.partial_fit(x[i:i + 32], y[i:i + 32])
        wall, own = time.time() - wall, time.process_time() - own
        with open(f"/proc/{model._process.child.pid}/stat") as f:
            theirs = (sum(map(int, f.read().split()[13:15])) - before) / os.sysconf("SC_CLK_TCK")
        print(f"{features} features, order {model.order_}: {48000 / wall:.0f} samples/s; {48000 / (own + theirs):.0f} "
              f"per second of processor time ({own:.2f} s in Python, {theirs:.2f} s in runall)")
        assert 48000 / (own + theirs) > 20000


for name in sys.argv[1:]:
    globals()["test_" + name]()

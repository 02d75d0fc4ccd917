"""The promises of polk.py, for the test TestCheckPython of cmd/runall."""

import copy
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import cross_val_score
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


def lost(call, *args):
    """The result of a call that finds its process dead and says so."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = call(*args)
    said = [str(w.message) for w in said if w.category is RuntimeWarning]
    assert len(said) == 1 and "has ended (status" in said[0] and said[0].endswith("no row is lost"), said
    return result


def kill(estimator, sent=signal.SIGKILL):
    estimator._process.child.send_signal(sent)
    estimator._process.child.wait()


def test_process():
    """A lost process is replaced by one with the same model; only a fit is lost, with its messages."""
    model = polk.PolkClassifier(**FAST).fit(X, Y)
    before = model.decision_function(X)
    for sent in signal.SIGKILL, signal.SIGQUIT:
        kill(model, sent)
        assert (lost(model.decision_function, X) == before).all()
    kill(model)
    copied = pickle.loads(pickle.dumps(model))
    assert (copied.decision_function(X) == before).all() and (lost(model.decision_function, X) == before).all()
    wrong = polk.PolkClassifier(epochs=1000, order=500, no_tune=True)
    threading.Timer(0.7, lambda: kill(wrong, signal.SIGQUIT)).start()
    raises(RuntimeError, "SIGQUIT", wrong.fit, np.tile(X, (40, 1)), np.tile(Y, 40))
    raises(RuntimeError, "has ended (status 2)", wrong.predict, X)
    child = wrong.set_params(**FAST, epochs=None).fit(X, Y)._process.child
    assert wrong.score(X, Y) > 0.6
    del wrong
    assert child.returncode == 0, child.returncode


def test_killed():
    """However often the process of a stream is killed, at any time, the model is that of all rows."""
    whole, polk.REPLAYED = saved(fed([1500])), 3000  # so that models are kept in between
    model, at = polk.PolkClassifier(order=20), 0
    for size, call in zip([5, 295, 699, 1, 1, 300, 1, 198], [model.predict, model.decision_function, pickle.dumps, None] * 2):
        lost(model.partial_fit, X[at:at + size], Y[at:at + size]) if at else model.partial_fit(X[:size], Y[:size], classes=TREES)
        at += size
        kill(model)
        if call is pickle.dumps:
            assert saved(pickle.loads(call(model))) == saved(fed([at], rows=at))
        elif call:
            lost(call, X[:3])
            kill(model)
    assert at == 1500 and lost(saved, model) == whole
    straight, model = fed([1500]), fed([1500])
    stop = threading.Event()

    def killer():
        while not stop.wait(0.02 + 0.2 * rng.random()):
            model._process and model._process.child.kill()

    killing = threading.Thread(target=killer)
    killing.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(60):
            rows = slice(20 * i, 20 * i + 20)
            for again in range(20):  # a call whose second process is killed too fails, and learns nothing
                try:
                    model.partial_fit(X[rows], Y[rows])
                    break
                except RuntimeError as e:
                    assert "has ended (status -9)" in str(e)
            straight.partial_fit(X[rows], Y[rows])
        stop.set()
        killing.join()
        assert saved(model) == saved(straight)


def in_child(check, *args):
    """Run a check in a forked process."""
    pid = os.fork()
    if pid == 0:
        try:
            check(*args)
            os._exit(0)
        finally:
            traceback.print_exc()
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def same(estimator, want):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(estimator.decision_function(X), want)


def test_fork():
    """A forked process has its own process and model, whatever the parent does meanwhile."""
    model = fed([1100, 7], rows=1107)
    before = model.decision_function(X)

    def further():
        same(model, before)
        assert saved(model.partial_fit(X[1107:], Y[1107:])) == saved(fed([1500]))

    in_child(further)
    same(model, before)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for got in pool.map(model.decision_function, [X] * 4):  # which pickles it
            np.testing.assert_array_equal(got, before)
    stop = threading.Event()

    def busy():
        while not stop.is_set():
            model.decision_function(np.tile(X, (20, 1)))

    slow = polk.PolkClassifier(epochs=1000, order=500, no_tune=True)
    with ThreadPoolExecutor(2) as pool:
        pool.submit(busy)
        fitting = pool.submit(slow.fit, np.tile(X, (40, 1)), np.tile(Y, 40))
        for _ in range(8):
            time.sleep(0.1)
            in_child(same, model, before)
        in_child(raises, RuntimeError, "was being trained when process", slow.predict, X)
        stop.set()
        slow._process.child.kill()
        assert "status -9" in str(fitting.exception())
    same(model, before)


def test_jobs():
    """Estimators in joblib's processes and threads give what they give here."""
    model = polk.PolkClassifier(**FAST)
    want = cross_val_score(model, X, Y, cv=3)
    for backend in "loky", "threading", "multiprocessing":
        with joblib.parallel_backend(backend):
            np.testing.assert_array_equal(cross_val_score(model, X, Y, cv=3, n_jobs=2), want)
            model.fit(X, Y)
            scores = joblib.Parallel(n_jobs=2)(joblib.delayed(copy.deepcopy(model).decision_function)(X) for _ in range(4))
        assert (np.array(scores) == model.decision_function(X)).all()


def test_sparse():
    """CSR rows give the model and the predictions of the same dense rows; other formats are converted."""
    dense = np.where(rng.random((1500, 40)) < 0.1, rng.normal(size=(1500, 40)), 0)
    dense[3] = 0
    y = np.where(dense[:, :8].sum(1) > 0, "pos", "neg")
    for make in scipy.sparse.csr_matrix, scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_matrix:
        rows = make(dense)
        a, b = (polk.PolkClassifier(order=30).fit(of, y) for of in (dense, rows))
        assert saved(a) == saved(b)
        with tempfile.TemporaryDirectory() as d:
            b.save(d + "/m")
            loaded = polk.load(d + "/m")
        for model in a, b, loaded:
            np.testing.assert_array_equal(model.decision_function(rows), model.decision_function(dense))
    rows = scipy.sparse.csr_matrix(dense)
    a, b = (polk.PolkRegressor(order=30) for _ in "ab")
    for at in range(0, 1500, 50):
        part = rows[at:at + 50]
        part.indices, part.data = part.indices.copy(), part.data.copy()
        for i in range(50):  # neither sorted nor without duplicates
            of = slice(part.indptr[i], part.indptr[i + 1])
            part.indices[of], part.data[of] = part.indices[of][::-1].copy(), part.data[of][::-1].copy()
        double = scipy.sparse.csr_matrix((np.repeat(part.data / 2, 2), np.repeat(part.indices, 2), 2 * part.indptr), part.shape)
        a.partial_fit(dense[at:at + 50], dense[at:at + 50].sum(1))
        b.partial_fit(double, dense[at:at + 50].sum(1))
        assert not double.has_canonical_format
        if at % 300 == 0:
            kill(b)
            lost(b.predict, part)
    assert saved(a) == saved(b)
    wide = scipy.sparse.random(3000, 60000, density=1e-4, format="csr", random_state=0)
    model = polk.PolkClassifier(order=5, no_tune=True, scale="none").fit(wide, np.arange(3000) % 2)
    with open(f"/proc/{model._process.child.pid}/status") as f:
        most = int(re.search(r"VmHWM:\s+(\d+)", f.read())[1])
    print(f"sparse: {most >> 10} MiB in runall for rows that are {wide.shape[0] * wide.shape[1] * 8 >> 20} MiB dense")
    assert most < 700 << 10 and len(model.predict(wide)) == 3000
    raises(ValueError, "65536", model.fit, scipy.sparse.csr_matrix((10, 70000)), np.arange(10) % 2)
    for bad in np.nan, np.inf, 1e41:
        rows.data[5] = bad
        for model in a, loaded:
            raises(ValueError, "", model.predict, rows)


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


def test_shared():
    """Threads that learn and predict with one estimator, from its first call on, lose no row."""
    model = polk.PolkClassifier(order=20)
    with ThreadPoolExecutor(4) as pool:
        learning = [pool.submit(model.partial_fit, X[i:i + 50], Y[i:i + 50], TREES) for i in range(0, 1500, 50)]
        predicted = [pool.submit(model.predict, X[:9]) for _ in range(50)]
        copies = [pool.submit(pickle.dumps, model) for _ in range(5)]
        for done in learning + predicted + copies:
            done.result()
    with tempfile.TemporaryDirectory() as d:
        model.save(d + "/m")
        assert polk.load(d + "/m").settings["rows"] == 1500
    assert model.score(X, Y) > 0.8 and pickle.loads(copies[-1].result()).score(X, Y) > 0.8


def test_refused():
    """A call with a row or target that is refused learns none of its rows, and the process lives on."""
    model = fed([1200], rows=1200)
    numbers = polk.PolkRegressor(order=20, batch=1).partial_fit(X, X[:, 0])
    for estimator, wrong in (model, 7), (model, 1e300), (model, 1.9999), (numbers, np.nan), (numbers, -np.inf):
        before = saved(estimator)
        raises(ValueError, "of row 3: want ", estimator._send, dict(op="learn", rows=3), X[:3], np.array([0, 1, wrong]))
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
        theirs = -processor_time(model)
        wall, own = time.time(), time.process_time()
        for i in range(2000, 50000, 32):
            model.partial_fit(x[i:i + 32], y[i:i + 32])
        wall, own = time.time() - wall, time.process_time() - own
        theirs += processor_time(model)
        print(f"{features} features, order {model.order_}: {48000 / wall:.0f} samples/s; {48000 / (own + theirs):.0f} "
              f"per second of processor time ({own:.2f} s in Python, {theirs:.2f} s in runall)")
        assert 48000 / (own + theirs) > 20000


def processor_time(estimator):
    """Seconds of processor time of an estimator's process."""
    with open(f"/proc/{estimator._process.child.pid}/stat") as f:
        return sum(map(int, f.read().split()[13:15])) / os.sysconf("SC_CLK_TCK")


def test_single():
    """The time of single rows: of a loaded model, and predicted and learned in turn. The limits are for
    a busy machine: the first is for the fastest tenth, the second for processor time."""
    x = rng.normal(size=(5000, 10))
    y = ((x[:, 0] + np.sin(2 * x[:, 1]) > 0) ^ (rng.random(5000) < 0.1)).astype(int)
    model = polk.PolkClassifier(order=500, bandwidth=1.5).partial_fit(x[:4000], y[:4000], classes=[0, 1])
    assert model.order_ == 500
    with tempfile.TemporaryDirectory() as d:
        model.save(d + "/m")
        loaded = polk.load(d + "/m")

    def timed(call, calls):
        times = []
        for i in range(calls):
            begun = time.perf_counter()
            call(i)
            times.append(1e3 * (time.perf_counter() - begun))
        return np.quantile(times, [0.5, 0.99, 0.1])

    def turn(i):
        model.predict(x[i + 4000:i + 4001])
        model.partial_fit(x[i + 4000:i + 4001], y[i + 4000:i + 4001])

    alone = timed(lambda i: loaded.predict(x[i:i + 1]), 5000)
    spent = time.process_time() + processor_time(model)
    turns = timed(turn, 320)
    spent = (time.process_time() + processor_time(model) - spent) / 0.32
    print("order 500, one row: polk.load: median %.3f ms, 99 %% below %.3f ms, 10 %% below %.3f ms" % tuple(alone))
    print("predict and partial_fit: median %.3f ms, 99 %% below %.3f ms, 10 %% below %.3f ms;" % tuple(turns), f"{spent:.2f} ms of processor time")
    assert alone[2] < 0.1 and spent < 10


def test_hostile():
    """What can't be right is refused in words, and the model stays."""
    model = polk.PolkClassifier(**FAST).fit(X, Y)
    before = saved(model)
    raises(ValueError, "0 sample(s)", model.partial_fit, X[:0], Y[:0])
    raises(ValueError, "0 sample(s)", model.predict, X[:0])
    raises(ValueError, "could not convert string to float: 'red'", model.partial_fit, np.array([[1, "red", 2]], object), Y[:1])
    numbers = np.array(X[:9], object)  # a column of objects that are numbers
    np.testing.assert_array_equal(model.predict(numbers), model.predict(X[:9]))
    assert saved(model) == before
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    framed = polk.PolkClassifier(**FAST).fit(frame, Y)
    assert saved(framed) == before
    for wrong in frame[["b", "a", "c"]], frame.rename(columns=dict(c="d")), frame[["a", "b"]]:
        for call in framed.predict, lambda rows: framed.partial_fit(rows, Y):
            raises(ValueError, "feature names should match", call, wrong)
    assert saved(framed) == before
    with tempfile.TemporaryDirectory() as d:
        for size in *range(0, 60, 7), len(before) - 1:
            with open(d + "/m", "wb") as f:
                f.write(before[:size])
            raises(ValueError, d + "/m: ", polk.load, d + "/m")


for name in sys.argv[1:]:
    globals()["test_" + name]()

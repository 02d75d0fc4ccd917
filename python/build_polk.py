"""Build wheels and the source distribution with the go command, without a C compiler.

pip calls build_wheel for this machine (PEP 517). As a program, in the repository's root, for
make wheel: build_polk.py FOLDER [PLATFORM | all | sdist]... writes wheels, with their programs
beside them, and the source distribution. Equal commits give equal bytes if Go and zlib are of equal releases.
"""

import base64
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile

NAME = "polk"  # of the distribution; no other file has it

# The programs for Linux are static: they run with glibc and with musl. Go 1.26 needs macOS 12.
PLATFORMS = {
    "linux/amd64": "manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}

# A format of git log. In an archive of the repository, git has filled it in.
COMMIT = "$Format:%H %ct %(describe:tags=true,abbrev=12)$"


def build_wheel(folder, config_settings=None, metadata_directory=None):
    """Write this machine's wheel and return its name."""
    with tempfile.TemporaryDirectory() as programs:
        return _wheel(folder, _go("env", "GOOS", "GOARCH").replace("\n", "/").strip("/"), programs)


def build_sdist(folder, config_settings=None):
    """Write the source distribution and return its name. It has what is committed."""
    version, *_, dirty = _commit()
    if dirty:
        sys.exit("a source distribution has only what is committed, and the source has changes: commit them")
    name = f"{NAME}-{version}"
    tar = subprocess.run(["git", "-c", "tar.umask=0022", "archive", f"--prefix={name}/", "HEAD", ".", ":!results",
                          f"--add-virtual-file={name}/PKG-INFO:{_metadata(version)}"], check=True, stdout=subprocess.PIPE).stdout
    with open(os.path.join(folder, f"{name}.tar.gz"), "wb") as f:
        f.write(gzip.compress(tar, mtime=0))
    return f"{name}.tar.gz"


def _wheel(folder, platform, programs):
    version, described, revision, seconds, dirty = _commit()
    goos, goarch = platform.split("/")
    env = dict(CGO_ENABLED="0", GOOS=goos, GOARCH=goarch, GOAMD64="v1", GOARM64="v8.0")
    exe = ".exe" if goos == "windows" else ""
    program = os.path.abspath(os.path.join(programs, f"runall-{goos}-{goarch}{exe}"))
    facts = dict(Version=described, Revision=revision, Dirty=str(dirty).lower())
    _go("build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w" + "".join(f" -X polkrepro/harness.linked{k}={v}" for k, v in facts.items()),
        "-o", program, "./cmd/runall", **env)
    tag = PLATFORMS.get(platform) or re.sub("[-.]", "_", sysconfig.get_platform())
    tags = "".join(f"Tag: py3-none-{t}\n" for t in tag.split("."))
    name = f"{NAME}-{version}"
    files = {
        "polk.py": re.sub(b"(?m)^__version__ = .*", f'__version__ = "{version}"'.encode(), _read("python/polk.py")),
        f"{name}.data/scripts/runall{exe}": _read(program),
        f"{name}.dist-info/LICENSE": _read("LICENSE"),
        f"{name}.dist-info/LICENSE.modules": _licences(env),
        f"{name}.dist-info/METADATA": _metadata(version).encode(),
        f"{name}.dist-info/WHEEL": f"Wheel-Version: 1.0\nGenerator: build_polk\nRoot-Is-Purelib: false\n{tags}".encode(),
    }
    sums = {n: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=") for n, data in files.items()}
    record = f"{name}.dist-info/RECORD"
    files[record] = "".join([*(f"{n},sha256={s},{len(files[n])}\n" for n, s in sums.items()), f"{record},,\n"]).encode()
    wheel = f"{name}-py3-none-{tag}.whl"
    with zipfile.ZipFile(os.path.join(folder, wheel), "w") as z:
        for n, data in files.items():
            entry = zipfile.ZipInfo(n, time.gmtime(max(seconds, 315532800))[:6])  # zip files know no time before 1980
            entry.create_system, entry.external_attr = 3, (0o100755 if ".data/" in n else 0o100644) << 16
            z.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return wheel


def _commit():
    """The commit's versions for pip and for the program, hash, time, and whether files changed since."""
    facts, dirty = COMMIT, False
    if facts[0] == "$":
        facts = _git("log", "-1", "--format=" + COMMIT[8:-1])
        dirty = _git("status", "--porcelain") != ""
    revision, seconds, tag = (facts.split() + ["", "0", ""])[:3]
    return (*versions(revision, tag, dirty), revision, int(os.environ.get("SOURCE_DATE_EPOCH") or seconds), dirty)


def versions(revision, tag, dirty):
    """The versions for pip (PEP 440) and for the program. Only a release has that of its tag, such as v1.2."""
    m = re.fullmatch(r"v(\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?)(?:-(\d+)-(g\w+))?", tag)
    described = tag if m else revision[:12]
    version = f"{m[1]}.post{m[2]}+{m[3]}" if m and m[2] else m[1] if m else "0+g" + revision[:12] if revision else "0+unknown"
    if dirty:
        return version + (".dirty" if "+" in version else "+dirty"), described + "-dirty"
    return version, described


def _metadata(version):
    return (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\nLicense: MIT\nRequires-Python: >=3.8\n"
            "Summary: Online kernel classification and regression with few elements\n"
            "Requires-Dist: numpy\nRequires-Dist: scikit-learn>=1.2\n")


def _licences(env):
    """The licences of Go and of the modules in the program."""
    modules = _go("list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./cmd/runall", **env)
    texts = []
    for line in [f"Go\t{_go('env', 'GOROOT').strip()}", *sorted(set(modules.splitlines()))]:
        module, top = line.split("\t")
        for folder in [top, *(os.path.join(top, d) for d in sorted(os.listdir(top)) if d.lower().endswith("licenses"))]:
            names = sorted(n for n in os.listdir(folder) if folder != top or "LICENSE" in n)
            texts += [f"{module}, {n}:\n\n".encode() + _read(path) for n in names if os.path.isfile(path := os.path.join(folder, n))]
    return b"\n\n".join(texts)


def _read(path):
    with open(path, "rb") as f:
        return f.read()


def _git(*args):
    """The output of git; nothing without git or outside of a repository."""
    if not shutil.which("git"):
        return ""
    return subprocess.run(["git", *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def _go(*args, **env):
    """The output of the go command."""
    want = "Go " + re.search(r"(?m)^go (\d+\.\d+)", _read("go.mod").decode())[1] + " or newer, from https://go.dev/dl"
    go = shutil.which("go")
    if not go:
        sys.exit(f"{NAME}: its program runall is built with the go command, which is not in PATH: install {want}, or a wheel "
                 "that was built elsewhere with make wheel")
    run = subprocess.run([go, *args], env={**os.environ, **env}, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        sys.exit(f"{NAME}: go {args[0]} failed with the message above. It needs {want}")
    return run.stdout


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for what in " ".join(sys.argv[2:]).replace("all", " ".join(PLATFORMS)).split():
        print(build_sdist(sys.argv[1]) if what == "sdist" else _wheel(sys.argv[1], what, sys.argv[1]), flush=True)

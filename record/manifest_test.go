package record

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"polkrepro/internal/testutil"
)

// sealable makes a results folder with a file in every place that a seal covers, and a file that
// the seal does not cover.
func sealable(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range map[string]string{
		"records/a.jsonl": "a record\n", "records/b.jsonl": "another\n", "tables/table2.csv": "1,2\n",
		"figures/figure1.png": "\x89PNG", "verdicts.json": "{}\n", "README.md": "not covered\n",
	} {
		put(t, filepath.Join(dir, path), text)
	}
	return dir
}

func put(t testutil.T, path, text string) {
	t.Helper()
	testutil.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)))
}

func mustSeal(t testing.TB, dir string) Manifest {
	t.Helper()
	m, err := Seal(dir)
	testutil.NoError(t, err)
	return m
}

func TestSeal(t *testing.T) {
	dir := sealable(t)
	if err := CheckSeal(dir); err != nil || Sealed(dir) {
		t.Errorf("a folder that is not sealed: %v, sealed: %v", err, Sealed(dir))
	}
	if m := mustSeal(t, dir); len(m) != 5 || len(m["records/a.jsonl"]) != 64 {
		t.Errorf("manifest %v", m)
	}
	if err := CheckSeal(dir); err != nil || !Sealed(dir) {
		t.Errorf("sealed: %v, %v", err, Sealed(dir))
	}
	put(t, filepath.Join(dir, "README.md"), "changed\n")
	put(t, filepath.Join(dir, "bench", "bench.txt"), "new\n")
	if err := CheckSeal(dir); err != nil {
		t.Errorf("files that are not covered: %v", err)
	}
	if _, err := Seal(t.TempDir()); err == nil {
		t.Error("an empty folder is sealed")
	}
}

// TestSha256sum lets coreutils check a manifest.
func TestSha256sum(t *testing.T) {
	program, err := exec.LookPath("sha256sum")
	if err != nil {
		t.Skip("no sha256sum")
	}
	dir := sealable(t)
	mustSeal(t, dir)
	check := func() error {
		cmd := exec.Command(program, "-c", "--strict", "--quiet", ManifestName)
		cmd.Dir = dir
		return cmd.Run()
	}
	if err := check(); err != nil {
		t.Error(err)
	}
	put(t, filepath.Join(dir, "records/a.jsonl"), "A record\n")
	if check() == nil {
		t.Error("a changed file passes")
	}
}

func TestBrokenSeal(t *testing.T) {
	for _, c := range []struct {
		name, want string
		do         func(dir string) error
	}{
		{"changed", "records/a.jsonl was changed", func(dir string) error { return os.WriteFile(dir+"/records/a.jsonl", []byte("a recorD\n"), 0o666) }},
		{"emptied", "tables/table2.csv was changed", func(dir string) error { return os.Truncate(dir+"/tables/table2.csv", 0) }},
		{"missing", "records/b.jsonl is missing", func(dir string) error { return os.Remove(dir + "/records/b.jsonl") }},
		{"all missing", "records/a.jsonl is missing, records/b.jsonl is missing", func(dir string) error { return os.RemoveAll(dir + "/records") }},
		{"extra", "records/c.jsonl is not in the manifest", func(dir string) error { return os.WriteFile(dir+"/records/c.jsonl", nil, 0o666) }},
		{"extra below", "records/d/c.jsonl is not in the manifest", func(dir string) error {
			return errors.Join(os.Mkdir(dir+"/records/d", 0o777), os.WriteFile(dir+"/records/d/c.jsonl", nil, 0o666))
		}},
		{"renamed", "records/a.jsonl is missing, records/c.jsonl is not in the manifest", func(dir string) error { return os.Rename(dir+"/records/a.jsonl", dir+"/records/c.jsonl") }},
		{"a folder instead", "verdicts.json is missing", func(dir string) error {
			return errors.Join(os.Remove(dir+"/verdicts.json"), os.Mkdir(dir+"/verdicts.json", 0o777))
		}},
		{"a link instead", "records/a.jsonl is not a regular file", func(dir string) error {
			return errors.Join(os.Rename(dir+"/records/a.jsonl", dir+"/a"), os.Symlink("../a", dir+"/records/a.jsonl"))
		}},
		{"a linked folder instead", "records is not a regular file", func(dir string) error {
			return errors.Join(os.Rename(dir+"/records", dir+"/r"), os.Symlink("r", dir+"/records"))
		}},
		{"manifest emptied", "MANIFEST is empty", func(dir string) error { return os.Truncate(dir+"/MANIFEST", 0) }},
		{"manifest cut", "MANIFEST:1: want a SHA-256", func(dir string) error { return os.Truncate(dir+"/MANIFEST", 60) }},
		{"manifest a folder", "MANIFEST is not a manifest", func(dir string) error {
			return errors.Join(os.Remove(dir+"/MANIFEST"), os.Mkdir(dir+"/MANIFEST", 0o777))
		}},
		{"manifest a link", "MANIFEST is not a manifest", func(dir string) error {
			return errors.Join(os.Remove(dir+"/MANIFEST"), os.Symlink("/dev/zero", dir+"/MANIFEST"))
		}},
		{"manifest huge", "MANIFEST is not a manifest", func(dir string) error { return os.Truncate(dir+"/MANIFEST", maxManifest+1) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := sealable(t)
			mustSeal(t, dir)
			testutil.NoError(t, c.do(dir))
			err := CheckSeal(dir)
			var broken *SealError
			if !errors.As(err, &broken) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) || !Sealed(dir) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	for text, wrong := range map[string][]string{
		"the seal of r is broken: a, b, c, d, e":            {"a", "b", "c", "d", "e"},
		"the seal of r is broken: a, b, c, d, e and 2 more": {"a", "b", "c", "d", "e", "f", "g"},
	} {
		if e := (&SealError{"r", wrong}); e.Error() != text {
			t.Errorf("%q, want %q", e, text)
		}
	}
}

// TestSealRefuses: a folder with a file that a manifest can't name is not sealed, nor is one with a
// link.
func TestSealRefuses(t *testing.T) {
	for _, name := range []string{"line\nbreak.jsonl", `back\slash.jsonl`, "not utf-8 \xff.jsonl"} {
		dir := sealable(t)
		put(t, filepath.Join(dir, "records", name), "x")
		if _, err := Seal(dir); err == nil || Sealed(dir) {
			t.Errorf("%q is sealed", name)
		}
	}
	dir := sealable(t)
	testutil.NoError(t, os.Symlink("a.jsonl", filepath.Join(dir, "records", "link.jsonl")))
	if _, err := Seal(dir); err == nil || !strings.Contains(err.Error(), "records/link.jsonl is not a regular file") {
		t.Errorf("a link: %v", err)
	}
}

// TestHostileFolder: a file or link that is named like a record but is not a record is listed as an
// error; a folder with such a name is ignored.
func TestHostileFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, abc)
	if err := errors.Join(
		os.Symlink(abc+".jsonl", filepath.Join(dir, "abd.jsonl")),
		os.Symlink("/dev/zero", filepath.Join(dir, "abe.jsonl")),
		os.Symlink("/dev/zero", filepath.Join(dir, "abf.failed.jsonl")),
		os.Symlink("nothing", filepath.Join(dir, "abg.jsonl")),
		os.Mkdir(filepath.Join(dir, "abh.jsonl"), 0o777),
		os.WriteFile(filepath.Join(dir, "abi.jsonl"), bytes.Repeat([]byte("{"), 1<<22), 0o666),
	); err != nil {
		t.Skip(err)
	}
	c, err := ReadDir(dir)
	if err != nil || len(c.Records) != 1 || c.Records[abc] == nil || len(c.Failed) != 0 || len(c.Errors) != 5 {
		t.Errorf("%d records, %d failed, %v, %v", len(c.Records), len(c.Failed), c.Errors, err)
	}
	for i, want := range []string{"abd.jsonl: not a regular file", "abe.jsonl: not a regular file", "abf.failed.jsonl: not a regular file", "abg.jsonl", "abi.jsonl:1: "} {
		if i < len(c.Errors) && !strings.Contains(c.Errors[i].Error(), want) {
			t.Errorf("%v, want %q", c.Errors[i], want)
		}
	}
}

// TestAnyByte changes one byte of a sealed file or of the manifest.
func TestAnyByte(t *testing.T) {
	dir := sealable(t)
	files := []string{ManifestName}
	for path := range mustSeal(t, dir) {
		files = append(files, path)
	}
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, rapid.SampledFrom(files).Draw(t, "file"))
		whole := contents(t, path)
		changed := bytes.Clone(whole)
		at := rapid.IntRange(0, len(whole)-1).Draw(t, "at")
		changed[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "by"))
		put(t, path, string(changed))
		if CheckSeal(dir) == nil {
			t.Errorf("byte %d of %s may be %q", at, path, changed[at])
		}
		put(t, path, string(whole))
		if err := CheckSeal(dir); err != nil {
			t.Errorf("as it was: %v", err)
		}
	})
}

func TestParseManifest(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	line := sum + "  records/b.jsonl\n"
	if m, err := ParseManifest([]byte(line + sum + "  records/c d.jsonl\n")); err != nil || len(m) != 2 || m["records/b.jsonl"] != sum {
		t.Errorf("%v, %v", m, err)
	}
	for text, want := range map[string]string{
		"":                                         "is empty",
		"\n":                                       ":1: want",
		line[:len(line)-1]:                         ":1: incomplete line",
		line + line:                                ":2: records/b.jsonl is out of order",
		line + sum + "  figures/a.png\n":           ":2: figures/a.png is out of order",
		sum + " *records/b.jsonl\n":                ":1: want",
		sum[1:] + "  records/b.jsonl\n":            ":1: want",
		strings.ToUpper(line):                      ":1: want",
		sum + "  records/../../etc/passwd\n":       "is not the path of a result",
		sum + "  /etc/passwd\n":                    "is not the path of a result",
		sum + "  records//b.jsonl\n":               "is not the path of a result",
		sum + "  other/b.jsonl\n":                  "is not the path of a result",
		sum + "  records/b.jsonl\r\n":              "is not the path of a result",
		sum + "  " + "\n":                          "is not the path of a result",
		strings.Repeat("a", 1<<20):                 ":1: want",
		sum + "  records/\xffb.jsonl\n":            "is not the path of a result",
		"\\" + sum + "  records/b\\n.jsonl\n":      ":1: want",
		line + "# a remark that sha256sum skips\n": ":2: want",
	} {
		if m, err := ParseManifest([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, %v, want %q", text, m, err, want)
		}
	}
}

// FuzzParseManifest: no input makes ParseManifest panic, and a manifest that it returns is written
// as the same bytes.
func FuzzParseManifest(f *testing.F) {
	sum := strings.Repeat("0a", 32)
	f.Add([]byte(sum + "  records/b.jsonl\n" + sum + "  verdicts.json\n"))
	f.Add([]byte(sum + "  records/../b.jsonl\n"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseManifest(text)
		if err != nil {
			return
		}
		if got := m.text(); !bytes.Equal(got, text) {
			t.Errorf("read\n%q\nwritten\n%q", text, got)
		}
	})
}

// TestCheckOutput: no output goes into a sealed folder or beside records, by whatever path.
func TestCheckOutput(t *testing.T) {
	dir := t.TempDir()
	at := func(path string) string { return filepath.Join(dir, path) }
	for _, path := range []string{
		"sealed/" + ManifestName, "sealed/tables/table2.csv", "runs/records/" + strings.Repeat("a", 32) + ".jsonl",
		"other/" + ManifestName, // unrelated to results, for outputs below its folder
		"other/notes/records.jsonl",
	} {
		put(t, at(path), "")
	}
	testutil.NoError(t, os.Symlink(at("sealed"), at("link")))
	for path, want := range map[string]string{
		"sealed": "is sealed", "sealed/new/model": "is sealed", "link/model": "is sealed", "other": "is sealed",
		"runs/records": "holds records", "runs/records/new": "holds records",
		"runs": "", "runs/model": "", "other/model": "", "new/deep/model": "",
	} {
		if err := CheckOutput(at(path)); (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

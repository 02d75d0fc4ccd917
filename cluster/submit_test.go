package cluster

import (
	"bytes"
	"errors"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unicode"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"

	"polkrepro/data"
	"polkrepro/harness"
)

// oddName is a folder's name that a shell, sbatch and GNU parallel would take
// apart, were it not quoted.
const oddName = "it's a\ttest; rm -r \"$HOME\" `id` {} {#} #1 %a 100%% *é"

// TestWrite: a folder appears whole; the same plan leaves it as it is, and
// anything else is refused.
func TestWrite(t *testing.T) {
	p := fourPlan(t, 4)
	dir := filepath.Join(t.TempDir(), "new", "plan")
	if written, err := Write(dir, p, Site{}); !written || err != nil {
		t.Fatal(written, err)
	}
	read, err := Read(dir)
	if err != nil || read.Sum != p.Sum {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, PlanName))
	if err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	script := filepath.Join(dir, SlurmName)
	if err := os.WriteFile(script, []byte("# mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if written, err := Write(dir, p, Site{}); written || err != nil {
		t.Error(written, err)
	}
	if text, err := os.ReadFile(script); err != nil || string(text) != "# mine" {
		t.Errorf("the folder was changed: %s, %v", text, err)
	}
	if _, err := Write(dir, fourPlan(t, 3), Site{}); harness.ExitCode(err) != harness.ExitUsage || !strings.Contains(err.Error(), "another plan") {
		t.Error(err)
	}
	if _, err := Write(filepath.Dir(dir), p, Site{}); harness.ExitCode(err) != harness.ExitUsage || !strings.Contains(err.Error(), "no plan") {
		t.Error(err)
	}
	if _, err := Write(script, p, Site{}); harness.ExitCode(err) != harness.ExitUsage {
		t.Error(err)
	}
	empty := t.TempDir()
	if written, err := Write(empty, p, Site{}); !written || err != nil {
		t.Error(written, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
		t.Errorf("something was left beside the plan: %v, %v", entries, err)
	}
}

// TestWriteAtOnce: of several processes that write the same plan one does, and
// the others find it.
func TestWriteAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plan")
	file := encoded(t, fourPlan(t, 4))
	var wrote atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			p, err := Parse(file)
			if err != nil {
				t.Error(err)
				return
			}
			written, err := Write(dir, p, Site{})
			if err != nil {
				t.Error(err)
			}
			if written {
				wrote.Add(1)
			}
		})
	}
	all.Wait()
	if n := wrote.Load(); n != 1 {
		t.Errorf("%d wrote the plan", n)
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
		t.Errorf("something was left beside the plan: %v, %v", entries, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	p := fourPlan(t, 4)
	for _, name := range []string{"line\nbreak", `back\slash`} {
		if _, err := Write(filepath.Join(t.TempDir(), name), p, Site{}); harness.ExitCode(err) != harness.ExitUsage {
			t.Errorf("folder %q: %v", name, err)
		}
	}
	for _, image := range []string{"<your image>", "IMAGE", "image name", "image:", "image\n", `im"age`, "image@sha256:12", strings.Repeat("a", maxText+1)} {
		if _, err := Write(filepath.Join(t.TempDir(), "plan"), p, Site{Image: image}); harness.ExitCode(err) != harness.ExitUsage {
			t.Errorf("image %q: %v", image, err)
		}
	}
	for _, image := range []string{"runall", "example.org:5000/polk/runall:1.2", "a/b@sha256:" + strings.Repeat("0", 64)} {
		if _, err := Write(filepath.Join(t.TempDir(), "plan"), p, Site{Image: image}); err != nil {
			t.Errorf("image %q: %v", image, err)
		}
	}
}

// sbatchWords is a transcription of _get_argument and its caller in Slurm's
// src/sbatch/opt.c: the words of the rest of a #SBATCH line.
func sbatchWords(line string) []string {
	var words []string
	for i := 0; ; {
		for i < len(line) && unicode.IsSpace(rune(line[i])) {
			i++
		}
		if i == len(line) || line[i] == '#' {
			return words
		}
		var word []byte
		escape, quoted, quote := false, false, byte(0)
		for ; i < len(line) && (quoted || !unicode.IsSpace(rune(line[i]))); i++ {
			switch c := line[i]; {
			case escape:
				escape = false
				word = append(word, c)
			case c == '\\':
				escape = true
			case quoted && c == quote:
				quoted = false
			case quoted && c != '#':
				word = append(word, c)
			case !quoted && (c == '"' || c == '\''):
				quoted, quote = true, c
			case c == '#':
				return append(words, string(word)+"… a comment")
			default:
				word = append(word, c)
			}
		}
		words = append(words, string(word))
	}
}

// TestSbatchWord: sbatch reads any path as it is, and puts nothing in its place.
func TestSbatchWord(t *testing.T) {
	check := func(t rapid.TB, path string) {
		words := sbatchWords("--output=" + sbatchWord(path+"/", "%a.out"))
		want := "--output=" + strings.ReplaceAll(path, "%", "%%") + "/%a.out"
		if len(words) != 1 || words[0] != want {
			t.Errorf("%q is read as %q", path, words)
		}
	}
	check(t, "/plain/path")
	check(t, "/"+oddName)
	rapid.Check(t, func(t *rapid.T) {
		check(t, "/"+rapid.StringMatching("[^\\\\\n\r\x00]*").Draw(t, "path"))
	})
}

// TestQuote compares with what a shell reads.
func TestQuote(t *testing.T) {
	words := []string{"", "plain", oddName, "line\nbreak", `back\slash`, "''", "-n"}
	var script strings.Builder
	for _, w := range words {
		script.WriteString("printf '%s\\0' " + Quote(w) + "\n")
	}
	out, err := osexec.Command("bash", "-c", script.String()).Output()
	if err != nil {
		t.Skipf("no bash: %v", err)
	}
	if got := string(out); got != strings.Join(words, "\x00")+"\x00" {
		t.Errorf("%q", got)
	}
}

// oddSite makes a folder of an odd name with a plan of two large tasks among
// four, and a program in it that says what it is called with.
func oddSite(t *testing.T) (dir string, p *Plan) {
	t.Helper()
	if _, err := osexec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	home := filepath.Join(t.TempDir(), oddName)
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(home, "bin", "run}all")
	const says = "#!/bin/bash\nprintf '%s|' \"$PWD\" \"$POLK_DATA_DIR\" \"${GOMEMLIMIT:-}\" \"$@\" && echo\n"
	if err := os.WriteFile(program, []byte(says), 0o777); err != nil {
		t.Fatal(err)
	}
	p = fourPlan(t, 4)
	p.Tasks[2].Memory, p.Tasks[3].Memory = 8*largeMemory, 9*largeMemory
	dir = filepath.Join(home, "plan")
	site := Site{Program: program, Workdir: home, DataDir: filepath.Join(home, "data"), EnvDataDir: filepath.Join(home, "more"), Image: "runall"}
	if _, err := Write(dir, p, site); err != nil {
		t.Fatal(err)
	}
	return dir, p
}

// said returns what the program of oddSite says of task k.
func said(dir, limit, k string) string {
	home := filepath.Dir(dir)
	return strings.Join([]string{
		home, filepath.Join(home, "more"), limit,
		"cluster", "exec", dir, "--task", k, "--results", filepath.Join(dir, "results"), "--data-dir", filepath.Join(home, "data"), "--progress", "plain", "\n",
	}, "|")
}

// TestSlurmScripts runs the scripts as slurmd does.
func TestSlurmScripts(t *testing.T) {
	dir, _ := oddSite(t)
	for _, tt := range []struct{ script, array, memory, limit, task string }{
		{SlurmName, "0-1", "256M", "225MiB", "1"},
		{SlurmLargeName, "2-3", "36864M", "33174MiB", "3"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, tt.script))
		if err != nil {
			t.Fatal(err)
		}
		for _, option := range []string{
			"--array=" + tt.array, "--mem=" + tt.memory, "--requeue", "--cpus-per-task=1", "--open-mode=append", "--signal=B:TERM@60",
			"--output=" + sbatchWord(filepath.Join(dir, "log")+"/", "%a.out"),
		} {
			if !bytes.Contains(text, []byte("#SBATCH "+option+"\n")) {
				t.Errorf("%s: no %s", tt.script, option)
			}
		}
		cmd := osexec.Command("bash", "-s")
		cmd.Stdin = bytes.NewReader(text)
		cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID="+tt.task, "RUNALL=", "RESULTS=", "GOMEMLIMIT=")
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != said(dir, tt.limit, tt.task) {
			t.Errorf("%s: %v\n%q, want\n%q", tt.script, err, out, said(dir, tt.limit, tt.task))
		}
		cmd = osexec.Command("bash", "-s")
		cmd.Stdin = bytes.NewReader(text)
		cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=7", "RUNALL=echo", "RESULTS=/else where")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "cluster exec "+dir+" --task 7 --results /else where --data-dir ") {
			t.Errorf("%s with RUNALL and RESULTS: %q, %v", tt.script, out, err)
		}
	}
}

// TestRelativePaths: RUNALL and RESULTS are relative to where a script is
// called, not to the folder that the tasks work in.
func TestRelativePaths(t *testing.T) {
	dir, _ := oddSite(t)
	here := t.TempDir()
	if err := os.Symlink(filepath.Join(filepath.Dir(dir), "bin", "run}all"), filepath.Join(here, "other")); err != nil {
		t.Fatal(err)
	}
	cmd := osexec.Command("bash", filepath.Join(dir, SlurmName))
	cmd.Dir = here
	cmd.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=0", "RUNALL=./other", "RESULTS=mine", "GOMEMLIMIT=")
	out, err := cmd.CombinedOutput()
	if want := "|--results|" + filepath.Join(here, "mine") + "|"; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v\n%q, want %q", err, out, want)
	}
}

// fakeParallel does what the script needs of GNU parallel, one job after
// another: a shell for each line that it reads, with {} replaced.
const fakeParallel = `#!/bin/bash
echo "parallel ${*:1:$#-1}" >>"$CALLS"
while read -r line; do echo "$line" >>"$CALLS"; bash -c "${!#//\{\}/$line}"; done
`

// TestParallelScript runs the script with a stand-in for GNU parallel and,
// where it is installed, with the real one.
func TestParallelScript(t *testing.T) {
	fake := t.TempDir()
	if err := os.WriteFile(filepath.Join(fake, "parallel"), []byte(fakeParallel), 0o777); err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{"fake": fake + ":" + os.Getenv("PATH")}
	if out, err := osexec.Command("parallel", "--version").Output(); err == nil && bytes.HasPrefix(out, []byte("GNU parallel")) {
		paths["GNU"] = os.Getenv("PATH")
	}
	for name, path := range paths {
		t.Run(name, func(t *testing.T) {
			dir, _ := oddSite(t)
			calls := filepath.Join(fake, "calls")
			bash := func(args ...string) {
				t.Helper()
				cmd := osexec.Command("bash", append([]string{filepath.Join(dir, ParallelName)}, args...)...)
				cmd.Env = append(os.Environ(), "PATH="+path, "CALLS="+calls, "RUNALL=", "RESULTS=", "GOMEMLIMIT=", "JOBS=2")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			bash()
			logs := map[string]string{}
			for k, limit := range map[string]string{"0": "225MiB", "1": "225MiB", "2": "", "3": ""} {
				text, err := os.ReadFile(filepath.Join(dir, "log", k+".out"))
				if logs[k] = string(text); err != nil || logs[k] != said(dir, limit, k) {
					t.Errorf("task %s: %v\n%q, want\n%q", k, err, text, said(dir, limit, k))
				}
			}
			bash("2", "1")
			for _, k := range []string{"1", "2"} {
				if text, err := os.ReadFile(filepath.Join(dir, "log", k+".out")); err != nil || string(text) != logs[k]+logs[k] {
					t.Errorf("task %s alone: %v\n%q", k, err, text)
				}
			}
		})
	}
	calls, err := os.ReadFile(filepath.Join(fake, "calls"))
	many, one := "parallel --halt never --jobs 2\n", "parallel --halt never --jobs 1\n"
	if want := many + "0\n1\n" + one + "2\n3\n" + many + "1\n" + one + "2\n"; err != nil || string(calls) != want {
		t.Errorf("%v\n%s, want\n%s", err, calls, want)
	}
}

// A k8sManifest is what the tests look at in a Job.
type k8sManifest struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		CompletionMode string `yaml:"completionMode"`
		Completions    int
		Template       struct {
			Spec struct {
				Containers []struct {
					Image        string
					Command      []string
					Args         []string
					Resources    struct{ Limits map[string]string }
					VolumeMounts []struct {
						MountPath string `yaml:"mountPath"`
						ReadOnly  bool   `yaml:"readOnly"`
					} `yaml:"volumeMounts"`
				}
				Volumes []struct{ Name string }
			}
		}
	}
}

// k8sManifests reads the documents of a file.
func k8sManifests(t *testing.T, path string) []k8sManifest {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var jobs []k8sManifest
	for d := yaml.NewDecoder(f); ; {
		var j k8sManifest
		if err := d.Decode(&j); errors.Is(err, io.EOF) {
			return jobs
		} else if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
	}
}

// TestKubernetesManifest: a Job of the ordinary tasks and one for each other,
// with no volume for data that are generated.
func TestKubernetesManifest(t *testing.T) {
	dir, _ := oddSite(t)
	jobs := k8sManifests(t, filepath.Join(dir, KubernetesName))
	want := []struct {
		task, memory string
		completions  int
	}{{"$(JOB_COMPLETION_INDEX)", "256Mi", 2}, {"2", "32768Mi", 1}, {"3", "36864Mi", 1}}
	if len(jobs) != len(want) {
		t.Fatalf("%d jobs", len(jobs))
	}
	names := make(map[string]bool)
	for i, j := range jobs {
		c := j.Spec.Template.Spec.Containers[0]
		names[j.Metadata.Name] = true
		if j.Kind != "Job" || j.Spec.CompletionMode != "Indexed" || j.Spec.Completions != want[i].completions || c.Image != "runall" || c.Command != nil ||
			c.Args[4] != want[i].task || c.Resources.Limits["memory"] != want[i].memory || len(j.Spec.Template.Spec.Volumes) != 2 {
			t.Errorf("%+v, want %+v", j, want[i])
		}
	}
	if len(names) != len(jobs) {
		t.Errorf("names %v", names)
	}
}

// TestKubernetesData: data that are read from files have a volume, where the
// working directory has its cache.
func TestKubernetesData(t *testing.T) {
	p := fourPlan(t, 4)
	p.Data = append(p.Data, DataSum{Ref: data.Ref{Name: "mnist"}, Sums: map[string]string{}})
	dir := filepath.Join(t.TempDir(), "plan")
	if _, err := Write(dir, p, Site{Image: "runall"}); err != nil {
		t.Fatal(err)
	}
	jobs := k8sManifests(t, filepath.Join(dir, KubernetesName))
	if len(jobs) != 1 {
		t.Fatalf("%d jobs", len(jobs))
	}
	pod := jobs[0].Spec.Template.Spec
	if len(pod.Volumes) != 3 || pod.Volumes[1].Name != "data" {
		t.Errorf("volumes %+v", pod.Volumes)
	}
	if m := pod.Containers[0].VolumeMounts; len(m) != 3 || m[2].MountPath != "/polk/"+data.CacheDir || !m[2].ReadOnly {
		t.Errorf("mounts %+v", m)
	}
}

//go:build check && linux

package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"polkrepro/internal/testutil"
)

// A trial is a folder for shards of the runs, and the path of runall.
type trial struct{ dir, runall string }

const runs = 24 // number of runs of testdata/slurm-*.yaml

// once holds the folder that all trials share, with the program runall and with local, the results
// of the runs without shards.
var once struct {
	sync.Once
	dir string
}

func TestMain(m *testing.M) {
	status := m.Run()
	os.RemoveAll(once.dir)
	os.Exit(status)
}

// newTrial sets RUNALL for the scripts. Its first call builds runall and carries out the runs
// without shards.
func newTrial(t *testing.T) *trial {
	t.Helper()
	once.Do(func() {
		dir, err := os.MkdirTemp("", "trials")
		testutil.NoError(t, err)
		once.dir = dir
		c := &trial{dir, filepath.Join(dir, "runall")}
		c.run(t, "go", "-C", filepath.Dir(here), "build", "-o", c.runall, "./cmd/runall")
		c.run(t, c.runall, append([]string{"reproduce", "--results", "local", "--progress", "quiet"}, specs...)...)
	})
	c := &trial{t.TempDir(), filepath.Join(once.dir, "runall")}
	t.Setenv("RUNALL", c.runall)
	return c
}

// try runs a program in a folder and returns its output.
func try(dir, program string, args ...string) (string, error) {
	cmd := exec.Command(program, args...)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, out, &said)
	}
	return string(out), err
}

// run is try in the trial's folder; a failure fails the test.
func (c *trial) run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := try(c.dir, program, args...)
	testutil.NoError(t, err)
	return out
}

// here is the absolute path of docs, because the tests run programs in other folders.
var here, _ = filepath.Abs(".")

// specs are the specs of the runs.
var specs = []string{here + "/testdata/slurm-polk.yaml", here + "/testdata/slurm-bsgd.yaml"}

// merge merges all shards and fails the test unless the records are those of a single
// process, bit for bit.
func (c *trial) merge(t *testing.T) {
	t.Helper()
	shards, _ := filepath.Glob(filepath.Join(c.dir, "shards", "*"))
	t.Logf("runall merge of %d folders: %s", len(shards), c.run(t, c.runall, append([]string{"merge", "--results", "merged"}, shards...)...))
	said := c.run(t, c.runall, "verify", "records", "--results", "merged", "--with", filepath.Join(once.dir, "local"))
	t.Log(said)
	if want := fmt.Sprintf("%d runs compared, %d the same bit for bit; 0 only in the first folder, 0 only in the second\n", runs, runs); said != want {
		t.Errorf("want %s", want)
	}
}

// TestCheckParallel runs docs/cluster/parallel.sh with GNU parallel. A second call finds all runs
// finished.
func TestCheckParallel(t *testing.T) {
	if _, err := exec.LookPath("parallel"); err != nil {
		t.Skip(err)
	}
	c := newTrial(t)
	args := append([]string{here + "/cluster/parallel.sh", "3"}, specs...)
	c.run(t, "bash", args...)
	if said := c.run(t, "bash", args...); strings.Count(said, ": 0 finished, ") != 3 {
		t.Errorf("called again: %s", said)
	}
	c.merge(t)
}

// TestCheckSlurm runs docs/cluster/slurm.sh with the variables that Slurm sets for each element of
// a job array.
func TestCheckSlurm(t *testing.T) {
	c := newTrial(t)
	t.Setenv("SLURM_CPUS_PER_TASK", "1")
	t.Setenv("SLURM_MEM_PER_NODE", "512")
	for _, k := range []string{"1", "2", "3"} {
		t.Setenv("SLURM_ARRAY_TASK_ID", k)
		c.run(t, "bash", append([]string{here + "/cluster/slurm.sh", "3"}, specs...)...)
	}
	c.merge(t)
}

const (
	kubeconform = "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"
	kubernetes  = "k8s.io/kubernetes@v1.36.3" // whose module has the API's schema
)

// TestCheckKubernetes validates docs/cluster/kubernetes.yaml with kubeconform against the
// schema of the API, changed so that an unknown key is an error too.
func TestCheckKubernetes(t *testing.T) {
	out, err := exec.Command("go", "mod", "download", "-json", kubernetes).Output()
	if err != nil {
		t.Skipf("%s is not reachable: %v", kubernetes, err)
	}
	var module struct{ Dir string }
	testutil.NoError(t, json.Unmarshal(out, &module))
	schema := testutil.ReadSchema(t, filepath.Join(module.Dir, "api/openapi-spec/v3/apis__batch__v1_openapi.json"))
	for _, s := range schema["components"].(map[string]any)["schemas"].(map[string]any) {
		if s := s.(map[string]any); s["properties"] != nil {
			s["additionalProperties"] = false
		}
	}
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	testutil.WriteJSON(t, filepath.Join(dir, "batch.json"), schema)
	put("job-batch-v1.json", `{"$ref": "batch.json#/components/schemas/io.k8s.api.batch.v1.Job"}`)
	validate := func(path string) (string, error) {
		out, err := exec.Command("go", "run", kubeconform, "-summary", "-schema-location", dir+"/{{.ResourceKind}}{{.KindSuffix}}.json", path).CombinedOutput()
		return string(out), err
	}
	said, err := validate("cluster/kubernetes.yaml")
	if t.Log(said); err != nil || !strings.Contains(said, "Valid: 1, Invalid: 0") {
		t.Fatal(err)
	}
	manifest := read(t, "docs/cluster/kubernetes.yaml")
	for old, now := range map[string]string{"completions: 20": "completions: many", "restartPolicy:": "restartsPolicy:"} {
		if said, err := validate(put("bad.yaml", strings.Replace(manifest, old, now, 1))); err == nil || !strings.Contains(said, "Invalid: 1") {
			t.Errorf("with %s: %v, %s", now, err, said)
		}
	}
}

// TestCheckImage builds the image for this architecture with 'make image' and runs the shards in
// it as its user.
func TestCheckImage(t *testing.T) {
	if _, err := exec.LookPath("buildah"); err != nil || os.Geteuid() != 0 {
		t.Skipf("buildah and root are needed: %v", err)
	}
	c := newTrial(t)
	for _, name := range []string{"root", "runroot"} {
		testutil.NoError(t, os.Mkdir(filepath.Join(c.dir, name), 0o700))
	}
	conf := fmt.Sprintf("[storage]\ndriver = \"vfs\"\ngraphroot = %q\nrunroot = %q\n", c.dir+"/root", c.dir+"/runroot")
	testutil.NoError(t, os.WriteFile(filepath.Join(c.dir, "storage.conf"), []byte(conf), 0o666))
	t.Setenv("CONTAINERS_STORAGE_CONF", filepath.Join(c.dir, "storage.conf"))
	for _, v := range []string{"MAKEFLAGS", "MAKELEVEL", "MFLAGS"} { // variables of the make that may run this test
		t.Setenv(v, "")
	}
	c.run(t, "make", "-C", filepath.Dir(here), "image", "IMAGE=polk-check", "ARCHS="+runtime.GOARCH, "IMAGEDIR="+c.dir+"/image")
	container := strings.TrimSpace(c.run(t, "buildah", "from", "--pull-never", "polk-check"))
	config := c.run(t, "buildah", "inspect", "--format", "{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.WorkingDir}}", container)
	if strings.TrimSpace(config) != "65532:65532 [/runall] /polk" {
		t.Errorf("the image's user, entrypoint and folder: %s", config)
	}
	run := func(args ...string) string {
		return c.run(t, "buildah", append([]string{"run", "--isolation", "chroot", "--env", "POLK_OFFLINE=1", container, "--", "/runall"}, args...)...)
	}
	t.Log(run("version"))
	c.run(t, "buildah", append([]string{"copy", container}, append(specs, "/polk/")...)...)
	for k := range 2 { // Kubernetes counts from 0
		t.Log(run("reproduce", "slurm-polk.yaml", "slurm-bsgd.yaml", "--shard", fmt.Sprintf("%d/2", k),
			"--results", fmt.Sprintf("shards/%d", k), "--progress", "quiet"))
	}
	mounted := strings.TrimSpace(c.run(t, "buildah", "mount", container))
	var odd []string
	err := filepath.Walk(mounted, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			odd = append(odd, path)
		}
		return err
	})
	if err != nil || len(odd) > 0 {
		t.Errorf("files with a setuid bit: %v, %v", odd, err)
	}
	testutil.NoError(t, os.CopyFS(filepath.Join(c.dir, "shards"), os.DirFS(filepath.Join(mounted, "polk", "shards"))))
	c.run(t, "buildah", "umount", container)
	c.merge(t)
}

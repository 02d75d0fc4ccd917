package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// containerEnv holds a container when this test's binary is called to run it.
const containerEnv = "IMAGE_TEST_CONTAINER"

func TestMain(m *testing.M) {
	if text := os.Getenv(containerEnv); text != "" {
		var c container
		err := json.Unmarshal([]byte(text), &c)
		if err == nil {
			err = c.enter()
		}
		fmt.Fprintln(os.Stderr, "container:", err)
		os.Exit(125)
	}
	os.Exit(m.Run())
}

// A container is a command in an unpacked image.
type container struct {
	Root    string // folder of the image's files
	Mounts  []mount
	Args    []string
	Env     []string
	Workdir string
}

// A mount is a folder of this machine that the container sees.
type mount struct {
	Inside, Outside string
	ReadOnly        bool
}

// run runs the command as user and group 65532 with a read-only root file
// system, no capabilities and no network.
func (c container) run() (string, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(self)
	cmd.Env = []string{containerEnv + "=" + string(text)}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWPID}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// enter turns this process, which has namespaces of its own, into the
// container's. It returns only if it fails.
func (c container) enter() error {
	const bind = syscall.MS_BIND
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := syscall.Mount(c.Root, c.Root, "", bind, ""); err != nil {
		return fmt.Errorf("mount %s: %w", c.Root, err)
	}
	if err := syscall.Mount("proc", filepath.Join(c.Root, "proc"), "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	for _, m := range c.Mounts {
		at := filepath.Join(c.Root, m.Inside)
		err := os.MkdirAll(at, 0o755)
		if err == nil {
			err = syscall.Mount(m.Outside, at, "", bind, "")
		}
		if err == nil && m.ReadOnly {
			err = syscall.Mount("", at, "", bind|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
		}
		if err != nil {
			return fmt.Errorf("mount %s: %w", m.Inside, err)
		}
	}
	if err := syscall.Mount("", c.Root, "", bind|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("read-only root: %w", err)
	}
	if err := os.WriteFile(filepath.Join(c.Root, "written"), nil, 0o666); !errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("the root file system is not read-only: %v", err)
	}
	links, err := net.Interfaces()
	if err != nil || slices.ContainsFunc(links, func(l net.Interface) bool { return l.Flags&net.FlagUp != 0 }) {
		return fmt.Errorf("there is a network: %v, %v", links, err)
	}
	if err := errors.Join(syscall.Chroot(c.Root), os.Chdir(c.Workdir)); err != nil {
		return err
	}
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(user), syscall.Setuid(user)); err != nil {
		return err
	}
	return syscall.Exec(c.Args[0], c.Args, c.Env)
}

// newContainer unpacks an image and returns its container with more arguments
// and variables.
func newContainer(t *testing.T, img v1.Image, mounts []mount, args, env []string) container {
	t.Helper()
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	unpack(t, img, dir)
	if err := os.Mkdir(filepath.Join(dir, "proc"), 0o755); err != nil { // container engines do so, too
		t.Fatal(err)
	}
	c := file.Config
	return container{Root: dir, Mounts: mounts, Args: append(slices.Clone(c.Entrypoint), args...), Env: append(slices.Clone(c.Env), env...), Workdir: c.WorkingDir}
}

// volume returns an empty folder that group 65532 may write to, as Kubernetes
// makes it for an fsGroup.
func volume(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chown(dir, 0, user), os.Chmod(dir, os.ModeSetgid|0o775)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// checkRuns runs the image for this machine.
func checkRuns(t *testing.T, img v1.Image) {
	if os.Geteuid() != 0 {
		t.Skip("a root file system and a user of its own need root")
	}
	t.Run("smoke", func(t *testing.T) { checkSmoke(t, img) })
	t.Run("plan", func(t *testing.T) { checkPlan(t, img, "multidist-ksvm", t.TempDir()) })
	t.Run("plan with data", func(t *testing.T) {
		cache := os.Getenv("POLK_DATA_DIR")
		spec, err := filepath.Abs(filepath.Join("testdata", "mnist.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if files, err := filepath.Glob(filepath.Join(cache, "mnist", "*")); err != nil || len(files) == 0 {
			if os.Getenv("POLK_REQUIRE_DATA") != "" {
				t.Fatal("no MNIST files in $POLK_DATA_DIR")
			}
			t.Skip("no MNIST files in $POLK_DATA_DIR")
		}
		checkPlan(t, img, spec, cache)
	})
}

// checkSmoke runs the smoke profile.
func checkSmoke(t *testing.T, img v1.Image) {
	work := volume(t)
	out, err := newContainer(t, img, []mount{{Inside: "/polk", Outside: work}}, []string{"reproduce", "--profile", "smoke"}, []string{"POLK_OFFLINE=1"}).run()
	t.Logf("runall reproduce --profile smoke:\n%s", out)
	if err != nil {
		t.Fatal(err)
	}
	records, err := filepath.Glob(filepath.Join(work, "results", "records", "*"))
	if err != nil || len(records) == 0 {
		t.Fatalf("no records in /polk/results: %v", err)
	}
	for _, path := range records {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != user {
			t.Errorf("%s belongs to user %d", path, s.Uid)
		}
	}
	t.Logf("%d records", len(records))
}

// A job is what checkPlan reads in kubernetes.yaml.
type job struct {
	Spec struct {
		Completions int
		Template    struct {
			Spec struct {
				Containers []struct {
					Image        string
					Command      []string
					Args         []string
					WorkingDir   string `yaml:"workingDir"`
					Env          []struct{ Name, Value string }
					VolumeMounts []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
						ReadOnly  bool   `yaml:"readOnly"`
					} `yaml:"volumeMounts"`
				}
			}
		}
	}
}

// checkPlan plans with the image's program, runs every task of the manifest as a
// kubelet would, and collects the records. The data files are those in cache.
func checkPlan(t *testing.T, img v1.Image, spec, cache string) {
	bin := t.TempDir()
	unpack(t, img, bin)
	program := filepath.Join(bin, "runall")
	plan := filepath.Join(volume(t), "plan")
	runall(t, program, "cluster", "plan", spec, "--profile", "smoke", "--data-dir", cache, "--require-data", "--tasks", "2", "--image", imageName, "--out", plan)
	text, err := os.ReadFile(filepath.Join(plan, "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var j job
	if err := yaml.Unmarshal(text, &j); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chown(plan, 0, user), os.Chmod(plan, os.ModeSetgid|0o775)); err != nil {
		t.Fatal(err)
	}
	pod := j.Spec.Template.Spec.Containers[0]
	if j.Spec.Completions != 2 || pod.Image != imageName || pod.Command != nil {
		t.Fatalf("%+v", j)
	}
	for k := range j.Spec.Completions {
		var mounts []mount
		for _, m := range pod.VolumeMounts {
			folder := map[string]string{"plan": plan, "work": volume(t), "data": cache}[m.Name]
			mounts = append(mounts, mount{m.MountPath, folder, m.ReadOnly})
		}
		var args, env []string
		for _, a := range pod.Args {
			args = append(args, strings.ReplaceAll(a, "$(JOB_COMPLETION_INDEX)", strconv.Itoa(k)))
		}
		for _, v := range pod.Env {
			env = append(env, v.Name+"="+v.Value)
		}
		c := newContainer(t, img, mounts, args, env)
		c.Workdir = pod.WorkingDir
		if out, err := c.run(); err != nil {
			t.Fatalf("task %d: %v\n%s", k, err, out)
		}
	}
	t.Log(runall(t, program, "cluster", "collect", plan, "--results", filepath.Join(t.TempDir(), "results")))
}

func runall(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = filepath.Dir(program)
	cmd.Env = append(os.Environ(), "POLK_OFFLINE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("runall %v: %v\n%s", args, err, out)
	}
	return string(out)
}

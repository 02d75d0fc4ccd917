//go:build check && linux

package docs

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"polkrepro/internal/testutil"
)

// patience is how long the test waits for anything before it gives up. It is
// far above what any step takes, so that a busy machine doesn't fail the test.
const patience = 3 * time.Minute

// A slurm is a controller and two nodes of one processor, each in a process namespace of its
// own with a host name of its own: to kill the first process of one is to kill all of them at
// once, as when a machine loses its power.
type slurm struct {
	dir     string
	daemons map[string]*exec.Cmd
}

// start brings up a Slurm, which ends with the test, and waits until its nodes are idle. It
// skips the test where that can't be done.
func start(t *testing.T) *slurm {
	t.Helper()
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue", "sinfo"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("Slurm is not installed: %v", err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("not root: Slurm's daemons can't have namespaces of their own")
	}
	// Under /tmp by a short name: a socket's path has at most 107 bytes.
	dir, err := os.MkdirTemp("", "slurm")
	testutil.NoError(t, err)
	s := &slurm{dir, make(map[string]*exec.Cmd)}
	t.Cleanup(func() { s.stop(t) })
	t.Setenv("SLURM_CONF", dir+"/slurm.conf")
	t.Setenv("HOSTS", dir+"/hosts")
	values := map[string]string{"DIR": dir}
	var held [3]net.Listener // at once, so that no port is given twice
	for i := range held {
		if held[i], err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		values[fmt.Sprintf("PORT%d", i)] = fmt.Sprint(held[i].Addr().(*net.TCPAddr).Port)
	}
	for _, l := range held {
		l.Close()
	}
	key := make([]byte, 128)
	rand.Read(key)
	munge := dir + "/munge"
	err = errors.Join(os.Mkdir(munge, 0o755), os.Mkdir(dir+"/state", 0o755), os.Mkdir(dir+"/log", 0o755),
		os.WriteFile(dir+"/slurm.conf", []byte(os.Expand(read(t, "docs/testdata/slurm.conf"), func(name string) string { return values[name] })), 0o644),
		os.WriteFile(dir+"/hosts", []byte("127.0.0.1 localhost munge controller node1 node2\n"), 0o644),
		os.WriteFile(munge+"/key", key, 0o400))
	testutil.NoError(t, err)
	s.daemon(t, "munge", "munged", "--foreground", "--force", "--key-file="+munge+"/key", "--socket="+munge+"/socket",
		"--pid-file="+munge+"/pid", "--log-file="+munge+"/log", "--seed-file="+munge+"/seed")
	await(t, "munged", func() error { _, err := os.Stat(munge + "/socket"); return err })
	s.daemon(t, "controller", "slurmctld", "-D")
	await(t, "slurmctld", func() error { _, err := try("", "scontrol", "ping"); return err })
	for _, node := range []string{"node1", "node2"} {
		s.daemon(t, node, "slurmd", "-D", "-N", node)
		awaitNode(t, node, "be idle", func(state string) bool { return strings.HasPrefix(state, "idle") })
	}
	return s
}

// daemon starts a program in namespaces of its own (processes, mounts, host
// name). It ends when the test's process does, however that ends.
func (s *slurm) daemon(t *testing.T, host string, program ...string) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log", host), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	testutil.NoError(t, err)
	defer log.Close()
	const setup = `mount --make-rprivate / && mount -t proc proc /proc && mount --bind "$HOSTS" /etc/hosts && hostname "$0" && exec "$@"`
	cmd := exec.Command("sh", append([]string{"-c", setup, host}, program...)...)
	cmd.Stdout, cmd.Stderr = log, log
	// Go's threads that are not locked to a goroutine last as long as the process,
	// so Pdeathsig, which goes by the thread, comes when the process ends.
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
	}
	if err := cmd.Start(); errors.Is(err, syscall.EPERM) {
		t.Skipf("no namespaces here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	s.daemons[host] = cmd
}

// powerOff ends all processes of a node at once, by SIGKILL.
func (s *slurm) powerOff(host string) {
	s.daemons[host].Process.Kill()
	s.daemons[host].Wait() // its error is that it was killed
	delete(s.daemons, host)
}

func (s *slurm) stop(t *testing.T) {
	for host := range s.daemons {
		s.powerOff(host)
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(s.dir, "log", host))
			t.Logf("log of %s:\n%s", host, log)
		}
	}
	if err := os.RemoveAll(s.dir); err != nil {
		t.Error(err)
	}
}

// A job is one element of an array, as Slurm tells it.
type job struct {
	task            int
	id, state, node string
	restarts        int
}

// jobs returns the elements of an array.
func jobs(array string) (jobs []job, err error) {
	lines, err := try("", "squeue", "-h", "-r", "-t", "all", "-j", array, "-O", "ArrayTaskID:9 ,JobID:9 ,State:20 ,RestartCnt:9 ,BatchHost:20")
	for line := range strings.Lines(lines) {
		var j job
		if _, err := fmt.Sscan(line, &j.task, &j.id, &j.state, &j.restarts, &j.node); err != nil {
			return nil, fmt.Errorf("%w in %q", err, line)
		}
		jobs = append(jobs, j)
	}
	return jobs, err
}

// find returns the first job of an array that is as wanted.
func find(array string, wanted func(job) bool) (job, error) {
	jobs, err := jobs(array)
	if i := slices.IndexFunc(jobs, wanted); i >= 0 {
		return jobs[i], nil
	}
	return job{}, cmp.Or(err, fmt.Errorf("none of %+v", jobs))
}

// await calls try until there is no error.
func await(t *testing.T, what string, try func() error) {
	t.Helper()
	err := try()
	for deadline := time.Now().Add(patience); err != nil && time.Now().Before(deadline); err = try() {
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Fatalf("waited for %s for %v in vain: %v", what, patience, err)
	}
}

// awaitNode waits until a node is in a state.
func awaitNode(t *testing.T, node, what string, wanted func(state string) bool) {
	t.Helper()
	await(t, node+" to "+what, func() error {
		state, err := try("", "sinfo", "-h", "-N", "-n", node, "-o", "%T")
		if err == nil && !wanted(state) {
			err = errors.New("it is " + state)
		}
		return err
	})
}

// startNow spares a requeued task the two minutes that Slurm holds it back, as
// an operator may.
func startNow(t *testing.T, array string, task int) {
	t.Helper()
	await(t, fmt.Sprintf("task %d in the queue again", task), func() error {
		again, err := find(array, func(j job) bool { return j.task == task && j.state == "PENDING" && j.restarts > 0 })
		if err == nil {
			_, err = try("", "scontrol", "update", "JobId="+again.id, "StartTime=now")
		}
		return err
	})
}

// restoreNode boots a node, whose task was lost, after Slurm has noticed that it
// is gone and the task has begun on another one: a node that registers is told to
// kill what it had, and would kill the same task restarted there. Slurm's two
// minutes are for that.
func (s *slurm) restoreNode(t *testing.T, array, node string, lost int) {
	t.Helper()
	down := func(state string) bool { return strings.HasPrefix(state, "down") }
	awaitNode(t, node, "be down", down)
	startNow(t, array, lost)
	await(t, fmt.Sprintf("task %d on another node", lost), func() error {
		_, err := find(array, func(j job) bool { return j.task == lost && j.state != "PENDING" })
		return err
	})
	s.daemon(t, node, "slurmd", "-D", "-N", node)
	awaitNode(t, node, "be up", func(state string) bool { return state != "" && !down(state) })
}

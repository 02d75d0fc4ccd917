//go:build check && linux

package docs

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"
)

// patience is how long the test waits for anything before it gives up. It is
// far above what any step takes, so that a busy machine doesn't fail the test.
const patience = 3 * time.Minute

// configuration keeps every file, port and process of this Slurm apart from
// one that the machine may have of its own. Nodes are told by their ports, as
// Debian builds slurmd with --enable-multiple-slurmd.
var configuration = template.Must(template.New("slurm.conf").Parse(`ClusterName=polk
SlurmctldHost=controller(127.0.0.1)
SlurmctldPort={{.ControllerPort}}
SlurmUser=root
SlurmdUser=root
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket={{.Dir}}/munge/socket
CredType=cred/munge
StateSaveLocation={{.Dir}}/state
SlurmdSpoolDir={{.Dir}}/spool-%n
SlurmctldPidFile={{.Dir}}/slurmctld.pid
SlurmdPidFile={{.Dir}}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MailProg=/bin/true
MpiDefault=none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
SlurmdTimeout=5
MessageTimeout=3
KillWait=5
MinJobAge=86400
ReturnToService=2
JobRequeue=1
{{range .Nodes}}NodeName={{.Name}} NodeAddr=127.0.0.1 Port={{.Port}} CPUs=1 RealMemory={{.Memory}}
{{end}}PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`))

// A slurm is a controller and its nodes, each in a process namespace of its own
// with a host name of its own: to kill the first process of one is to kill all
// of them at once, as when a machine loses its power.
type slurm struct {
	Dir            string
	ControllerPort int
	Nodes          []*node

	daemons map[string]*exec.Cmd
}

type node struct {
	Name   string
	Port   int
	Memory int // MiB
}

// start brings up a Slurm with so many nodes of one processor, which ends with
// the test. It skips the test where that can't be done.
func start(t *testing.T, nodes int) *slurm {
	t.Helper()
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("Slurm is not installed: %v", err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("not root: Slurm's daemons can't have namespaces of their own")
	}
	// Under /tmp by a short name: a socket's path has at most 107 bytes.
	dir, err := os.MkdirTemp("", "slurm")
	if err != nil {
		t.Fatal(err)
	}
	s := &slurm{Dir: dir, daemons: make(map[string]*exec.Cmd)}
	t.Cleanup(func() { s.stop(t) })
	for _, sub := range []string{"munge", "state", "log"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ports := freePorts(t, nodes+1)
	s.ControllerPort = ports[0]
	for i, port := range ports[1:] {
		s.Nodes = append(s.Nodes, &node{fmt.Sprintf("node%d", i+1), port, 2048})
	}
	s.writeFiles(t)
	s.boot(t)
	return s
}

// freePorts returns so many ports of the loopback interface that nobody
// listens on.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var ports []int
	for range n {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (s *slurm) writeFiles(t *testing.T) {
	t.Helper()
	var conf bytes.Buffer
	if err := configuration.Execute(&conf, s); err != nil {
		t.Fatal(err)
	}
	hosts := "127.0.0.1 localhost munge controller"
	for _, n := range s.Nodes {
		hosts += " " + n.Name
	}
	key := make([]byte, 128)
	rand.Read(key)
	err := errors.Join(
		os.WriteFile(filepath.Join(s.Dir, "slurm.conf"), conf.Bytes(), 0o644),
		os.WriteFile(filepath.Join(s.Dir, "hosts"), []byte(hosts+"\n"), 0o644),
		os.WriteFile(filepath.Join(s.Dir, "munge/key"), key, 0o400))
	if err != nil {
		t.Fatal(err)
	}
}

// boot starts the daemons and waits until all nodes are idle.
func (s *slurm) boot(t *testing.T) {
	t.Helper()
	munge := filepath.Join(s.Dir, "munge")
	s.daemon(t, "munge", "munged", "--foreground", "--force", "--key-file="+munge+"/key", "--socket="+munge+"/socket",
		"--pid-file="+munge+"/pid", "--log-file="+munge+"/log", "--seed-file="+munge+"/seed")
	await(t, "munged", func() error { _, err := os.Stat(munge + "/socket"); return err })
	s.daemon(t, "controller", "slurmctld", "-D")
	await(t, "slurmctld", func() error { _, err := s.try("scontrol", "ping"); return err })
	for _, n := range s.Nodes {
		s.powerOn(t, n.Name)
	}
	for _, n := range s.Nodes {
		s.awaitNode(t, n.Name, "IDLE")
	}
}

// daemon starts a program in namespaces of its own (processes, mounts, host
// name). It ends when the test's process does, however that ends.
func (s *slurm) daemon(t *testing.T, host string, program ...string) {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(s.Dir, "log", host), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	const setup = `mount --make-rprivate / && mount -t proc proc /proc && mount --bind "$HOSTS" /etc/hosts && hostname "$0" && exec "$@"`
	cmd := exec.Command("sh", append([]string{"-c", setup, host}, program...)...)
	cmd.Env = append(s.environment(), "HOSTS="+filepath.Join(s.Dir, "hosts"))
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

func (s *slurm) powerOn(t *testing.T, node string) {
	t.Helper()
	s.daemon(t, node, "slurmd", "-D", "-N", node)
}

// powerOff ends all processes of a node at once, by SIGKILL.
func (s *slurm) powerOff(t *testing.T, node string) {
	t.Helper()
	if err := s.daemons[node].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.daemons[node].Wait() // its error is that it was killed
	delete(s.daemons, node)
}

func (s *slurm) stop(t *testing.T) {
	for host, cmd := range s.daemons {
		cmd.Process.Kill()
		cmd.Wait() // its error is that it was killed
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(s.Dir, "log", host))
			t.Logf("log of %s:\n%s", host, log)
		}
	}
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Error(err)
	}
}

// environment is that of a user of this Slurm.
func (s *slurm) environment() []string {
	return append(os.Environ(), "SLURM_CONF="+filepath.Join(s.Dir, "slurm.conf"))
}

// try runs a command as a user of this Slurm.
func (s *slurm) try(program string, args ...string) (stdout string, err error) {
	cmd := exec.Command(program, args...)
	cmd.Env = s.environment()
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, out.Bytes(), said.Bytes())
	}
	return out.String(), nil
}

// run is try where a failure is the test's.
func (s *slurm) run(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := s.try(program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// awaitNode waits until a node is in a state, or in one that begins so.
func (s *slurm) awaitNode(t *testing.T, node, state string) {
	t.Helper()
	await(t, node+" to be "+state, func() error {
		is, err := s.nodeState(node)
		if err == nil && !strings.HasPrefix(is, state) {
			err = fmt.Errorf("it is %s", is)
		}
		return err
	})
}

func (s *slurm) nodeState(node string) (string, error) {
	line, err := s.try("scontrol", "-o", "show", "node", node)
	return field(line, "State"), err
}

// A job is one element of an array, as Slurm tells it.
type job struct {
	task     int
	id       string
	state    string
	node     string
	restarts int
}

// jobs returns the elements of an array that were started at least once.
func (s *slurm) jobs(array string) ([]job, error) {
	lines, err := s.try("scontrol", "-o", "show", "job", array)
	if err != nil {
		return nil, err
	}
	var jobs []job
	for line := range strings.Lines(lines) {
		task, err := strconv.Atoi(field(line, "ArrayTaskId"))
		if err != nil {
			continue // elements that are still to be started are one line, such as ArrayTaskId=3-7
		}
		restarts, err := strconv.Atoi(field(line, "Restarts"))
		if err != nil {
			return nil, fmt.Errorf("%w in %q", err, line)
		}
		jobs = append(jobs, job{task, field(line, "JobId"), field(line, "JobState"), field(line, "BatchHost"), restarts})
	}
	return jobs, nil
}

// find returns the first job of an array that is as wanted.
func (s *slurm) find(array string, wanted func(job) bool) (job, error) {
	jobs, err := s.jobs(array)
	if i := slices.IndexFunc(jobs, wanted); i >= 0 {
		return jobs[i], nil
	}
	return job{}, cmp.Or(err, fmt.Errorf("none of %+v", jobs))
}

// awaitArray waits until no element of an array is left to run.
func (s *slurm) awaitArray(t *testing.T, array string) {
	t.Helper()
	await(t, "the end of job "+array, func() error {
		left, err := s.try("squeue", "-h", "-j", array)
		if err == nil && left != "" {
			err = errors.New(left)
		}
		return err
	})
}

// field returns the value of a field in a line of scontrol -o.
func field(line, name string) string {
	m := regexp.MustCompile(`(?:^| )` + name + `=(\S*)`).FindStringSubmatch(line)
	if m == nil {
		return ""
	}
	return m[1]
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

// startNow spares a requeued task the two minutes that Slurm holds it back, as
// an operator may.
func (s *slurm) startNow(t *testing.T, array string, task int) {
	t.Helper()
	await(t, fmt.Sprintf("task %d in the queue again", task), func() error {
		again, err := s.find(array, func(j job) bool { return j.task == task && j.state == "PENDING" && j.restarts > 0 })
		if err == nil {
			_, err = s.try("scontrol", "update", "JobId="+again.id, "StartTime=now")
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
	s.awaitNode(t, node, "DOWN")
	s.startNow(t, array, lost)
	await(t, fmt.Sprintf("task %d on another node", lost), func() error {
		_, err := s.find(array, func(j job) bool { return j.task == lost && j.state != "PENDING" })
		return err
	})
	s.powerOn(t, node)
	await(t, node+" to be up", func() error {
		is, err := s.nodeState(node)
		if err == nil && strings.HasPrefix(is, "DOWN") {
			err = fmt.Errorf("it is %s", is)
		}
		return err
	})
}

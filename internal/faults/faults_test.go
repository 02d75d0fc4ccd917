//go:build check && linux

package faults

import (
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"polkrepro/internal/testutil"
	"polkrepro/online"
)

var (
	trials  = flag.Int("trials", 36, "number of trials: all pairs of a fault and a command come by turns")
	seed    = flag.Uint64("seed", 1, "seed of the trials")
	only    = flag.Int("trial", -1, "number of the one trial to repeat")
	summary = flag.String("summary", "", "file for the summary")
)

//go:embed testdata/*.yaml
var specs embed.FS

// A command is a command line that trials disturb, with the contents of the results folder
// that an undisturbed process leaves, its duration and its size.
type command struct {
	name     string
	args     []string
	want     state
	duration time.Duration
	size     int64
}

// A fault is a way in which a trial disturbs a command.
type fault struct {
	name    string
	disturb func(t *trial)
}

var faults = []fault{
	{"kill -9", kills},
	{"SIGTERM, SIGINT or SIGHUP", stops},
	{"full disk", fullDisk},
	{"several processes", several},
	{"damage while it runs", damageDuring},
	{"damage in between", damageBetween},
}

// A scenario is a fault with a command, and the number of its trials by outcome.
type scenario struct {
	fault    fault
	cmd      *command
	outcomes [outcomes]int
}

// TestCheckFaults carries out random trials of all faults and commands, two at a time.
func TestCheckFaults(t *testing.T) {
	k := newKit(t)
	var scenarios []*scenario
	left := ""
	for _, f := range faults {
		if f.name == "full disk" && os.Getuid() != 0 {
			left = "\nLeft out: full disk, because only root can mount a small one.\n"
			continue
		}
		for _, c := range k.commands {
			scenarios = append(scenarios, &scenario{fault: f, cmd: c})
		}
	}
	numbers := make(chan int, max(*trials, 1))
	if *only >= 0 {
		numbers <- *only
	} else {
		for n := range *trials {
			numbers <- n
		}
	}
	close(numbers)
	var workers sync.WaitGroup
	var mu sync.Mutex
	for range 2 {
		workers.Go(func() {
			// The thread ends with this goroutine, and the processes that the thread starts
			// and the file systems that it mounts end with the thread.
			runtime.LockOSThread()
			if os.Getuid() == 0 {
				err := syscall.Unshare(syscall.CLONE_NEWNS)
				if err = errors.Join(err, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")); err != nil {
					t.Error(err)
				}
			}
			for n := range numbers {
				s := scenarios[n%len(scenarios)]
				outcome := k.carry(n, s)
				mu.Lock()
				s.outcomes[outcome]++
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	text := table(scenarios) + left
	t.Log("\n" + text)
	if *summary != "" {
		if err := os.WriteFile(*summary, []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// table returns the outcomes in Markdown.
func table(scenarios []*scenario) string {
	var b strings.Builder
	b.WriteString("| fault | command | trials | survived at once | resumed | refused, then resumed | violations |\n|---|---|--:|--:|--:|--:|--:|\n")
	all := &scenario{fault: fault{name: "all"}, cmd: &command{}}
	for _, s := range append(scenarios, all) {
		n := 0
		for outcome, count := range s.outcomes {
			n += count
			if s != all {
				all.outcomes[outcome] += count
			}
		}
		if n > 0 {
			o := s.outcomes
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d |\n", s.fault.name, s.cmd.name, n, o[survived], o[resumed], o[refused], o[violated])
		}
	}
	return b.String()
}

// kills kills the command at random moments, up to three times in a row.
func kills(t *trial) {
	for n := 1 + t.rng.IntN(3); n > 0 && !t.through; n-- {
		p := t.start()
		if !p.within(t.when()) {
			p.Process.Kill()
		}
		t.ended(p, syscall.SIGKILL)
	}
}

// stops tells the command to stop, once or twice in a row. The command may take two seconds,
// and two more because another trial runs at the same time.
func stops(t *trial) {
	for n := 1 + t.rng.IntN(2); n > 0 && !t.through; n-- {
		signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}[t.rng.IntN(3)]
		p := t.start()
		if !p.within(t.when()) {
			p.Process.Signal(signal)
			if told := time.Since(p.begun); !p.within(told + 4*time.Second) {
				t.violation("it goes on for more than 4 s after %v", signal)
			}
		}
		t.ended(p, signal)
	}
}

// fullDisk puts the results on a file system that is too small, in bytes or in files, until
// repair enlarges it.
func fullDisk(t *trial) {
	options := fmt.Sprintf("size=%dk", 4*(1+t.rng.Int64N(1+t.cmd.size*11/10/4096)))
	if t.rng.IntN(4) == 0 {
		options = fmt.Sprintf("size=64m,nr_inodes=%d", 2+t.rng.IntN(len(t.cmd.want)+8))
	}
	t.say("the results' file system: %s; %v", options, syscall.Mount("faults", t.results(), "tmpfs", 0, options))
	t.repair = func() {
		t.say("a larger one: %v", syscall.Mount("faults", t.results(), "tmpfs", syscall.MS_REMOUNT, "size=64m,nr_inodes=10000"))
	}
	t.ended(t.start(), 0, refusal{1, "no space left on device"})
}

// several starts up to four processes on one folder, one of which may be killed.
func several(t *trial) {
	var processes []*process
	for range 2 + t.rng.IntN(3) {
		processes = append(processes, t.start())
		time.Sleep(t.when() / 2)
	}
	var sent syscall.Signal
	if t.rng.IntN(3) == 0 {
		sent = syscall.SIGKILL
		processes[t.rng.IntN(len(processes))].Process.Kill() // unless it has ended
	}
	through := false
	for _, p := range processes {
		t.ended(p, sent, refusal{2, "is in use by another runall"})
		through = through || t.through
	}
	t.through = through
	if through {
		t.resume = false
	}
}

// damageDuring damages a file, or removes the results, at a random moment of the command.
func damageDuring(t *trial) {
	p := t.start()
	if !p.within(t.when()) {
		t.damage()
	}
	t.ended(p, 0, refusal{1, "no such file or directory|were deleted or damaged by another program"}, refusal{4, "damaged records: "})
}

// damageBetween damages up to three of the files that a process has left, whether the process
// was killed or finished.
func damageBetween(t *trial) {
	p := t.start()
	if t.rng.IntN(2) == 0 && !p.within(t.when()) {
		p.Process.Kill()
	}
	t.ended(p, syscall.SIGKILL)
	for range 1 + t.rng.IntN(3) {
		t.damage()
	}
	t.believes()
	if t.resume { // training does not resume a damaged model: it starts over
		t.ended(t.start(), 0, refusal{1, regexp.QuoteMeta(online.ErrFormat.Error()) + "|no such file or directory"})
		t.resume = false
	}
}

// damage deletes, truncates, overwrites or lengthens a file of the results, or deletes all
// of them. In two cases out of three it chooses a file among the records alone.
func (t *trial) damage() {
	t.tampered = true
	var files, records []string
	filepath.WalkDir(t.results(), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() { // else it is deleted, or not a regular file
			files = append(files, path)
			if strings.Contains(path, ".jsonl") {
				records = append(records, path)
			}
		}
		return nil
	})
	if len(files) == 0 || t.rng.IntN(12) == 0 {
		t.say("the results are deleted: %v", os.RemoveAll(t.results()))
		t.repair = func() { os.MkdirAll(t.results(), 0o755) } // train needs the folder
		return
	}
	if len(records) > 0 && t.rng.IntN(3) > 0 {
		files = records
	}
	path := files[t.rng.IntN(len(files))]
	b, err := os.ReadFile(path)
	if err != nil || t.rng.IntN(4) == 0 {
		t.say("%s is deleted: %v", path, os.Remove(path))
		return
	}
	noise := make([]byte, 1+t.rng.IntN(64))
	for i := range noise {
		noise[i] = byte(t.rng.Uint32())
	}
	at := t.rng.IntN(len(b) + 1)
	spoiled := [][]byte{b[:at], slices.Concat(b[:at], noise, b[min(at+len(noise), len(b)):]), slices.Concat(b, noise)}[t.rng.IntN(3)]
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0) // only if it still exists
	if err == nil {
		_, err = f.Write(spoiled)
		f.Close()
	}
	t.say("%s is damaged from byte %d on, %d bytes of %d: %v", path, at, len(spoiled), len(b), err)
}

// A kit holds what all trials share: the program, and a folder with the files that the
// commands read.
type kit struct {
	tb               *testing.T
	binary, template string
	commands         []*command
}

func newKit(t *testing.T) *kit {
	base := t.TempDir()
	k := &kit{tb: t, binary: filepath.Join(base, "runall"), template: filepath.Join(base, "template")}
	if out, err := exec.Command("go", "build", "-o", k.binary, "polkrepro/cmd/runall").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var rows strings.Builder // three classes in the plane
	src := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		c := src.IntN(3)
		fmt.Fprintf(&rows, "%d,%.4f,%.4f\n", c, float64(c)+src.Float64(), src.Float64()-float64(c))
	}
	err := errors.Join(os.MkdirAll(filepath.Join(k.template, "results"), 0o755), os.CopyFS(k.template, specs),
		os.WriteFile(filepath.Join(k.template, "rows.csv"), []byte(rows.String()), 0o644))
	testutil.NoError(t, err)
	reproduce := []string{"reproduce", "testdata/margin.yaml", "testdata/logistic.yaml", "--workers", "2", "--progress", "plain", "--results"}
	if p := k.start(k.template, append(slices.Clone(reproduce), "shard", "--shard", "1/1")); p.wait() != 0 {
		t.Fatalf("a shard: %s", &p.stderr)
	}
	k.commands = []*command{
		{name: "reproduce", args: append(reproduce, "results")},
		{name: "train", args: []string{"train", "rows.csv", "--epochs", "8", "--out", "results/model"}},
		{name: "merge", args: []string{"merge", "shard", "--results", "results"}},
	}
	for _, c := range k.commands {
		k.measure(c)
		t.Logf("%s, undisturbed: %v, %d files, %d KiB", c.name, c.duration.Round(time.Millisecond), len(c.want), c.size>>10)
	}
	return k
}

// measure runs the command in two undisturbed processes at once, and records the results
// that they leave and the longer of their durations. Contents that differ, such as times in
// a report, are set to varies.
func (k *kit) measure(c *command) {
	var processes [2]*process
	for i := range processes {
		dir := filepath.Join(filepath.Dir(k.template), fmt.Sprint(c.name, i))
		if err := os.CopyFS(dir, os.DirFS(k.template)); err != nil {
			k.tb.Fatal(err)
		}
		processes[i] = k.start(dir, c.args)
	}
	for _, p := range processes {
		if code := p.wait(); code != 0 {
			k.tb.Fatalf("%s, undisturbed: exit %d\n%s", c.name, code, &p.stderr)
		}
		c.duration = max(c.duration, time.Since(p.begun))
		s, size, err := read(p.Dir)
		if err != nil {
			k.tb.Fatal(err)
		}
		for name := range c.want {
			if s[name] != c.want[name] || strings.HasPrefix(name, "report/tables/methods-") { // of rounded times
				c.want[name] = varies
			}
		}
		if c.want == nil {
			c.want, c.size = s, size
		}
		if wrong := s.differences(c.want); len(wrong) > 0 || len(s) == 0 {
			k.tb.Fatalf("%s, undisturbed twice: %v", c.name, wrong)
		}
	}
}

// carry carries out a trial.
func (k *kit) carry(n int, s *scenario) (outcome int) {
	dir := filepath.Join(filepath.Dir(k.template), fmt.Sprintf("trial-%d", n))
	if err := os.CopyFS(dir, os.DirFS(k.template)); err != nil {
		k.tb.Error(err)
		return violated
	}
	t := &trial{kit: k, cmd: s.cmd, dir: dir, rng: rand.New(rand.NewPCG(*seed, uint64(n)))}
	s.fault.disturb(t)
	if outcome = t.conclude(); outcome == violated {
		k.tb.Errorf("trial %d, %s × %s: %s\nto repeat: make faults SEED=%d TRIAL=%d\n%s",
			n, s.fault.name, s.cmd.name, strings.Join(t.wrong, "; "), *seed, n, strings.Join(t.said, "\n"))
	}
	_ = syscall.Unmount(t.results(), syscall.MNT_DETACH) // most trials have mounted nothing
	if err := os.RemoveAll(dir); err != nil {
		k.tb.Error(err)
	}
	return outcome
}

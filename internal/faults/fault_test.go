//go:build check && linux

package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// A fault is what a trial does to a command.
type fault struct {
	name    string
	mounts  bool                  // needs file systems of its own
	only    func(c *command) bool // the commands that it is for; nil for all
	disturb func(t *trial)
}

var allFaults = []fault{
	{name: "kill -9", disturb: kills},
	{name: "SIGTERM, SIGINT or SIGHUP", disturb: stops},
	{name: "full disk", mounts: true, disturb: fullDisk},
	{name: "read-only folder", disturb: readOnlyFolder},
	{name: "remounted read-only", mounts: true, disturb: remounted},
	{name: "permission lost", disturb: permissionLost},
	{name: "several processes", disturb: several},
	{name: "damage while it runs", disturb: damageDuring},
	{name: "damage in between", disturb: damageBetween},
	{name: "jumping clock", disturb: jumpingClock},
	{name: "few open files", disturb: fewFiles},
	{name: "full TMPDIR", mounts: true, disturb: fullTemporary},
	{name: "umask 077", disturb: closedUmask},
	{name: "output is input", only: func(c *command) bool { return c.collides != nil }, disturb: collides},
}

// one is a refusal with exit status 1.
func one(text string) refusal { return refusal{1, regexp.MustCompile(text)} }

// kills kills the command at random moments, up to three times in a row.
func kills(t *trial) {
	for n := 1 + t.rng.IntN(3); n > 0 && !t.through; n-- {
		p := t.start()
		if !p.within(t.when()) {
			p.cmd.Process.Kill()
		}
		t.ended(p, []syscall.Signal{syscall.SIGKILL})
	}
}

// stops tells the command to stop, once or twice in a row.
func stops(t *trial) {
	for n := 1 + t.rng.IntN(2); n > 0 && !t.through; n-- {
		signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}[t.rng.IntN(3)]
		p := t.start()
		if !p.within(t.when()) {
			p.cmd.Process.Signal(signal)
			if told := time.Since(p.begun); !p.within(told + prompt) {
				t.violation("it goes on for more than %v after %v", prompt, signal)
			}
		}
		t.ended(p, []syscall.Signal{signal})
	}
}

// prompt is how soon a process ends that is told to stop: two seconds, and as much
// again for the trial that is under way beside it.
const prompt = 4 * time.Second

// closedUmask has the command work with a umask that closes its files to others,
// while it may be told to stop.
func closedUmask(t *trial) {
	t.user.umask = "077"
	t.closed = true
	if t.rng.IntN(2) == 0 {
		stops(t)
	}
	t.ended(t.start(), nil)
}

// collides has the command write to a file that it reads.
func collides(t *trial) {
	file := filepath.Join(t.dir, "rows.csv")
	if err := errors.Join(os.Symlink("rows.csv", filepath.Join(t.dir, "soft")), os.Link(file, filepath.Join(t.dir, "hard"))); err != nil {
		t.tb.Fatal(err)
	}
	for _, args := range t.cmd.collides {
		p := t.launch(launch{args: args})
		t.ended(p, nil, refusal{2, regexp.MustCompile("is the same file as|is a symbolic link")})
	}
	t.through = false
	if b, err := os.ReadFile(file); err != nil || string(b) != rows() {
		t.violation("rows.csv is another file: %v", err)
	}
}

// fullDisk gives the results a file system that is too small, in bytes or in
// files.
func fullDisk(t *trial) {
	options := pages(1 + t.rng.Int64N(1+t.cmd.size*11/10/4096))
	if t.rng.IntN(4) == 0 {
		options = fmt.Sprintf("size=64m,nr_inodes=%d", 2+t.rng.IntN(len(t.cmd.want)+8))
	}
	t.mount(t.results(), options)
	t.repair = append(t.repair, func() { t.remount(t.results(), 0, "size=64m,nr_inodes=10000") })
	t.ended(t.start(), nil, one("no space left on device"))
}

// readOnlyFolder takes the right to write to the results folder, or to one in
// it, from the beginning.
func readOnlyFolder(t *trial) {
	t.own()
	p := t.start()
	if !p.within(t.when()) {
		p.cmd.Process.Kill()
	}
	t.ended(p, []syscall.Signal{syscall.SIGKILL})
	os.Mkdir(t.results(), 0o755) // there is one if the process came so far
	t.own()
	t.forbid(t.folder(), 0o555)
	t.ended(t.start(), nil, one("permission denied"))
}

// remounted makes the results' file system read-only at a random moment.
func remounted(t *trial) {
	t.mount(t.results(), "size=64m")
	p := t.start()
	p.within(t.when())
	// A file that is being written keeps a file system from it, so it is tried again.
	for t.remount(t.results(), syscall.MS_RDONLY, "size=64m") != nil && !p.within(time.Since(p.begun)+time.Millisecond) {
	}
	t.repair = append(t.repair, func() { t.remount(t.results(), 0, "size=64m") })
	t.ended(p, nil, one("read-only file system"))
}

// permissionLost takes the rights to the results folder, or to one in it, at a
// random moment.
func permissionLost(t *trial) {
	t.own()
	p := t.start()
	p.within(t.when())
	mode := []os.FileMode{0, 0o111, 0o555}[t.rng.IntN(3)]
	t.forbid(t.folder(), mode)
	t.ended(p, nil, one("permission denied"))
}

// forbid changes a folder's rights until the repair.
func (t *trial) forbid(dir string, mode os.FileMode) {
	if err := os.Chmod(dir, mode); err != nil {
		t.say("no rights changed: %v", err)
		return
	}
	t.say("rights of %s: %o", dir, mode)
	t.repair = append(t.repair, func() { os.Chmod(dir, 0o755) }) // it may be gone
}

// folder returns a folder of the results, or the results folder.
func (t *trial) folder() string {
	dirs := []string{t.results()}
	for _, pattern := range []string{"*", "*/*"} {
		found, _ := filepath.Glob(filepath.Join(t.results(), pattern)) // the pattern is none of the user's
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				dirs = append(dirs, path)
			}
		}
	}
	return dirs[t.rng.IntN(len(dirs))]
}

// several has up to four processes at work on one folder, one of which may be
// killed.
func several(t *trial) {
	var processes []*process
	for range 2 + t.rng.IntN(3) {
		processes = append(processes, t.start())
		time.Sleep(t.when() / 2)
	}
	var sent []syscall.Signal
	if t.rng.IntN(3) == 0 {
		sent = []syscall.Signal{syscall.SIGKILL}
		processes[t.rng.IntN(len(processes))].cmd.Process.Kill() // it may have ended
	}
	through, killed := false, false
	for _, p := range processes {
		if t.cmd.locks {
			t.ended(p, sent, refusal{2, regexp.MustCompile("is in use by another runall")})
		} else {
			t.ended(p, sent)
		}
		through = through || t.through
		_, dead := p.killed()
		killed = killed || dead
	}
	// What a killed one has left of a file goes when the file is written again.
	t.through = through && !killed
	if through {
		t.user.args = nil
	}
}

// jumpingClock has the command's clock jump by hours, while it may be killed.
func jumpingClock(t *trial) {
	t.user.binary = t.kit.jumping
	if t.rng.IntN(2) == 0 {
		kills(t)
	}
	t.ended(t.start(), nil)
	t.kit.clockTrial(t.results())
}

// fewFiles lets the command open so few files that it may not get through.
func fewFiles(t *trial) {
	t.user.files = leastFiles + t.rng.IntN(8)
	t.ended(t.start(), nil, one("too many open files"))
}

// leastFiles is how many open files Go's runtime needs to start.
const leastFiles = 8

// fullTemporary lets the command have a full folder for temporary files, or none.
func fullTemporary(t *trial) {
	t.user.tmp = filepath.Join(t.dir, "full")
	if t.rng.IntN(4) > 0 {
		t.mount(t.user.tmp, "size=4k")
		if err := os.WriteFile(filepath.Join(t.user.tmp, "full"), make([]byte, 4096), 0o644); err != nil {
			t.tb.Fatal(err)
		}
	}
	t.ended(t.start(), nil, one("no space left on device|no such file or directory"))
}

//go:build check && linux

package faults

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"polkrepro/online"
)

// damageDuring damages a file, or removes the results folder, at a random
// moment of the command.
func damageDuring(t *trial) {
	p := t.start()
	if !p.within(t.when()) {
		t.damage()
	}
	t.ended(p, nil, one("no such file or directory"))
}

// damageBetween damages up to three files of what a process that was killed, or
// not, has left.
func damageBetween(t *trial) {
	p := t.start()
	if t.rng.IntN(2) == 0 && !p.within(t.when()) {
		p.cmd.Process.Kill()
	}
	t.ended(p, []syscall.Signal{syscall.SIGKILL})
	for range 1 + t.rng.IntN(3) {
		t.damage()
	}
	t.believes()
	if t.user.args != nil { // training does not resume a damaged model: it starts over
		t.ended(t.start(), nil, one(regexp.QuoteMeta(online.ErrFormat.Error())+"|no such file or directory"))
		t.user.args = nil
	}
}

// damage deletes, truncates, overwrites or lengthens a file of the results, or
// deletes all of them.
func (t *trial) damage() {
	t.tampered = true
	files := t.files()
	if len(files) == 0 || t.rng.IntN(12) == 0 {
		t.say("the results are deleted: %v", os.RemoveAll(t.results()))
		if t.cmd.prepare != nil {
			t.repair = append(t.repair, func() { t.cmd.prepare(t.dir) }) // what is there is left
		}
		return
	}
	path := files[t.rng.IntN(len(files))]
	switch t.rng.IntN(4) {
	case 0:
		t.say("%s is deleted: %v", path, os.Remove(path))
	case 1:
		t.say("%s is truncated: %v", path, t.truncate(path))
	case 2:
		t.say("%s is overwritten: %v", path, t.overwrite(path))
	case 3:
		t.say("%s is lengthened: %v", path, t.lengthen(path))
	}
}

// files returns the results' files, records and what is to become one more
// often than others.
func (t *trial) files() []string {
	var files, records []string
	filepath.WalkDir(t.results(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // it is gone, or no file
		}
		files = append(files, path)
		if strings.Contains(path, ".jsonl") {
			records = append(records, path)
		}
		return nil
	})
	for n := len(files); len(records) > 0 && len(files) < 3*n; {
		files = append(files, records...)
	}
	return files
}

func (t *trial) truncate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, t.rng.Int64N(info.Size()+1))
}

// overwrite puts up to 64 random bytes anywhere into a file.
func (t *trial) overwrite(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = f.WriteAt(t.noise(), t.rng.Int64N(info.Size()+1))
	return err
}

func (t *trial) lengthen(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(t.noise())
	return err
}

func (t *trial) noise() []byte {
	b := make([]byte, 1+t.rng.IntN(64))
	for i := range b {
		b[i] = byte(t.rng.Uint32())
	}
	return b
}

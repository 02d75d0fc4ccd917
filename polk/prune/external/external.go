// Package external makes a prune.Heuristic from a command: a script or program, in any language,
// that decides which elements leave. Each learner starts a process of the command, which
// exchanges lines of JSON over its standard streams. docs/pruner-protocol.md is the protocol's
// reference; python/polkprune.py implements it for heuristics in Python.
//
//	h, err := external.New("mine", "./mine.py")
//	...
//	pruner, err := prune.New(h, prune.Params{"order": 64})
//	defer pruner.Pruner.(io.Closer).Close() // ends the process
//
// The heuristic's Code is the hash of the command's files, so that results of an edited
// script are not taken for those of the old one.
//
// If a process ends, is silent for too long or gives an invalid answer, the learner's step
// fails. The error includes the end of the process's standard error.
package external

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"polkrepro/internal/files"
	"polkrepro/polk/prune"
)

// New returns a heuristic of that name. Each of its pruners is a process that runs the command.
// The command is the path of a file, or a program and its arguments, separated by blanks. New
// runs it once to ask for the description of the heuristic.
func New(name, command string) (h prune.Heuristic, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("pruner %s: %s: %w", name, command, err)
		}
	}()
	c := &program{words: strings.Fields(command)}
	if _, err := os.Stat(command); err == nil {
		c.words = []string{command}
	}
	if len(c.words) == 0 {
		return h, errors.New("no command: want NAME=COMMAND, such as mine=./mine.py")
	}
	p, said, err := c.meet(context.Background())
	if err != nil {
		return h, err
	}
	if err := p.close(); err != nil {
		return h, err
	}
	c.hello = *said
	if c.code, err = c.hash(said); err != nil {
		return h, err
	}
	return c.heuristic(name)
}

// A program is the command of a heuristic.
type program struct {
	words []string
	hello hello
	code  string // what [prune.Heuristic.Code] returns
}

// heuristic returns the heuristic that the program's hello describes.
func (c *program) heuristic(name string) (prune.Heuristic, error) {
	h := c.hello.Heuristic
	h.Name, h.Identity = name, c.code
	if c.hello.Inverse {
		h.NewInverse = func(p prune.Params) prune.InversePruner {
			return inversePruner{&dialogue{program: c, params: p}}
		}
	} else {
		h.New = func(p prune.Params) prune.Pruner { return pruner{&dialogue{program: c, params: p}} }
	}
	err := h.Check()
	for _, name := range c.hello.Wants {
		if q, ok := quantities[name]; err == nil && (!ok || q.inverse && !c.hello.Inverse) {
			err = fmt.Errorf("wants %q: unknown quantity, or one that needs inverse in the hello", name)
		}
	}
	if param, ok := h.SizeParam(); err == nil && ok && len(param.Grid) == 0 {
		err = fmt.Errorf("parameter %s, the first one, has no grid: list the values that a comparison tries", param.Name)
	}
	if err != nil {
		return h, fmt.Errorf("hello: %w", err)
	}
	return h, nil
}

// meet starts a process and returns it with its hello.
func (c *program) meet(ctx context.Context) (*process, *hello, error) {
	p, err := start(c.words)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.ENOEXEC) {
		err = fmt.Errorf("%w: make the file executable (chmod +x) and let its first line name the interpreter (#!/usr/bin/env python3), or put the interpreter before it: NAME='python3 FILE'", err)
	}
	if _, missing := os.Stat(c.words[0]); missing == nil && errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("%w; did you mean ./%s?", err, c.words[0])
	}
	if err != nil {
		return nil, nil, err
	}
	defer p.within(ctx, patience)()
	a, err := p.ask(map[string]any{"hello": map[string]int{"version": Version}})
	switch {
	case err != nil:
	case a.Hello == nil:
		err = errors.New("want a hello")
	case a.Hello.Version != Version:
		err = fmt.Errorf("protocol version %d, want %d", a.Hello.Version, Version)
	}
	if err != nil {
		return nil, nil, p.failed("hello", err)
	}
	p.seconds = 0
	return p, a.Hello, nil
}

const maxFile = 1 << 40 // bytes, in effect no limit: ReadNamed is for reading regular files only

// hash returns the identity of the code. It covers the words of the command, each replaced by
// the file's content if it is the path of a file, and the files that the hello names.
func (c *program) hash(said *hello) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "protocol %d\n", Version)
	file := func(path string) (string, error) {
		content, err := files.ReadNamed(path, maxFile)
		return fmt.Sprintf("file %x\n", sha256.Sum256(content)), err
	}
	for i, word := range c.words {
		text, err := file(word)
		if err != nil || i == 0 && filepath.Base(word) == word { // a program without a folder is found in $PATH
			text = fmt.Sprintf("word %q\n", word)
		}
		fmt.Fprint(sum, text)
	}
	var more []string
	for _, name := range said.Files {
		text, err := file(name)
		if err != nil {
			return "", fmt.Errorf("a file that its hello names: %w", err)
		}
		more = append(more, text)
	}
	slices.Sort(more) // so that the hash does not depend on where the files are
	fmt.Fprint(sum, more)
	return "command " + hex.EncodeToString(sum.Sum(nil)[:6]), nil
}

// Package unfinished knows what this process is making and nobody may find when
// it ends early: temporary files and folders, and steps that must not be cut in
// two.
package unfinished

import (
	"os"
	"sync"
)

var state = struct {
	sync.Mutex
	released *sync.Cond
	held     int // steps under way that may not be cut in two
	frozen   bool
	paths    map[string]int
}{paths: make(map[string]int)}

func init() { state.released = sync.NewCond(&state.Mutex) }

// Add notes a temporary file or folder, which Remove removes. The caller calls
// forget when the path is gone or has become what it was meant to be.
func Add(path string) (forget func()) {
	state.Lock()
	defer state.Unlock()
	state.paths[path]++
	return func() {
		state.Lock()
		defer state.Unlock()
		if state.paths[path]--; state.paths[path] == 0 {
			delete(state.paths, path)
		}
	}
}

// Hold begins a step that must not be cut in two, which release ends: Freeze
// waits for it. After Freeze, Hold does not return: the process is ending.
// Steps may be nested.
func Hold() (release func()) {
	state.Lock()
	defer state.Unlock()
	for state.frozen {
		state.released.Wait() // for the process to end
	}
	state.held++
	return func() {
		state.Lock()
		defer state.Unlock()
		state.held--
		state.released.Broadcast()
	}
}

// Freeze waits until no step is held, and lets none begin. The process must then
// end soon.
func Freeze() {
	state.Lock()
	defer state.Unlock()
	for state.held > 0 {
		state.released.Wait()
	}
	state.frozen = true
}

// Remove removes what is unfinished, as far as it can be. A folder is renamed
// first, so that whoever is at work in it can't add to it.
func Remove() {
	state.Lock()
	defer state.Unlock()
	for path := range state.paths {
		if gone := path + ".gone"; os.Rename(path, gone) == nil {
			path = gone
		}
		os.RemoveAll(path)
	}
}

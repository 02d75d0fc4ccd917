package files

import (
	"os"
	"sync"
)

// unfinished is what this process is making and nobody may find when it ends
// early: temporary files and folders, and steps that must not be cut in two.
var unfinished = struct {
	sync.Mutex
	released *sync.Cond
	held     int // steps under way that may not be cut in two
	frozen   bool
	paths    map[string]bool
}{paths: make(map[string]bool)}

func init() { unfinished.released = sync.NewCond(&unfinished.Mutex) }

// Unfinished notes a temporary file or folder of one caller, which RemoveUnfinished removes.
// The caller calls forget when the path is gone or has become what it was meant to be.
func Unfinished(path string) (forget func()) {
	unfinished.Lock()
	defer unfinished.Unlock()
	unfinished.paths[path] = true
	return func() {
		unfinished.Lock()
		defer unfinished.Unlock()
		delete(unfinished.paths, path)
	}
}

// Hold begins a step that must not be cut in two, which release ends: Freeze
// waits for it. After Freeze, Hold does not return: the process is ending.
// Steps may be nested.
func Hold() (release func()) {
	unfinished.Lock()
	defer unfinished.Unlock()
	for unfinished.frozen {
		unfinished.released.Wait() // for the process to end
	}
	unfinished.held++
	return func() {
		unfinished.Lock()
		defer unfinished.Unlock()
		unfinished.held--
		unfinished.released.Broadcast()
	}
}

// Freeze waits until no step is held, and lets none begin. The process must then
// end soon.
func Freeze() {
	unfinished.Lock()
	defer unfinished.Unlock()
	for unfinished.held > 0 {
		unfinished.released.Wait()
	}
	unfinished.frozen = true
}

// RemoveUnfinished removes what is unfinished, as far as it can be. A folder is renamed
// first, so that whoever is at work in it can't add to it.
func RemoveUnfinished() {
	unfinished.Lock()
	defer unfinished.Unlock()
	for path := range unfinished.paths {
		if gone := path + ".gone"; os.Rename(path, gone) == nil {
			path = gone
		}
		os.RemoveAll(path)
	}
}

package files

import (
	"os"
	"sync"
)

// unfinished holds the temporary files and folders that must not remain if this
// process ends early, and the steps that must not be interrupted.
var unfinished = struct {
	sync.Mutex
	released *sync.Cond
	held     int // number of steps under way that must not be interrupted
	frozen   bool
	paths    map[string]bool
}{paths: make(map[string]bool)}

func init() { unfinished.released = sync.NewCond(&unfinished.Mutex) }

// Unfinished registers a temporary file or folder of one caller, which RemoveUnfinished
// removes. The caller calls forget when the path has been removed or has become final.
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

// Hold begins a step that must not be interrupted; release ends it. Freeze waits for such steps.
// After Freeze, Hold does not return, because the process is ending. Steps may be nested.
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

// Freeze waits until all steps are released and prevents new ones. The process must end
// soon afterwards.
func Freeze() {
	unfinished.Lock()
	defer unfinished.Unlock()
	for unfinished.held > 0 {
		unfinished.released.Wait()
	}
	unfinished.frozen = true
}

// RemoveUnfinished removes all unfinished files and folders, as far as possible. It
// renames a folder first, so that nobody who is still working in the folder can add to it.
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

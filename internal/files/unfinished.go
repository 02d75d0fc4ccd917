package files

import (
	"os"
	"sync"
)

// The temporary files and folders that must not remain if this process ends early, and the
// steps that must not be interrupted.
var (
	mutex      sync.Mutex // guards the following
	unfinished = make(map[string]bool)
	held       int // number of steps under way that must not be interrupted
	released   = sync.NewCond(&mutex)
	frozen     bool
)

// Unfinished registers a temporary file or folder of one caller, which RemoveUnfinished
// removes. The caller calls forget when the path has been removed or has become final.
func Unfinished(path string) (forget func()) {
	mutex.Lock()
	defer mutex.Unlock()
	unfinished[path] = true
	return func() {
		mutex.Lock()
		defer mutex.Unlock()
		delete(unfinished, path)
	}
}

// Hold begins a step that must not be interrupted; release ends it. Freeze waits for such steps.
// After Freeze, Hold does not return, because the process is ending. Steps may be nested.
func Hold() (release func()) {
	mutex.Lock()
	defer mutex.Unlock()
	for frozen {
		released.Wait() // for the process to end
	}
	held++
	return func() {
		mutex.Lock()
		defer mutex.Unlock()
		held--
		released.Broadcast()
	}
}

// Freeze waits until all steps are released and prevents new ones. The process must end
// soon afterwards.
func Freeze() {
	mutex.Lock()
	defer mutex.Unlock()
	for held > 0 {
		released.Wait()
	}
	frozen = true
}

// RemoveUnfinished removes all unfinished files and folders, as far as possible. It
// renames a folder first, so that nobody who is still working in the folder can add to it.
func RemoveUnfinished() {
	mutex.Lock()
	defer mutex.Unlock()
	for path := range unfinished {
		if gone := path + ".gone"; os.Rename(path, gone) == nil {
			path = gone
		}
		os.RemoveAll(path)
	}
}

package harness

import (
	"fmt"
	"os"
	"runtime/debug"

	"polkrepro/internal/until"
)

// A PanicError is a recovered panic with its stack.
type PanicError struct {
	Value any
	Stack []byte
}

// Error returns the panic's value in words.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Recover, deferred, turns a panic into the function's error, a *PanicError.
func Recover(err *error) {
	switch v := recover().(type) {
	case nil:
	case *until.Panic: // of another goroutine
		*err = &PanicError{Value: v.Value, Stack: v.Stack}
	default:
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}

// Save writes the panic to a new file in the folder for temporary files and
// returns the file's name.
func (e *PanicError) Save() (string, error) {
	f, err := os.CreateTemp("", "runall-panic-*.txt")
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%v\n\n%s", e.Error(), e.Stack)
	return f.Name(), err
}

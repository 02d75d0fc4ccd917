package harness

import (
	"encoding/json"
	"io"
	"sync"
)

// jsonLines writes every event as one line of JSON, for programs.
type jsonLines struct {
	mu  sync.Mutex
	enc *json.Encoder
}

func newJSONLines(w io.Writer) *jsonLines { return &jsonLines{enc: json.NewEncoder(w)} }

// Report writes the event. It ignores errors: training continues without a reader.
func (j *jsonLines) Report(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = j.enc.Encode(e)
}

func (*jsonLines) Close() {}

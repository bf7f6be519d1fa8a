package server

import (
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/fakecluster/fakecluster/emulator/internal/command"
)

// stats are the counters of a node that INFO prints and CONFIG RESETSTAT
// clears.
type stats struct {
	connections, refused int64
	commands             int64
	expired, evicted     int64
	evictedClients       int64
	peakMemory           int64
	perCommand           []commandStats // by Spec.ID
	errors               map[string]int64
	errorReplies         int64
}

type commandStats struct {
	calls, rejected, failed int64
	spent                   time.Duration
	histogram               *hdrhistogram.Histogram // of spent; nil while empty
}

func (st *stats) init(t *command.Table) {
	st.perCommand = make([]commandStats, t.Len())
	st.errors = map[string]int64{}
}

func (st *stats) reset() {
	*st = stats{perCommand: make([]commandStats, len(st.perCommand)), errors: map[string]int64{}}
}

func (st *stats) rejected(spec *command.Spec) { st.perCommand[spec.ID].rejected++ }

// maxErrorKinds is how many different error codes are told apart.
const maxErrorKinds = 128

// countError counts an error reply under its code, its first word. A single
// word is no code: scripts can make such errors.
func (st *stats) countError(msg string) {
	st.errorReplies++
	code, _, hasText := strings.Cut(msg, " ")
	if !hasText {
		code = "ERR"
	}
	if _, known := st.errors[code]; !known && len(st.errors) >= maxErrorKinds {
		return
	}
	st.errors[code]++
}

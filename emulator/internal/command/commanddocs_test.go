package command

import (
	"testing"

	"github.com/fakecluster/fakecluster/emulator/internal/version"
)

// Clients show hints from the documents: every row has one.
func TestEveryRowIsDocumented(t *testing.T) {
	for _, s := range NewTable(version.V7_4).Rows() {
		d, found := docs()[s.Name]
		if !found || d.Summary == "" {
			t.Errorf("%s has no summary", s.Name)
		}
		if s.First > 0 && d.Arguments == nil {
			t.Errorf("%s takes keys, of which nothing is said", s.Name)
		}
	}
}

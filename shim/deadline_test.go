package shim

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

// A connection that notices a deadline before its context does tells of it all the
// same.
func TestADeadlineIsTheContexts(t *testing.T) {
	over, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	later, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	err := because(over, os.ErrDeadlineExceeded)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v is not the context's", err)
	}
	for _, ctx := range []context.Context{later, t.Context()} {
		if err := because(ctx, os.ErrDeadlineExceeded); errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v is the context's", err)
		}
	}
}

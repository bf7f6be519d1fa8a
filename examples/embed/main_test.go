package main

import (
	"bytes"
	"testing"
)

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	// The slots of these keys, by CLUSTER KEYSLOT of a real server: 7092, 5152
	// and 9944; the masters own 0-5460, 5461-10922 and 10923-16383.
	const want = `apple is at 127.0.0.1:7001
pear is at 127.0.0.1:7000
plum is at 127.0.0.1:7001
renaming apple to pear: CROSSSLOT Keys in request don't hash to the same slot
`
	if out.String() != want {
		t.Errorf("printed:\n%s\nwant:\n%s", &out, want)
	}
}

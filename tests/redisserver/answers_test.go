package redisserver

import (
	"strings"
	"testing"
)

// Two servers may choose one port; the one that loses must not take the other for
// itself.
func TestAnotherServerAtThePortIsNoticed(t *testing.T) {
	winner, loser := Start(t), Start(t)
	if err := loser.answers(); err != nil {
		t.Fatal(err)
	}
	defer func(own int) { loser.Port = own }(loser.Port)
	loser.Port = winner.Port
	if err := loser.answers(); err == nil || !strings.Contains(err.Error(), "another server answers") {
		t.Errorf("a server is happy with the answers of another one: %v", err)
	}
}

package redisserver

import "testing"

// Two servers may choose one port; the one that loses must not take the other for
// itself.
func TestAnotherServerAtThePortIsNoticed(t *testing.T) {
	winner, loser := Start(t), Start(t)
	if err := loser.answers(); err != nil {
		t.Fatal(err)
	}
	own := loser.Port
	loser.Port = winner.Port
	if err := loser.answers(); err == nil {
		t.Error("a server is happy with the answers of another one")
	}
	loser.Port = own
}

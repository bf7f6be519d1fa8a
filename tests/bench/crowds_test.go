package bench

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"
)

// measureCrowds: target 6.
func measureCrowds(t *testing.T, m mode) result {
	idle, blocked, subscribers := pick(m, 10_000, 200), pick(m, 1000, 50), pick(m, 10_000, 200)
	servers := []*server{startOurs(t, false, "--log-level", "error"), startReal(t, false, "--maxclients", "20000")}
	for _, s := range servers {
		dial(t, s.addrs[0]).do("CONFIG", "SET", "maxclients", "15000")
	}
	rounds, requests := pickBrief(m, 5, 3, 1), pick(m, 100_000, 2000)
	share := make([]float64, len(servers))
	for i, s := range servers { // after each other: a process may not have that many files
		throughput := func(*server) float64 {
			return s.benchmark(t, 20, 1, requests, "SET", "key:__rand_int__", "xxx").perSecond
		}
		alone := alternate(rounds, []*server{s}, throughput)[0]
		leave := crowd(t, s, idle, blocked)
		share[i] = alternate(rounds, []*server{s}, throughput)[0] / alone
		leave()
	}
	lines := []line{
		{What: fmt.Sprintf("SET beside %s idle and %s blocked clients, of what it is without", thousands(float64(idle)), thousands(float64(blocked))),
			Unit: "", Ours: share[0], Real: share[1], Goal: goal{ratioAtLeast, 0.95}},
	}
	return result{Title: "Crowds", Lines: append(lines, measurePublish(t, m, subscribers)...)}
}

// crowd connects idle and blocked clients, and returns what disconnects them.
func crowd(t *testing.T, s *server, idle, blocked int) (leave func()) {
	var wires []*wire
	for range idle {
		w := dial(t, s.addrs[0])
		w.do("PING")
		wires = append(wires, w)
	}
	for i := range blocked {
		w := dial(t, s.addrs[0])
		w.write(appendCommand(nil, "BLPOP", "nothing:"+strconv.Itoa(i), "0"))
		if err := w.out.Flush(); err != nil {
			t.Fatal(err)
		}
		wires = append(wires, w)
	}
	return func() {
		for _, w := range wires {
			w.conn.Close()
		}
	}
}

// measurePublish is the time until the last of many subscribers has a message,
// and until the publisher has its reply.
func measurePublish(t *testing.T, m mode, subscribers int) []line {
	servers := []*server{startOurs(t, false), startReal(t, false)}
	var replied, heard [2]float64
	for i, s := range servers {
		w := dial(t, s.addrs[0])
		w.do("CONFIG", "SET", "maxclients", "15000")
		a := gather(t, s, w, subscribers)
		var replies, all []float64
		for range pick(m, 15, 3) {
			reply, last := a.publish()
			replies, all = append(replies, reply), append(all, last)
		}
		replied[i], heard[i] = median(replies), median(all)
		a.leave()
	}
	to := " to " + thousands(float64(subscribers)) + " subscribers"
	return []line{
		{What: "PUBLISH" + to + ", until its reply", Unit: "ms", Ours: replied[0], Real: replied[1], Goal: goal{ratioAtMost, 2}},
		{What: "PUBLISH" + to + ", until all have it", Unit: "ms", Ours: heard[0], Real: heard[1], Goal: goal{ratioAtMost, 2}},
	}
}

// audience is many subscribers of a channel.
type audience struct {
	publisher *wire
	heard     sync.WaitGroup
	listeners []*wire
}

func gather(t *testing.T, s *server, publisher *wire, size int) *audience {
	a := &audience{publisher: publisher}
	for range size {
		w := dial(t, s.addrs[0])
		w.do("SUBSCRIBE", "news")
		a.listeners = append(a.listeners, w)
		go func() {
			for w.skip() == nil {
				a.heard.Done()
			}
		}()
	}
	return a
}

// publish returns the milliseconds until the reply and until everybody has the
// message.
func (a *audience) publish() (replied, heard float64) {
	a.heard.Add(len(a.listeners))
	began := time.Now()
	a.publisher.do("PUBLISH", "news", "message")
	replied = time.Since(began).Seconds() * 1e3
	a.heard.Wait()
	return replied, time.Since(began).Seconds() * 1e3
}

func (a *audience) leave() {
	for _, w := range a.listeners {
		w.conn.Close()
	}
}

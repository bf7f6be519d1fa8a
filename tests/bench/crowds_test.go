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
	alone, crowded := make([]float64, 2), make([]float64, 2)
	rounds, requests := pick(m, 5, 1), pick(m, 100_000, 2000)
	throughput := func(s *server) float64 {
		return s.benchmark(t, 20, 1, requests, "SET", "key:__rand_int__", "xxx").perSecond
	}
	copy(alone, alternate(rounds, servers, throughput))
	for _, s := range servers {
		for range idle {
			dial(t, s.addrs[0]).do("PING")
		}
		for i := range blocked {
			w := dial(t, s.addrs[0])
			w.write(appendCommand(nil, "BLPOP", "nothing:"+strconv.Itoa(i), "0"))
			if err := w.out.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	copy(crowded, alternate(rounds, servers, throughput))
	lines := []line{
		{What: fmt.Sprintf("SET beside %s idle and %s blocked clients, of what it is without", thousands(float64(idle)), thousands(float64(blocked))),
			Unit: "", Ours: crowded[0] / alone[0], Real: crowded[1] / alone[1], Goal: goal{ratioAtLeast, 0.95}},
	}
	return result{Title: "Crowds", Lines: append(lines, measurePublish(t, m, subscribers)...)}
}

// measurePublish is the time until the last of many subscribers has a message,
// and until the publisher has its reply.
func measurePublish(t *testing.T, m mode, subscribers int) []line {
	servers := []*server{startOurs(t, false), startReal(t, false)}
	audiences := make([]*audience, len(servers))
	for i, s := range servers {
		w := dial(t, s.addrs[0])
		w.do("CONFIG", "SET", "maxclients", "15000")
		audiences[i] = gather(t, s, w, subscribers)
	}
	var replied [2][]float64
	heard := alternate(pick(m, 15, 3), []int{0, 1}, func(i int) float64 {
		reply, all := audiences[i].publish()
		replied[i] = append(replied[i], reply)
		return all
	})
	to := " to " + thousands(float64(subscribers)) + " subscribers"
	return []line{
		{What: "PUBLISH" + to + ", until its reply", Unit: "ms", Ours: median(replied[0]), Real: median(replied[1]), Goal: goal{ratioAtMost, 2}},
		{What: "PUBLISH" + to + ", until all have it", Unit: "ms", Ours: heard[0], Real: heard[1], Goal: goal{ratioAtMost, 2}},
	}
}

// audience is many subscribers of a channel.
type audience struct {
	publisher *wire
	heard     sync.WaitGroup
	size      int
}

func gather(t *testing.T, s *server, publisher *wire, size int) *audience {
	a := &audience{publisher: publisher, size: size}
	for range size {
		w := dial(t, s.addrs[0])
		w.do("SUBSCRIBE", "news")
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
	a.heard.Add(a.size)
	began := time.Now()
	a.publisher.do("PUBLISH", "news", "message")
	replied = time.Since(began).Seconds() * 1e3
	a.heard.Wait()
	return replied, time.Since(began).Seconds() * 1e3
}

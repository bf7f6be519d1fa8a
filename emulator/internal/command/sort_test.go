package command

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fakecluster/fakecluster/tests/redisserver"
)

func TestSort(t *testing.T) {
	diff(t, `
		RPUSH l 3 1 10 2 -5 1.5
		SORT l
		SORT l DESC
		SORT l ALPHA
		SORT l ALPHA DESC
		SORT l LIMIT 1 2
		SORT l LIMIT -1 2
		SORT l LIMIT 4 100
		SORT l LIMIT 100 2
		SORT l LIMIT 0 0
		SORT l LIMIT 2 -5
		SORT l LIMIT x 1
		SORT l LIMIT 1 x
		SORT l LIMIT 1
		SORT l FOO
		SORT l STORE
		SORT l BY
		SORT l GET
		SORT l BY nosort
		SORT l BY nosort DESC
		SORT l BY nosort LIMIT 1 2
		SORT l BY nosort DESC LIMIT 1 2
		SORT l BY nosort DESC LIMIT 1 0
		SORT l STORE d
		LRANGE d 0 -1
		OBJECT ENCODING d
		SORT l LIMIT 100 1 STORE d
		EXISTS d
		SORT l LIMIT 100 1 STORE d
		SORT nosuch
		SORT nosuch STORE d
		SORT_RO l DESC
		SORT_RO l STORE d
		RPUSH bad a b 1
		SORT bad
		SORT bad STORE d
		SORT bad LIMIT 100 1
		SORT bad ALPHA
		RPUSH odd "" " 1" "0x10" "inf" "-inf" 1e3
		SORT odd
		RPUSH odd2 nan
		SORT odd2
		RPUSH odd3 "1 "
		SORT odd3
		RPUSH odd4 1e400
		SORT odd4
		RPUSH odd5 "1\x00x" 0
		SORT odd5
		SET s v
		SORT s
		SORT s FOO
		SORT s BY nosort
		HSET h f v
		SORT h
	`)
}

func TestSortPatterns(t *testing.T) {
	diff(t, `
		RPUSH l 1 2 3 4
		MSET w1 30 w2 20 w4 10 n1 one n2 two n3 three
		HSET h1 name eins w 9
		HSET h2 name zwei w 3
		HSET h3 other x
		SORT l BY w*
		SORT l BY w* DESC
		SORT l BY w* GET #
		SORT l BY w* GET n* GET #
		SORT l GET h*->name
		SORT l GET h*->nosuch
		SORT l GET n*->name
		SORT l GET h*
		SORT l GET h*->
		SORT l GET fixed
		SORT l BY h*->w
		SORT l BY h*->w GET h*->name DESC
		SORT l BY n* ALPHA
		SORT l BY n* ALPHA DESC
		SORT l BY n*
		SORT l BY w* LIMIT 1 2
		SORT l BY n* ALPHA LIMIT 1 2
		SORT l BY w* GET n* STORE d
		LRANGE d 0 -1
		SORT l BY nosort GET n* GET w*
		SORT l BY w* BY nosort
		SORT l BY nosort BY w*
		SORT l GET #
		SORT l BY # GET #
		SORT l GET *
		SORT l GET ""
		SORT l BY ""
	`)
}

func TestSortSetsAndSortedSets(t *testing.T) {
	diff(t, `
		SADD s 5 3 1 20
		SORT s
		SORT s ALPHA
		SORT s BY nosort STORE d
		LRANGE d 0 -1
		SADD t c b a
		SORT t BY nosort STORE d
		LRANGE d 0 -1
		SORT t BY nosort LIMIT 0 2 STORE d
		LRANGE d 0 -1
		SORT t
		ZADD z 3 1 2 2 1 3
		OBJECT ENCODING z
		SORT z
		OBJECT ENCODING z
		SORT z BY nosort
		SORT z BY nosort DESC
		SORT z BY nosort LIMIT 1 1
		SORT z BY nosort DESC LIMIT 1 1
		SORT z BY nosort DESC LIMIT 5 1
		SORT z ALPHA DESC STORE z
		TYPE z
	`)
}

func TestSortOfManyTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	var script strings.Builder
	for i := range 200 {
		fmt.Fprintf(&script, "RPUSH l e%d\n", i)
		if rng.IntN(10) > 0 {
			fmt.Fprintf(&script, "SET w_e%d %d\n", i, rng.IntN(20))
		}
	}
	for range 60 {
		fmt.Fprintf(&script, "SORT l BY w_* LIMIT %d %d %s %s\n", rng.IntN(210), rng.IntN(60)-1,
			[...]string{"", "ALPHA"}[rng.IntN(2)], [...]string{"", "DESC"}[rng.IntN(2)])
	}
	script.WriteString("SORT l BY w_* ALPHA\nSORT l BY w_* ALPHA DESC\nSORT l BY w_* ALPHA DESC STORE d\nLRANGE d 0 -1\n")
	diff(t, script.String())
}

// A script is to see a set in one order.
func TestSortInScript(t *testing.T) {
	server := redisserver.Start(t)
	ours, real := newLocal(2), newRemote(t, server, 2)
	defer real.close()
	ours.fromScript = true
	add := splitArgs(t, "SADD s c a 10 b 9")
	ours.run(add, false)
	real.run(t, add, false)
	for _, options := range []string{"BY nosort", "BY nosort DESC", "BY nosort LIMIT 1 2", "BY nosort GET #"} {
		got := ours.run(splitArgs(t, "SORT s "+options), false).reply
		words := `'` + strings.Join(strings.Fields(options), `', '`) + `'`
		if want := real.commands.do(t, "EVAL", "return redis.call('SORT', 's', "+words+")", "0"); got != want {
			t.Errorf("%s: %q, want %q", options, got, want)
		}
	}
}

// In a cluster, patterns that may lead out of the slot are refused.
func TestSortInClusterMode(t *testing.T) {
	l := newLocal(2)
	for line, want := range map[string]string{
		"SORT l BY w* GET #":     "-ERR BY option of SORT denied in Cluster mode.\r\n",
		"SORT l GET #":           "-ERR GET option of SORT denied in Cluster mode.\r\n",
		"SORT_RO l BY x GET a*":  "-ERR GET option of SORT denied in Cluster mode.\r\n",
		"SORT l BY nosort LIMIT": "-ERR syntax error\r\n",
		"SORT l BY nosort":       "*0\r\n",
		"COPY a b DB 3":          "-ERR Copying to another database is not allowed in cluster mode\r\n",
		"COPY a b DB 16":         "-ERR DB index is out of range\r\n",
		"MOVE a 1":               "-ERR MOVE is not allowed in cluster mode\r\n",
		"SWAPDB 0 1":             "-ERR SWAPDB is not allowed in cluster mode\r\n",
	} {
		l.clusterEnabled = true
		if got := l.run(splitArgs(t, line), false).reply; got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

package broker_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/fakecluster/fakecluster/broker"
	"github.com/fakecluster/fakecluster/broker/brokertest"
	"github.com/fakecluster/fakecluster/tests/redisserver"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silence{}) // it tells of every connection that a killed node refuses
	goleak.VerifyTestMain(m)
}

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

// bodies are the tests that run on every cluster; the files of tests add to it.
var bodies = map[string]func(t *testing.T, on brokertest.Option){}

// TestOnEveryCluster runs all bodies on the cluster in process and on one of real
// servers, or on the one that REDIS_CLUSTER_TEST_URL names.
func TestOnEveryCluster(t *testing.T) {
	if os.Getenv(brokertest.URLEnv) != "" {
		runBodies(t, brokertest.Emulator())
		return
	}
	t.Run("emulator", func(t *testing.T) { runBodies(t, brokertest.Emulator()) })
	t.Run("real", func(t *testing.T) {
		servers := redisserver.StartCluster(t, 3, 1, "--cluster-node-timeout", "5000")
		runBodies(t, brokertest.Nodes(servers.Addrs()...))
	})
}

func runBodies(t *testing.T, on brokertest.Option) {
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) { body(t, on) })
	}
}

type job struct {
	ID   int    `json:"id"`
	Note string `json:"note,omitempty"`
}

// app makes a service of subscriptions.
func app(parts ...broker.Part) brokertest.Service {
	return func(b *broker.Broker) *broker.App { return broker.NewApp("test", "0.0.1", b, parts...) }
}

// must is for handlers that record what they were given.
type recorder struct{ jobs chan job }

func record() recorder { return recorder{make(chan job, 10000)} }

func (r recorder) ack(_ context.Context, j *job) broker.Outcome {
	r.jobs <- *j
	return broker.Ack()
}

func (r recorder) next(t *testing.T) job {
	t.Helper()
	select {
	case j := <-r.jobs:
		return j
	case <-time.After(brokertest.Patience):
		t.Fatal("no message came")
		return job{}
	}
}

var errNotYet = errors.New("not yet")

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), brokertest.Patience)
	t.Cleanup(cancel)
	return ctx
}

package interop

import (
	"testing"

	"go.uber.org/goleak"
)

// Connections that a refresh has replaced rueidis closes 5 s later, and its own
// Close does not wait for that.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*clusterClient)._refresh.func2"))
}

package layoutkit

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// InspectOptions are the options of Inspect.
type InspectOptions struct {
	// Client belongs to the caller; it gets shim.WithRetry if it has not got it.
	Client redis.UniversalClient
	Prefix string
	// Progress, if not nil, is called after each batch.
	Progress func(Progress)
}

// Inspection says how many keys a prefix has, by layout and namespace. Keys that a
// walk met twice are counted twice.
type Inspection struct {
	// Legacy and Cluster are the keys that only that layout has, Shared those that
	// have one name in both.
	Legacy  map[Namespace]int64 `json:"legacy"`
	Cluster map[Namespace]int64 `json:"cluster"`
	Shared  map[Namespace]int64 `json:"shared"`
	// Foreign is how many keys are none of the kit's; at most MaxListed are listed.
	Foreign     int64    `json:"foreign"`
	ForeignKeys []string `json:"foreignKeys"`
	// Marker is the value of the layout marker, empty if there is none.
	Marker string `json:"marker"`
	// Live is how many heartbeats and chats with pending tickets say that replicas
	// are at work.
	Live int64 `json:"live"`
}

// Inspect counts the keys of a prefix. It only reads.
func Inspect(ctx context.Context, o InspectOptions) (*Inspection, error) {
	switch {
	case o.Client == nil:
		return nil, invalid("Client is not set")
	case o.Prefix == "":
		return nil, invalid("Prefix is empty")
	}
	if err := checkEnd("Client", o.Prefix, Auto, o.Client); err != nil {
		return nil, err
	}
	s := side{o.Client, names{o.Prefix, Auto}}
	found := &Inspection{
		Legacy: make(map[Namespace]int64), Cluster: make(map[Namespace]int64), Shared: make(map[Namespace]int64),
		ForeignKeys: []string{},
	}
	err := scanBatches(ctx, s, func(batch []keyClass, keys int64) error {
		for _, c := range batch {
			found.add(c)
		}
		if o.Progress != nil {
			o.Progress(Progress{Phase: PhaseChecking, Keys: keys})
		}
		return nil
	})
	if err != nil {
		return found, err
	}
	found.Marker, err = o.Client.Get(ctx, s.names.marker()).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return found, failed("reading the layout marker", err)
	}
	return found, nil
}

func (i *Inspection) add(c keyClass) {
	if c.isLive() {
		i.Live++
	}
	switch {
	case c.role == roleForeign:
		i.Foreign++
		i.ForeignKeys = listed(i.ForeignKeys, c.key)
	case c.role == roleMarker: // said by Marker
	case c.layout == Legacy:
		i.Legacy[c.namespace]++
	case c.layout == Cluster:
		i.Cluster[c.namespace]++
	default:
		i.Shared[c.namespace]++
	}
}

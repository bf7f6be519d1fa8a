// Package console is fakecluster for people: a page that draws the cluster, and
// the HTTP API behind it.
//
// The page knows nothing that the API does not tell, and the API does nothing
// that the verbs of package control cannot do: everything here can be done in a
// terminal, and the page says how. All that is shown is asked of the nodes with
// ordinary commands, through emulator.Node.Do, and only while somebody looks.
package console

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/fakecluster/fakecluster/emulator"
	"github.com/fakecluster/fakecluster/emulator/control"
)

//go:embed web
var web embed.FS

// Options say for whom the console is.
type Options struct {
	// Ctl is what begins a command line that steers the same cluster, such as
	// "fakecluster ctl --addr 127.0.0.1:7100".
	Ctl string
	// ReadOnly lets nobody use verbs.
	ReadOnly bool
	// Token is what the API's users must show as a bearer token, "" nothing.
	Token string
	// Hosts are names that the console is reached by beside localhost and
	// addresses.
	Hosts []string
	// Interval is how often viewers are told news: one second unless set.
	Interval time.Duration
}

// Console shows and steers one cluster.
type Console struct {
	cluster    *emulator.Cluster
	controller *control.Controller
	options    Options
	watch      *watch
}

// New returns the console of a cluster, which controller steers.
func New(c *emulator.Cluster, controller *control.Controller, o Options) *Console {
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	return &Console{cluster: c, controller: controller, options: o, watch: newWatch(c, controller, o.Interval)}
}

// Handler serves the page, the API, /metrics and /healthz.
func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, methods := range c.routesByPath() {
		mux.Handle(path, methods)
	}
	mux.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		problem{Status: http.StatusNotFound, Title: "no such resource", Detail: "see /api/v1/openapi.json"}.write(w)
	})
	mux.Handle("/metrics", c.metrics())
	mux.HandleFunc("/healthz", c.health)
	files, err := fs.Sub(web, "web")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	mux.Handle("/", http.FileServerFS(files))
	return withWholeBody(guard{token: c.options.Token, hosts: c.options.Hosts}.wrap(mux))
}

// health answers those who ask whether the process is well: it is when it
// answers, whatever has been done to the cluster on purpose.
func (c *Console) health(w http.ResponseWriter, r *http.Request) {
	cluster := "ok"
	for _, n := range c.watch.sample().nodes {
		if n.info["cluster_enabled"] == "1" && n.clusterState == "fail" {
			cluster = "fail"
		}
	}
	writeJSON(w, Health{Status: "ok", Cluster: cluster})
}

// Health is what /healthz says.
type Health struct {
	Status  string `json:"status"`
	Cluster string `json:"cluster" doc:"fail when a node that runs says cluster_state:fail"`
}

// Serve answers requests on a server's listener until ctx ends.
func (c *Console) Serve(ctx context.Context, serve func(*http.Server) error) error {
	base, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler: c.Handler(), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return base },
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-base.Done()
		grace, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		if server.Shutdown(grace) != nil {
			server.Close()
		}
	}()
	err := serve(server)
	cancel()
	<-stopped
	c.watch.wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/wholefile"
	"github.com/fakecluster/fakecluster/emulator"
)

// report is what is said of the nodes once they answer.
type report struct {
	Event string       `json:"event"`
	Nodes []nodeReport `json:"nodes"`
	// Console is the URL of the console, if there is one.
	Console string `json:"console,omitempty"`
}

type nodeReport struct {
	ID    string   `json:"id"`
	Addr  string   `json:"addr"`
	Role  string   `json:"role"`
	Slots []string `json:"slots"` // "0-5460", or "7" for a single slot
}

func newReport(clusters []*emulator.Cluster) report {
	r := report{Event: "ready"}
	for _, c := range clusters {
		for _, n := range c.Nodes() {
			node := nodeReport{ID: n.ID(), Addr: n.Addr(), Role: n.Role(), Slots: []string{}}
			for _, slots := range n.Slots() {
				node.Slots = append(node.Slots, slots.String())
			}
			r.Nodes = append(r.Nodes, node)
		}
	}
	return r
}

// announce writes the ready file and prints the banner, with --log-format json
// the report as a line of JSON too.
func (s *serve) announce(r report, stdout io.Writer) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := s.writeReadyFile(append(line, '\n')); err != nil {
		return err
	}
	if _, err := io.WriteString(stdout, s.banner(r)); err != nil {
		return fmt.Errorf("banner: %w", err)
	}
	if s.LogFormat == "json" {
		if _, err := fmt.Fprintf(stdout, "%s\n", line); err != nil {
			return fmt.Errorf("banner: %w", err)
		}
	}
	return nil
}

// banner has a line per node and one to try.
func (s *serve) banner(r report) string {
	var b strings.Builder
	for _, n := range r.Nodes {
		slots := strings.Join(n.Slots, ",")
		if slots == "" {
			slots = "-"
		}
		fmt.Fprintf(&b, "%-7s  %s  %s\n", n.Role, n.Addr, slots)
	}
	host, port, err := net.SplitHostPort(r.Nodes[0].Addr)
	if err != nil {
		return b.String()
	}
	b.WriteString("\n  redis-cli")
	if !s.Standalone {
		b.WriteString(" -c")
	}
	if host != "127.0.0.1" {
		b.WriteString(" -h " + host)
	}
	b.WriteString(" -p " + port)
	if s.TLSCert != "" {
		b.WriteString(" --tls")
	}
	if s.Password != "" {
		b.WriteString(" --askpass")
	}
	b.WriteString("\n")
	if r.Console != "" {
		b.WriteString("  " + r.Console + "\n")
	}
	b.WriteString("\n")
	return b.String()
}

// writeReadyFile makes the file appear with its content complete.
func (s *serve) writeReadyFile(content []byte) error {
	if s.ReadyFile == "" {
		return nil
	}
	if err := wholefile.Write(s.ReadyFile, content); err != nil {
		return usagef("--ready-file: %w", err)
	}
	return nil
}

func (s *serve) removeReadyFile(log *slog.Logger) {
	if s.ReadyFile == "" {
		return
	}
	if err := os.Remove(s.ReadyFile); err != nil {
		log.Warn("ready file is left behind", "err", err)
	}
}

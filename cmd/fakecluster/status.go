package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/fakecluster/fakecluster/cmd/fakecluster/internal/survey"
)

// status is the command that prints how a cluster is.
type status struct {
	contact
	JSON bool `help:"Print JSON instead of a table."`
}

// Help is what kong adds to --help.
func (s *status) Help() string {
	return `It asks by CLUSTER NODES and INFO, so a real cluster can be asked as well. The exit code is 1 unless the state is ok.

  fakecluster status
  fakecluster status --addr 10.0.0.7:6379 --password secret
  fakecluster status --json | jq '.Nodes[] | select(.State != "ok")'`
}

func (s *status) run(ctx context.Context, stdout, _ io.Writer) error {
	seen, err := survey.Take(ctx, s.dial, s.Addr, s.Timeout)
	if err != nil {
		return s.unreachable(err)
	}
	if s.JSON {
		encoder := json.NewEncoder(stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(seen)
	} else {
		_, err = io.WriteString(stdout, seen.Table())
	}
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	if seen.State != "ok" {
		return exitCode(exitError)
	}
	return nil
}

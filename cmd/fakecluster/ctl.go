package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/fakecluster/fakecluster/emulator/control"
)

// ctl is the command that steers a running cluster.
type ctl struct {
	contact
	Words []string `arg:"" optional:"" passthrough:"" name:"verb" help:"What to do, such as 'failover n1'; without, the verbs are listed."`
}

// Help is what kong adds to --help.
func (c *ctl) Help() string {
	return `Without a verb they are listed. Any client can do the same with the command FAKECLUSTER.

  fakecluster ctl nodes
  fakecluster ctl failover n1
  fakecluster ctl migrate 42 n2
  fakecluster ctl fault on command get error OOM
  fakecluster ctl clock advance 1h`
}

// run sends the verb and prints the answer.
func (c *ctl) run(ctx context.Context, stdout, _ io.Writer) error {
	if len(c.Words) == 0 || len(c.Words) == 1 && strings.EqualFold(c.Words[0], "help") {
		fmt.Fprint(stdout, control.Help())
		return nil
	}
	// Nothing is said before the verb: the node may be paused, and hears only that.
	conn, err := c.dial(ctx, c.Addr)
	if err != nil {
		var refused *net.OpError
		if errors.As(err, &refused) {
			return c.unreachable(err)
		}
		return fmt.Errorf("connect to %s: %w", c.Addr, err)
	}
	defer conn.Close()
	args := make([]any, len(c.Words))
	for i, word := range c.Words {
		args[i] = word
	}
	reply, err := redis.String(redis.DoWithTimeout(conn, c.Timeout, control.Command, args...))
	var refusal redis.Error
	switch {
	case errors.As(err, &refusal) && strings.HasPrefix(err.Error(), "ERR unknown command"):
		return fmt.Errorf("%s is no fakecluster, or one started with --no-control", c.Addr)
	case errors.As(err, &refusal) && strings.HasPrefix(err.Error(), "ERR usage"):
		return usageError{errors.New(strings.TrimPrefix(err.Error(), "ERR "))}
	case errors.As(err, &refusal):
		return errors.New(strings.TrimPrefix(err.Error(), "ERR "))
	case err != nil:
		return fmt.Errorf("the answer of %s: %w", c.Addr, err)
	}
	fmt.Fprintln(stdout, strings.TrimSuffix(reply, "\n"))
	return nil
}

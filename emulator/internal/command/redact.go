package command

import "slices"

var redacted = []byte("(redacted)")

// Redact hides argument i from SLOWLOG and MONITOR.
func (c *Call) Redact(i int) {
	if i >= len(c.Args) {
		return
	}
	if c.shown == nil {
		c.shown = slices.Clone(c.Args)
	}
	c.shown[i] = redacted
}

// RedactFrom hides argument i and all behind it.
func (c *Call) RedactFrom(i int) {
	for ; i < len(c.Args); i++ {
		c.Redact(i)
	}
}

// Shown is the command as others may see it.
func (c *Call) Shown() [][]byte {
	if c.shown != nil {
		return c.shown
	}
	return c.Args
}

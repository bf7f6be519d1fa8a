package shim

import (
	"context"
	"fmt"
	"strings"

	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// CrossSlotError says that two keys of one command, transaction or script are in
// different hash slots, which a cluster refuses. Nothing was sent, so nothing ran.
type CrossSlotError struct {
	KeyA, KeyB   string
	SlotA, SlotB slots.Slot
	// Tag is a hash tag that brings both keys into one slot, without braces.
	Tag string
}

func (e *CrossSlotError) Error() string {
	return fmt.Sprintf("redis: keys %q (slot %d) and %q (slot %d) are in different slots; give them one hash tag, such as %q and %q",
		e.KeyA, e.SlotA, e.KeyB, e.SlotB, withTag(e.KeyA, e.Tag), withTag(e.KeyB, e.Tag))
}

// SameSlot returns nil if all keys are in one hash slot, else a *CrossSlotError
// that names the first key, the first that is elsewhere, and a tag for both.
func SameSlot(keys ...string) error {
	if len(keys) < 2 {
		return nil
	}
	first := slots.OfString(keys[0])
	for _, key := range keys[1:] {
		if slot := slots.OfString(key); slot != first {
			return &CrossSlotError{KeyA: keys[0], KeyB: key, SlotA: first, SlotB: slot, Tag: commonTag(keys[0], key)}
		}
	}
	return nil
}

// commonTag proposes the tag that a person would: the one a key already has, the
// words both begin with, or the first key.
func commonTag(a, b string) string {
	for _, key := range [...]string{a, b} {
		if tag := slots.TagString(key); tag != key {
			return tag
		}
	}
	common := 0
	for common < min(len(a), len(b)) && a[common] == b[common] {
		common++
	}
	tag := a[:common]
	if common < len(a) && common < len(b) {
		// Both go on: cut back to a whole word.
		tag = tag[:strings.LastIndexAny(tag, separators)+1]
	}
	tag = strings.NewReplacer("{", "", "}", "").Replace(strings.TrimRight(tag, separators))
	if tag == "" {
		tag = strings.NewReplacer("{", "", "}", "").Replace(a)
	}
	if tag == "" {
		tag = "tag"
	}
	return tag
}

const separators = ":.-_/|"

// withTag shows how a key would look with a tag.
func withTag(key, tag string) string {
	if slots.TagString(key) == tag && strings.Contains(key, "{"+tag+"}") {
		return key
	}
	bare := strings.NewReplacer("{", "", "}", "").Replace(key)
	if rest, ok := strings.CutPrefix(bare, tag); ok {
		return "{" + tag + "}" + rest
	}
	return "{" + tag + "}:" + bare
}

// WithSlotCheck makes client refuse commands, transactions and scripts whose keys
// are in different slots, with a *CrossSlotError, before they are sent. WithRetry
// does the same for cluster clients; this is for those that keep go-redis' own
// retries, and for a single server that shall behave as a cluster would.
func WithSlotCheck(client redis.UniversalClient) { client.AddHook(slotCheck{}) }

type slotCheck struct{}

func (slotCheck) DialHook(next redis.DialHook) redis.DialHook { return next }

func (slotCheck) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		keys, _ := keysOf(cmd)
		if err := SameSlot(keys...); err != nil {
			return err
		}
		return next(ctx, cmd)
	}
}

// A pipeline of which one command cannot be sent is not sent at all; nor is a
// transaction.
func (slotCheck) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := checkSlots(cmds); err != nil {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
			return err
		}
		return next(ctx, cmds)
	}
}

func checkSlots(cmds []redis.Cmder) error {
	var all []string
	for _, cmd := range cmds {
		keys, _ := keysOf(cmd)
		if err := SameSlot(keys...); err != nil {
			return err
		}
		all = append(all, keys...)
	}
	if isTransaction(cmds) {
		return SameSlot(all...)
	}
	return nil
}

package shim

import (
	"encoding"
	"fmt"
	"net"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fakecluster/fakecluster/slots"
	"github.com/redis/go-redis/v9"
)

// keySpec is one parsed line of keyTable.
type keySpec struct {
	places   []string
	readOnly bool
}

var keySpecs = sync.OnceValue(func() map[string]keySpec {
	specs := map[string]keySpec{}
	for line := range strings.Lines(strings.TrimSpace(keyTable)) {
		places, names, _ := strings.Cut(line, ":")
		var spec keySpec
		for _, place := range strings.Fields(places) {
			if place == "read" {
				spec.readOnly = true
			} else {
				spec.places = append(spec.places, place)
			}
		}
		for _, name := range strings.Fields(names) {
			specs[name] = spec
		}
	}
	return specs
})

var unknownCommand = keySpec{places: []string{"1"}}

// specOf finds the line for a command; a container's subcommand may have its own.
func specOf(name string, args []any) keySpec {
	specs := keySpecs()
	if len(args) > 1 {
		switch name {
		case "xgroup", "xinfo", "object", "memory":
			if spec, ok := specs[name+"|"+strings.ToLower(argText(args[1]))]; ok {
				return spec
			}
		}
	}
	if spec, ok := specs[name]; ok {
		return spec
	}
	return unknownCommand
}

// keysOf returns the keys (and sharded channels) among a command's arguments, in
// order, and whether the command only reads.
func keysOf(cmd redis.Cmder) (keys []string, readOnly bool) {
	args := cmd.Args()
	spec := specOf(cmd.Name(), args)
	for _, place := range spec.places {
		keys = appendPlace(keys, place, args)
	}
	return keys, spec.readOnly
}

func appendPlace(keys []string, place string, args []any) []string {
	switch place {
	case "streams":
		if at := indexOption(args, 1, "streams"); at > 0 {
			return appendArgs(keys, args, at+1, at+(len(args)-1-at)/2, 1)
		}
		return keys
	case "migrate":
		if len(args) > 3 && argText(args[3]) != "" {
			return appendArgs(keys, args, 3, 3, 1)
		}
		if at := indexOption(args, 6, "keys"); at > 0 {
			return appendArgs(keys, args, at+1, len(args)-1, 1)
		}
		return keys
	}
	if index, ok := strings.CutPrefix(place, "store>"); ok {
		for _, option := range [...]string{"store", "storedist"} {
			if at := indexOption(args, mustInt(index), option); at > 0 {
				keys = appendArgs(keys, args, at+1, at+1, 1)
			}
		}
		return keys
	}
	if index, counted := strings.CutPrefix(place, "#"); counted {
		at := mustInt(index)
		if at >= len(args) {
			return keys
		}
		count, err := strconv.Atoi(argText(args[at]))
		if err != nil {
			return keys // the server refuses it
		}
		return appendArgs(keys, args, at+1, at+count, 1)
	}
	place, every, _ := strings.Cut(place, "/")
	first, last, isRange := strings.Cut(place, "..")
	from, to, step := mustInt(first), mustInt(first), 1
	if isRange {
		to = mustInt(last)
	}
	if to < 0 {
		to += len(args)
	}
	if every != "" {
		step = mustInt(every)
	}
	return appendArgs(keys, args, from, to, step)
}

// appendArgs appends the arguments from index from to index to.
func appendArgs(keys []string, args []any, from, to, step int) []string {
	for i := from; i <= to && i < len(args); i += step {
		keys = append(keys, argText(args[i]))
	}
	return keys
}

// operands is how many arguments belong to an option that comes before the one that
// names keys. They may look like that one.
var operands = map[string]int{
	"block": 1, "count": 1, "group": 2, // XREAD, XREADGROUP
	"by": 1, "get": 1, "limit": 2, // SORT
	"auth": 1, "auth2": 2, // MIGRATE
}

// indexOption is the index of an option, from an index on where options begin, or 0.
func indexOption(args []any, from int, option string) int {
	for i := from; i < len(args); i++ {
		word := strings.ToLower(argText(args[i]))
		if word == option {
			return i
		}
		i += operands[word]
	}
	return 0
}

// mustInt reads a number of keyTable, which a test reads whole.
func mustInt(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("shim: bad key table: " + err.Error())
	}
	return n
}

// argText is an argument as go-redis sends it.
func argText(arg any) string {
	switch arg := arg.(type) {
	case string:
		return arg
	case []byte:
		return string(arg)
	case nil:
		return ""
	case bool:
		if arg {
			return "1"
		}
		return "0"
	case float32:
		return strconv.FormatFloat(float64(arg), 'f', -1, 64)
	case float64:
		return strconv.FormatFloat(arg, 'f', -1, 64)
	case time.Time: // before BinaryMarshaler, which it is too
		return arg.Format(time.RFC3339Nano)
	case *time.Time:
		if arg == nil {
			return argText(time.Time{})
		}
		return argText(*arg)
	case time.Duration:
		return strconv.FormatInt(arg.Nanoseconds(), 10)
	case encoding.BinaryMarshaler:
		text, err := arg.MarshalBinary()
		if err != nil {
			return "" // go-redis reports it when it sends the command
		}
		return string(text)
	case net.IP:
		return string(arg)
	}
	if pointer := reflect.ValueOf(arg); pointer.Kind() == reflect.Pointer {
		if pointer.IsNil() { // it is sent as the zero value
			return argText(reflect.Zero(pointer.Type().Elem()).Interface())
		}
		return argText(pointer.Elem().Interface())
	}
	return fmt.Sprint(arg)
}

// noSlot is the slot of a command without keys.
const noSlot = -1

// slotOf returns the slot of a command's keys, or noSlot. The keys must share it.
func slotOf(cmd redis.Cmder, keys []string) (int, error) {
	if len(keys) == 0 {
		return slotArgument(cmd), nil
	}
	if err := SameSlot(keys...); err != nil {
		return noSlot, err
	}
	return int(slots.OfString(keys[0])), nil
}

// slotArgument is the slot that the two CLUSTER commands about the keys of a
// slot name; they are of use only at its owner.
func slotArgument(cmd redis.Cmder) int {
	args := cmd.Args()
	if len(args) < 3 || cmd.Name() != "cluster" {
		return noSlot
	}
	switch strings.ToLower(argText(args[1])) {
	case "getkeysinslot", "countkeysinslot":
		if slot, err := slots.ParseSlot(argText(args[2])); err == nil {
			return int(slot)
		}
	}
	return noSlot
}

package broker

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Destined is a message type with a default destination, to which Send publishes. In
// its name braces name fields of the message, by their name in Go or in JSON:
//
//	func (Order) Destination() broker.Destination { return broker.Stream("orders-{region}") }
//
// So a hash tag cannot stand there; name such a key where you publish, by To.
type Destined interface {
	Destination() Destination
}

// ErrTemplate is wrapped by the error for a default destination that cannot be a
// template.
var ErrTemplate = errors.New("broker: the default destination is a template in which braces name fields")

// asDestined finds the method of a message or of a pointer to it. A nil pointer has
// none.
func asDestined(message any) (Destined, bool) {
	v := reflect.ValueOf(message)
	switch {
	case !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil():
		return nil, false
	case v.Kind() != reflect.Pointer:
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		message = p.Interface()
	}
	destined, ok := message.(Destined)
	return destined, ok
}

// expand fills in the template that a default destination's name is.
func expand(template Destination, message any) (Destination, error) {
	if template == nil {
		return nil, fmt.Errorf("%w: the method Destination of %T returns nil", ErrNoDestination, message)
	}
	fields := reflect.Indirect(reflect.ValueOf(message))
	name, err := fill(template.Name(), fields.Type(), func(index []int) string {
		return fmt.Sprint(fields.FieldByIndex(index).Interface())
	})
	if err != nil {
		return nil, err
	}
	return template.named(name), nil
}

// checkTemplate refuses what expand would refuse for any message of a type.
func checkTemplate[T any]() error {
	var message T
	destined, ok := any(&message).(Destined)
	if !ok || reflect.TypeFor[T]().Kind() == reflect.Pointer {
		return nil
	}
	template := destined.Destination()
	if template == nil {
		return nil // it may have one for other values
	}
	_, err := fill(template.Name(), reflect.TypeFor[T](), func([]int) string { return "x" })
	return err
}

// fill replaces each {field} of a name.
func fill(name string, of reflect.Type, value func(index []int) string) (string, error) {
	var filled strings.Builder
	for rest := name; ; {
		before, after, braces := strings.Cut(rest, "{")
		filled.WriteString(before)
		if !braces {
			return filled.String(), nil
		}
		field, remaining, closed := strings.Cut(after, "}")
		index, found := fieldOf(of, field)
		if !closed || !found {
			return "", fmt.Errorf("%w, and {%s} in %q names no field of %v; a key with a hash tag is given where the message is published: To(%q)",
				ErrTemplate, field, name, of, name)
		}
		filled.WriteString(value(index))
		rest = remaining
	}
}

// fieldOf finds an exported field by its name in JSON or in Go.
func fieldOf(of reflect.Type, name string) (index []int, ok bool) {
	if of.Kind() != reflect.Struct || name == "" {
		return nil, false
	}
	for _, field := range reflect.VisibleFields(of) {
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.IsExported() && !field.Anonymous && len(field.Index) == 1 && (field.Name == name || tag == name) {
			return field.Index, true
		}
	}
	return nil, false
}

package broker

import (
	"encoding/json"
	"fmt"
)

// Codec turns messages into payloads and back.
type Codec interface {
	Marshal(message any) ([]byte, error)
	// Unmarshal fills what message, a pointer, points to.
	Unmarshal(payload []byte, message any) error
}

// JSON is the codec of those who ask for no other.
var JSON Codec = jsonCodec{}

// Bytes is the codec for messages of the types []byte and string.
var Bytes Codec = bytesCodec{}

type jsonCodec struct{}

func (jsonCodec) Marshal(message any) ([]byte, error) { return json.Marshal(message) }
func (jsonCodec) Unmarshal(payload []byte, message any) error {
	return json.Unmarshal(payload, message)
}

type bytesCodec struct{}

func (bytesCodec) Marshal(message any) ([]byte, error) {
	switch message := message.(type) {
	case []byte:
		return message, nil
	case *[]byte:
		return *message, nil
	case string:
		return []byte(message), nil
	case *string:
		return []byte(*message), nil
	}
	return nil, fmt.Errorf("broker: the Bytes codec cannot send a %T", message)
}

func (bytesCodec) Unmarshal(payload []byte, message any) error {
	switch message := message.(type) {
	case *[]byte:
		*message = payload
	case *string:
		*message = string(payload)
	default:
		return fmt.Errorf("broker: the Bytes codec cannot receive into a %T", message)
	}
	return nil
}

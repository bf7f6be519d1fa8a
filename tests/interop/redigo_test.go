package interop

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/fakecluster/fakecluster/slots"
)

// redigo knows no clusters: its users follow redirections themselves, or with a
// small layer like this one.
func TestRedigo(t *testing.T) {
	onBoth(t, func(t *testing.T, addrs []string) {
		c := &redigo{t: t, conns: make(map[string]redis.Conn), owner: make(map[slots.Slot]string)}
		for _, addr := range addrs {
			c.conn(addr)
		}
		c.first = addrs[0]
		exercise(t, c)
	})
}

type redigo struct {
	t     *testing.T
	first string
	conns map[string]redis.Conn
	owner map[slots.Slot]string // learnt from redirections
}

func (r *redigo) dial(addr string) redis.Conn {
	conn, err := redis.Dial("tcp", addr)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	return conn
}

func (r *redigo) conn(addr string) redis.Conn {
	if r.conns[addr] == nil {
		r.conns[addr] = r.dial(addr)
	}
	return r.conns[addr]
}

// at is the connection to the node believed to own key.
func (r *redigo) at(key string) redis.Conn {
	if addr := r.owner[slots.OfString(key)]; addr != "" {
		return r.conn(addr)
	}
	return r.conn(r.first)
}

// do sends a command to the owner of key, learning who that is.
func (r *redigo) do(key, command string, args ...any) (any, error) {
	reply, err := r.at(key).Do(command, args...)
	if err == nil || !strings.HasPrefix(err.Error(), "MOVED ") {
		return reply, err
	}
	moved := strings.Fields(err.Error())
	if moved[1] != fmt.Sprint(slots.OfString(key)) {
		r.t.Errorf("redirected to slot %s, %s is in slot %d", moved[1], key, slots.OfString(key))
	}
	r.owner[slots.OfString(key)] = moved[2]
	return r.at(key).Do(command, args...)
}

func (r *redigo) set(key, value string) error {
	_, err := r.do(key, "SET", key, value)
	return err
}

func (r *redigo) get(key string) (string, bool, error) {
	value, err := redis.String(r.do(key, "GET", key))
	if err == redis.ErrNil {
		return "", false, nil
	}
	return value, err == nil, err
}

func (r *redigo) incr(key string) (int64, error) { return redis.Int64(r.do(key, "INCR", key)) }

func (r *redigo) pipelinedIncr(keys []string) ([]int64, error) {
	for _, key := range keys { // learn where they are, which a pipeline cannot
		if _, err := r.do(key, "EXISTS", key); err != nil {
			return nil, err
		}
	}
	used := make(map[redis.Conn]bool)
	for _, key := range keys {
		if err := r.at(key).Send("INCR", key); err != nil {
			return nil, err
		}
		used[r.at(key)] = true
	}
	for conn := range used {
		if err := conn.Flush(); err != nil {
			return nil, err
		}
	}
	var counts []int64
	for _, key := range keys {
		n, err := redis.Int64(r.at(key).Receive())
		if err != nil {
			return nil, err
		}
		counts = append(counts, n)
	}
	return counts, nil
}

func (r *redigo) transaction(first, second string) ([]string, error) {
	if _, err := r.do(first, "EXISTS", first); err != nil {
		return nil, err
	}
	conn := r.at(first)
	for _, command := range [][]any{{"MULTI"}, {"SET", first, "5"}, {"INCR", second}, {"GET", first}} {
		if err := conn.Send(command[0].(string), command[1:]...); err != nil {
			return nil, err
		}
	}
	replies, err := redis.Values(conn.Do("EXEC"))
	if err != nil {
		return nil, err
	}
	var results []string
	for _, reply := range replies {
		if b, ok := reply.([]byte); ok {
			reply = string(b)
		}
		results = append(results, fmt.Sprint(reply))
	}
	return results, nil
}

func (r *redigo) loadScript(script string) (string, error) {
	for addr := range r.conns {
		if err := redis.NewScript(1, script).Load(r.conn(addr)); err != nil {
			return "", err
		}
	}
	return redis.NewScript(1, script).Hash(), nil
}

func (r *redigo) evalsha(sha, key, arg string) (string, error) {
	return redis.String(r.do(key, "EVALSHA", sha, 1, key, arg))
}

func (r *redigo) subscribe(channel string) (<-chan string, error) {
	subscription := redis.PubSubConn{Conn: r.dial(r.first)}
	if err := subscription.Subscribe(channel); err != nil {
		return nil, err
	}
	if confirmed, ok := subscription.Receive().(redis.Subscription); !ok || confirmed.Count != 1 {
		return nil, fmt.Errorf("SUBSCRIBE is answered by %v", confirmed)
	}
	messages := make(chan string, 10)
	go func() {
		for {
			switch m := subscription.Receive().(type) {
			case redis.Message:
				messages <- string(m.Data)
			case error:
				return
			}
		}
	}()
	return messages, nil
}

func (r *redigo) publishAtEveryMaster(channel string, text func(int) string) (int, error) {
	n := 0
	for addr := range r.conns {
		if _, err := r.conn(addr).Do("PUBLISH", channel, text(n)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

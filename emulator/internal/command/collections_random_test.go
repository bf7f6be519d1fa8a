package command

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomLines writes n lines, each by one of the formats, whose verbs it fills:
// %K with a key, %V with a value, %N with a small number.
func randomLines(seed uint64, n int, formats ...string) string {
	rng := rand.New(rand.NewPCG(seed, seed))
	values := []string{"a", "b", "c", "1", "2", "-7", "70000", `""`, "a-longer-value", "9223372036854775807", "1.5"}
	var lines strings.Builder
	for range n {
		format := formats[rng.IntN(len(formats))]
		for i := 0; i < len(format); i++ {
			if format[i] != '%' {
				lines.WriteByte(format[i])
				continue
			}
			i++
			switch format[i] {
			case 'K':
				fmt.Fprintf(&lines, "key%d", rng.IntN(3))
			case 'V':
				lines.WriteString(values[rng.IntN(len(values))])
			case 'N':
				fmt.Fprint(&lines, rng.IntN(9)-4)
			}
		}
		lines.WriteByte('\n')
	}
	return lines.String()
}

func TestListsAtRandom(t *testing.T) {
	formats := []string{
		"LPUSH %K %V %V", "RPUSH %K %V %V %V", "LPUSHX %K %V", "RPUSHX %K %V",
		"LPOP %K", "RPOP %K", "LPOP %K %N", "RPOP %K %N", "LRANGE %K %N %N", "LRANGE %K 0 -1", "LTRIM %K %N %N",
		"LINDEX %K %N", "LSET %K %N %V", "LREM %K %N %V", "LINSERT %K BEFORE %V %V", "LINSERT %K AFTER %V %V",
		"LPOS %K %V", "LPOS %K %V RANK %N COUNT %N", "LPOS %K %V COUNT 0 MAXLEN %N", "LLEN %K",
		"LMOVE %K %K LEFT RIGHT", "LMOVE %K %K RIGHT LEFT", "RPOPLPUSH %K %K", "LMPOP 2 %K %K LEFT COUNT %N",
		"multi: BLPOP %K %K 0", "multi: BLMOVE %K %K RIGHT RIGHT 0", "multi: BLMPOP 0 1 %K RIGHT",
	}
	for seed, size := range []string{"-2", "1", "3"} {
		diff(t, "CONFIG SET list-max-listpack-size "+size+"\n"+randomLines(uint64(seed), 250, formats...))
	}
}

func TestHashesAtRandom(t *testing.T) {
	formats := []string{
		"HSET %K %V %V", "HSET %K %V %V %V %V", "HSETNX %K %V %V", "HMSET %K %V %V", "HDEL %K %V", "HDEL %K %V %V %V",
		"HGET %K %V", "HMGET %K %V %V %V", "HLEN %K", "HEXISTS %K %V", "HSTRLEN %K %V",
		"HINCRBY %K %V %N", "HINCRBYFLOAT %K %V %N", "HINCRBYFLOAT %K %V %V",
		"pairs: HGETALL %K", "unordered: HKEYS %K", "unordered: HVALS %K",
	}
	for seed, entries := range []string{"512", "2"} {
		diff(t, "CONFIG SET hash-max-listpack-entries "+entries+"\n"+randomLines(uint64(seed), 250, formats...))
	}
}

func TestSetsAtRandom(t *testing.T) {
	formats := []string{
		"SADD %K %V", "SADD %K %V %V %V", "SADD %K %N %N %N", "SREM %K %V", "SREM %K %V %N", "SMOVE %K %K %V",
		"SCARD %K", "SISMEMBER %K %V", "SMISMEMBER %K %V %N", "unordered: SMEMBERS %K",
		"unordered: SINTER %K %K", "unordered: SUNION %K %K", "unordered: SDIFF %K %K %K",
		"SINTERSTORE %K %K %K", "SUNIONSTORE %K %K %K", "SDIFFSTORE %K %K %K", "SINTERCARD 2 %K %K LIMIT %N",
		"unordered: SPOP %K 100", "SRANDMEMBER %K 0", "unordered: SRANDMEMBER %K 100",
	}
	for seed, entries := range []string{"512", "2"} {
		diff(t, "CONFIG SET set-max-intset-entries "+entries+"\n"+randomLines(uint64(seed), 250, formats...))
	}
}

package command

import "testing"

func TestLists(t *testing.T) {
	diff(t, `
		LPUSH l a b c
		RPUSH l 1 -5 "" 70000
		LRANGE l 0 -1
		LLEN l
		LPUSHX missing a
		RPUSHX missing a b
		LPUSHX l x y
		RPUSHX l z
		LRANGE l 0 -1
		LRANGE l 2 4
		LRANGE l -3 -2
		LRANGE l 5 2
		LRANGE l -100 100
		LRANGE l 100 200
		LRANGE l a 1
		LRANGE l 1 a
		LRANGE missing 0 -1
		LRANGE missing x -1
		LINDEX l 0
		LINDEX l -1
		LINDEX l 4
		LINDEX l 100
		LINDEX l -100
		LINDEX l x
		LINDEX missing x
		LSET l 0 first
		LSET l -1 last
		LSET l 100 x
		LSET l -100 x
		LSET l x x
		LSET missing x x
		LINSERT l BEFORE a before-a
		LINSERT l after a after-a
		LINSERT l AFTER nope x
		LINSERT l NEAR a x
		LINSERT missing BEFORE a x
		LRANGE l 0 -1
		SET s string
		LPUSH s a
		RPUSHX s a
		LRANGE s 0 -1
		LRANGE s x -1
		LLEN s
		LINDEX s 0
		LINDEX s x
		LSET s 0 a
		LSET s x a
		LINSERT s BEFORE a b
		LINSERT s NEAR a b
		LTRIM s 0 1
		LTRIM s x 1
		LREM s 0 a
		LREM s x a
		LPOP s
		LPOP s 2
		LPOP s x
		RPOP s 0
		LPOS s a
		LPOS s a RANK 0
	`)
}

func TestListRemoval(t *testing.T) {
	diff(t, `
		RPUSH l a b c a b c a b c 1 2 3
		LPOP l
		RPOP l
		LPOP l 2
		RPOP l 2
		LPOP l 0
		LPOP l -1
		LPOP l x
		LPOP l 1 2
		RPOP l 9223372036854775807
		LPOP l
		LPOP l 1
		LPOP l 0
		RPOP missing
		RPOP missing 5
		RPUSH l a
		LPOP l
		RPUSH l a
		LPOP l 1
		RPUSH l a b c d e f g
		LTRIM l 1 -2
		LRANGE l 0 -1
		LTRIM l 0 -1
		LTRIM l 2 1000
		LRANGE l 0 -1
		LTRIM l -100 1
		LTRIM l 5 10
		LTRIM l 0 1
		LTRIM missing 0 1
		LTRIM missing a b
		RPUSH l a
		LTRIM l 1 0
		RPUSH l a b a c a d a
		LREM l 2 a
		LRANGE l 0 -1
		LREM l -1 a
		LRANGE l 0 -1
		LREM l 0 nope
		LREM l -9223372036854775808 a
		LREM l 0 b
		LREM l x b
		LREM l 1 c
		LREM l 1 d
		LLEN l
		LREM missing 0 a
	`)
}

func TestLPos(t *testing.T) {
	diff(t, `
		RPUSH l a b c 1 2 3 c c 1
		LPOS l c
		LPOS l 1
		LPOS l nope
		LPOS l c RANK 2
		LPOS l c RANK -1
		LPOS l c RANK -4
		LPOS l c COUNT 0
		LPOS l c COUNT 2
		LPOS l c COUNT 2 RANK 2
		LPOS l c RANK -1 COUNT 2
		LPOS l c COUNT 0 MAXLEN 3
		LPOS l c COUNT 0 MAXLEN 3 RANK -1
		LPOS l c MAXLEN 1
		LPOS l c MAXLEN 0
		LPOS l nope COUNT 2
		LPOS l nope COUNT 0
		LPOS missing a
		LPOS missing a COUNT 1
		LPOS l c RANK 0
		LPOS l c RANK x
		LPOS l c RANK -9223372036854775808
		LPOS l c RANK -9223372036854775807
		LPOS l c COUNT -1
		LPOS l c COUNT x
		LPOS l c MAXLEN -1
		LPOS l c MAXLEN
		LPOS l c COUNT 1 RANK
		LPOS l c WHAT 1
		LPOS missing a COUNT -1
	`)
}

func TestListMoves(t *testing.T) {
	diff(t, `
		RPUSH l a b c
		RPOPLPUSH l k
		LMOVE l k LEFT RIGHT
		LRANGE k 0 -1
		LMOVE l k RIGHT LEFT
		LMOVE l k RIGHT LEFT
		LLEN l
		LMOVE k k LEFT RIGHT
		RPOPLPUSH k k
		LRANGE k 0 -1
		LMOVE k k LEFT UP
		LMOVE k k DOWN UP
		LMOVE missing k x LEFT
		RPOPLPUSH missing k
		SET s 1
		RPOPLPUSH k s
		RPOPLPUSH s k
		LMOVE missing s LEFT LEFT
		RPUSH one a
		LMOVE one one LEFT RIGHT
		LMOVE one two LEFT RIGHT
		LMPOP 2 missing k LEFT
		LMPOP 1 k RIGHT COUNT 10
		LMPOP 1 k RIGHT COUNT 10
		LMPOP 2 s k LEFT
		LMPOP 2 k s LEFT
		LMPOP 0 k LEFT
		LMPOP -1 k LEFT
		LMPOP x k LEFT
		LMPOP 1 k UP
		LMPOP 3 k LEFT
		LMPOP 2 k LEFT
		LMPOP 9223372036854775807 k LEFT
		LMPOP 1 k LEFT COUNT
		LMPOP 1 k LEFT COUNT 0
		LMPOP 1 k LEFT COUNT -5
		LMPOP 1 k LEFT COUNT x
		LMPOP 1 k LEFT COUNT 1 COUNT 2
		LMPOP 1 k LEFT NOPE 1
		RPUSH k a b c d
		LMPOP 1 k LEFT COUNT 3
	`)
}

func TestBlockingListCommandsThatNeedNotWait(t *testing.T) {
	diff(t, `
		RPUSH l a b c d e f g
		BLPOP missing l 0
		BRPOP l 1.5
		BLMOVE l k LEFT RIGHT 0
		BRPOPLPUSH l k 1
		BLMPOP 0 1 l LEFT COUNT 2
		BLMPOP 0.1 2 missing l RIGHT
		BLPOP k 0
		BLPOP k 0
		multi: BLPOP missing l 0
		multi: BRPOP missing l 1
		multi: BLMOVE missing l LEFT RIGHT 0
		multi: BRPOPLPUSH missing l 0
		multi: BLMPOP 0 1 missing LEFT
		RPUSH l a
		SET s 1
		BLPOP s l 0
		BLPOP l s 0
		BLMPOP 0 2 s l LEFT
		BLMOVE s l LEFT LEFT 0
		BLMOVE missing s LEFT UP 0
		RPUSH l a
		BLMOVE l s LEFT LEFT 0
		BRPOPLPUSH l s 0
		BLPOP l -1
		BLPOP l x
		BLPOP l 1e400
		BLPOP l inf
		BLPOP l nan
		BLPOP l 9223372036854775808
		BLPOP l 9223372036854775.807
		multi: BLPOP l 9223372036854775
		multi: BLPOP l -0.0001
		multi: BLPOP l 0x10
		RPUSH l a
		BLPOP l ""
		BLPOP l " 1"
		BLPOP l "1 "
		BLPOP l 0.0001
		BLMOVE l k LEFT LEFT -1
		BRPOPLPUSH l k x
		BLMPOP x 1 l LEFT
		BLMPOP x 1 l UP
		BLMPOP -1 0 l UP
		BLMPOP inf 1 l LEFT COUNT 0
		BLMPOP -1 1 l LEFT
		BLMPOP 1 0 l LEFT
		BLMPOP 1 5 l LEFT
		BLMPOP 1 1 l UP
		BLMPOP 1 1 l LEFT COUNT 0
	`)
}

// TestListsOfManyNodes makes every element count where nodes split and join.
func TestListsOfManyNodes(t *testing.T) {
	diff(t, `
		CONFIG SET list-max-listpack-size 3
		RPUSH l a b c d e f g h i j k l m
		LINSERT l BEFORE e x1
		LINSERT l AFTER e x2
		LINSERT l BEFORE d x3
		LINSERT l AFTER f x4
		LINSERT l AFTER m x5
		LINSERT l BEFORE a x6
		LRANGE l 0 -1
		LINDEX l 7
		LINDEX l -7
		LSET l 9 y
		LREM l 0 x3
		LREM l -1 x4
		LTRIM l 2 -3
		LRANGE l 0 -1
		LPOS l e
		LPOS l x2 RANK -1
		RPOP l 5
		LRANGE l 0 -1
	`)
}

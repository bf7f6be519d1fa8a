package shim

// keyTable says where the keys of Redis' commands are (6.2 to 7.4), and which
// commands only read. Each line is "places [read] : commands". Places are
//
//	1        the argument at index 1 (index 0 is the command)
//	1..-1    from index 1 to the last argument; "/2" takes every second one
//	#2       as many as the number at index 2 says, from the index behind it
//	streams  the first half of what follows STREAMS
//	store>2  what follows STORE or STOREDIST, among options from index 2 on
//	migrate  index 3, or what follows KEYS
//
// Channels of sharded pub/sub are routed as keys are. A command that is not
// here and has arguments is taken to have one key, its first argument, as
// go-redis does; keyless commands with arguments are therefore listed last.
const keyTable = `
1          : append bitfield decr decrby expire expireat geoadd getdel getex getset hdel hexpire hexpireat hincrby
1          : hincrbyfloat hmset hpersist hpexpire hpexpireat hset hsetnx incr incrby incrbyfloat linsert lpop lpush
1          : lpushx lrem lset ltrim move persist pexpire pexpireat pfadd psetex restore restore-asking rpop rpush
1          : rpushx sadd set setbit setex setnx setrange spop srem xack xadd xautoclaim xclaim xdel xsetid xtrim
1          : zadd zincrby zpopmax zpopmin zrem zremrangebylex zremrangebyrank zremrangebyscore spublish
1 read     : bitcount bitfield_ro bitpos dump expiretime geodist geohash geopos georadius_ro georadiusbymember_ro
1 read     : geosearch get getbit getrange hexists hexpiretime hget hgetall hkeys hlen hmget hpexpiretime hpttl
1 read     : hrandfield hscan hstrlen httl hvals lindex llen lpos lrange pexpiretime pttl scard sismember smembers
1 read     : smismember sort_ro srandmember sscan strlen substr ttl type xlen xpending xrange xrevrange zcard zcount
1 read     : zlexcount zmscore zrandmember zrange zrangebylex zrangebyscore zrank zrevrange zrevrangebylex
1 read     : zrevrangebyscore zrevrank zscan zscore
1..2       : blmove brpoplpush copy geosearchstore lmove rename renamenx rpoplpush smove zrangestore
1..2 read  : lcs
1..-1      : del unlink watch pfmerge sdiffstore sinterstore sunionstore ssubscribe sunsubscribe
1..-1 read : exists mget pfcount sdiff sinter sunion touch
1..-1/2    : mset msetnx
1..-2      : blpop brpop bzpopmax bzpopmin
2          : pfdebug xgroup|create xgroup|createconsumer xgroup|delconsumer xgroup|destroy xgroup|setid
2 read     : memory|usage object|encoding object|freq object|idletime object|refcount
2 read     : xinfo|consumers xinfo|groups xinfo|stream
2..-1      : bitop
#1         : lmpop zmpop
#1 read    : sintercard zdiff zinter zintercard zunion
#2         : blmpop bzmpop eval evalsha fcall
#2 read    : eval_ro evalsha_ro fcall_ro
1 #2       : zdiffstore zinterstore zunionstore
1 store>2  : sort
1 store>6  : georadius
1 store>5  : georadiusbymember
streams    : xreadgroup
streams read : xread
migrate    : migrate
           : acl asking auth bgrewriteaof bgsave client cluster command config debug discard echo exec failover
           : flushall flushdb function hello info lastsave latency lolwut memory module monitor multi object
           : pfselftest ping psubscribe psync publish pubsub punsubscribe quit readonly readwrite replconf
           : replicaof reset role save script select shutdown slaveof slowlog subscribe swapdb sync time
           : unsubscribe unwatch wait waitaof xgroup xinfo
read       : dbsize keys randomkey scan
`

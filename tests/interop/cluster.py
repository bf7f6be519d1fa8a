"""Does with redis-py what people do with a cluster."""
import os
from redis.cluster import RedisCluster

client = RedisCluster.from_url(os.environ["REDIS_CLUSTER_URL"])
for i in range(50):
    client.set(f"key:{i}", i)
assert [int(client.get(f"key:{i}")) for i in range(50)] == list(range(50))
assert client.mget_nonatomic(["key:1", "key:2"]) == [b"1", b"2"]
assert client.eval("return redis.call('INCR', KEYS[1])", 1, "counter") == 1
assert len(client.get_primaries()) == 3
print("redis-py is content")

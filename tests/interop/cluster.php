<?php
// Does with phpredis what people do with a cluster.
$client = new RedisCluster(null, explode(',', getenv('REDIS_CLUSTER_NODES')));
for ($i = 0; $i < 50; $i++) $client->set("key:$i", $i);
for ($i = 0; $i < 50; $i++) if ($client->get("key:$i") !== "$i") throw new Exception("key:$i");
if ($client->mget(['key:1', 'key:2']) !== ['1', '2']) throw new Exception('mget');
if ($client->eval("return redis.call('INCR', KEYS[1])", ['counter'], 1) !== 1) throw new Exception('eval');
if (count($client->_masters()) !== 3) throw new Exception('masters');
echo "phpredis is content\n";

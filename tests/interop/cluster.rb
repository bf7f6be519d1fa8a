# Does with redis-rb what people do with a cluster.
require 'redis'
client = Redis.new(cluster: ENV['REDIS_CLUSTER_NODES'].split(',').map { |node| "redis://#{node}" })
50.times { |i| client.set("key:#{i}", i) }
50.times { |i| raise "key:#{i}" unless client.get("key:#{i}") == i.to_s }
raise 'mget' unless client.mget('{t}1', '{t}2') == [nil, nil]
raise 'eval' unless client.eval("return redis.call('INCR', KEYS[1])", keys: ['counter']) == 1
puts 'redis-rb is content'

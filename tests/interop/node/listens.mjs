// ioredis hears sharded channels, keyspace events and what becomes of keys it
// has cached. Arguments: addresses, protocol (2 or 3).
import assert from 'node:assert/strict'
import process from 'node:process'
import { Cluster, Redis } from 'ioredis'
import { seeds, withDeadline } from './scenario.mjs'

const protocol = Number(process.argv[3])
const cluster = new Cluster(seeds(), { slotsRefreshTimeout: 10000, redisOptions: { protocol }, shardedSubscribers: true })
const open = [cluster]

// connect makes a connection of its own to the node that has a key.
async function connect (key, proto = protocol) {
  const [host, port] = await ownerOf(key)
  const redis = new Redis({ host, port, protocol: proto })
  open.push(redis)
  return redis
}

async function ownerOf (key) {
  const slot = await cluster.cluster('KEYSLOT', key)
  const range = (await cluster.cluster('SLOTS')).find(([first, last]) => first <= slot && slot <= last)
  return range[2]
}

// heard collects messages and waits for as many as are wanted.
function heard () {
  const all = []
  let arrived = () => {}
  const note = message => { all.push(message); arrived() }
  const expect = async (...want) => {
    await withDeadline(new Promise(resolve => {
      arrived = () => { if (all.length >= want.length) resolve() }
      arrived()
    }), `${want}`).catch(error => { throw new Error(`${error.message}, only ${all}`) })
    assert.deepEqual(all.splice(0), want)
  }
  return { note, expect }
}

// until asks again and again until it is told yes.
async function until (yes, what) {
  for (const end = Date.now() + 10000; !(await yes());) {
    if (Date.now() > end) throw new Error(`${what} does not come about`)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

async function shardedChannels () {
  for (const tag of ['a', 'b', 'c']) { // one of each shard
    const channel = `{${tag}}news`
    const { note, expect } = heard()
    const subscriber = await connect(channel)
    subscriber.on('smessage', (_, message) => note(message))
    await subscriber.ssubscribe(channel)
    assert.equal(await cluster.spublish(channel, 'one'), 1)
    await cluster.publish(channel, 'to others')
    assert.equal(await cluster.spublish(channel, 'two'), 1)
    await expect('one', 'two')
  }
  // The cluster client's own subscriptions, one connection per shard.
  const { note, expect } = heard()
  cluster.on('smessage', (channel, message) => note(`${channel} ${message}`))
  for (const tag of ['d', 'e', 'f']) {
    const channel = `{${tag}}news`
    await cluster.ssubscribe(channel)
    await until(async () => await cluster.spublish(channel, 'hello') > 0, `a subscriber of ${channel}`)
    await expect(`${channel} hello`)
  }
}

async function keyspaceEvents () {
  const [number, bag, brief] = ['{watched}number', '{watched}bag', '{watched}brief']
  for (const node of cluster.nodes('master')) await node.config('SET', 'notify-keyspace-events', 'KEA')
  const { note, expect } = heard()
  const subscriber = await connect(number)
  subscriber.on('pmessage', (_, channel, key) => note(`${channel.slice(channel.indexOf(':') + 1)} ${key}`))
  await subscriber.psubscribe('__keyevent@0__:*')
  await cluster.incr(number)
  await cluster.del(number)
  await cluster.sadd(bag, 'member')
  await cluster.spop(bag)
  await cluster.set(brief, 'value', 'PX', 50)
  await expect(`incrby ${number}`, `del ${number}`, `sadd ${bag}`, `spop ${bag}`, `del ${bag}`,
    `set ${brief}`, `expire ${brief}`, `expired ${brief}`)
}

// A cache whose invalidations come through another connection, as in RESP2.
async function clientSideCache () {
  const key = '{cached}key'
  const reader = await connect(key)
  const listener = await connect(key, 2)
  const cache = new Map()
  listener.on('message', (channel, keys) => {
    assert.equal(channel, '__redis__:invalidate')
    if (keys === '') cache.clear()
    for (const name of keys.split(',')) cache.delete(name)
  })
  const id = await listener.client('ID')
  await listener.subscribe('__redis__:invalidate')
  await reader.client('TRACKING', 'ON', 'REDIRECT', id)
  const read = async () => {
    if (!cache.has(key)) cache.set(key, await reader.get(key))
    return cache.get(key)
  }
  await cluster.set(key, 'first')
  assert.equal(await read(), 'first')
  assert.ok(cache.has(key))
  await cluster.set(key, 'second')
  await until(async () => await read() === 'second', 'an invalidation after a write')
  await cluster.set(key, 'third', 'PX', 50)
  await until(async () => await read() === 'third', 'an invalidation after another write')
  await until(async () => await read() === null, 'an invalidation after the end')
  await cluster.set(key, 'fourth')
  await until(async () => await read() === 'fourth', 'an invalidation of nothing')
  await reader.flushall()
  await until(async () => await read() === null, 'an invalidation of all')
}

await new Promise(resolve => cluster.once('ready', resolve))
await shardedChannels()
await keyspaceEvents()
await clientSideCache()
const masters = cluster.nodes('master').length
await Promise.all(open.map(connection => connection.quit()))
console.log(`ioredis has heard everything of ${masters} masters in RESP${protocol}`)

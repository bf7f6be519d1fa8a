// What every JavaScript client does with a cluster. An adapter hides how a
// client spells it; a failed expectation throws, and the process ends with 1.
import assert from 'node:assert/strict'

export const script = "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1]) .. '!'"

// withDeadline rejects when a promise takes too long.
export function withDeadline (promise, what, ms = 10000) {
  let timer
  const late = new Promise((resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing after ${ms} ms`)), ms)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

export async function exercise (client) {
  const keys = Array.from({ length: 50 }, (_, i) => `interop:${client.name}:${i}`)

  // Reads and writes, over all slots.
  for (const key of keys) assert.equal(await client.set(key, `value of ${key}`), 'OK')
  for (const key of keys) assert.equal(await client.get(key), `value of ${key}`)
  assert.equal(await client.get(`interop:${client.name}:missing`), null)
  await assert.rejects(client.incr(keys[0]), /not an integer/)

  // A pipeline of many commands on the same slot.
  const counter = `{interop:${client.name}}:counter:${process.pid}`
  assert.deepEqual(await client.pipelinedIncr(counter, 20), Array.from({ length: 20 }, (_, i) => i + 1))

  // A transaction.
  const [first, second] = [`{interop:${client.name}}:a`, `{interop:${client.name}}:b:${process.pid}`]
  assert.deepEqual(await client.transaction(first, second), ['OK', 1, '5'])

  // A script by its digest, on every master.
  const sha = await client.loadScriptEverywhere(script)
  for (const key of keys) assert.equal(await client.evalsha(sha, key, 'lua'), 'lua!')

  // A message published at each master reaches a subscriber of the cluster.
  const received = []
  let arrived = () => {}
  await client.subscribe('interop:news', message => { received.push(message); arrived() })
  const masters = await client.publishAtEveryMaster('interop:news', index => `from master ${index}`)
  assert.ok(masters >= 3, `the client knows ${masters} masters`)
  const all = new Promise(resolve => {
    arrived = () => { if (received.length >= masters) resolve() }
    arrived()
  })
  await withDeadline(all, `${received.length} of ${masters} messages`)
  assert.deepEqual(received.sort(), Array.from({ length: masters }, (_, i) => `from master ${i}`).sort())

  await client.close()
  console.log(`${client.name} is content with ${masters} masters`)
}

// seeds are the command line's addresses as { host, port }.
export function seeds () {
  return process.argv[2].split(',').map(addr => {
    const colon = addr.lastIndexOf(':')
    return { host: addr.slice(0, colon), port: Number(addr.slice(colon + 1)) }
  })
}

// The npm package redis. The second argument chooses which installed version:
// "redis4" or "redis".
import { exercise, seeds } from './scenario.mjs'

const name = process.argv[3]
const { createCluster } = await import(name)

const cluster = createCluster({ rootNodes: seeds().map(socket => ({ socket })) })
cluster.on('error', error => console.error(`${name}: ${error}`))
await cluster.connect()

await exercise({
  name,
  set: (key, value) => cluster.set(key, value),
  get: key => cluster.get(key),
  incr: key => cluster.incr(key),
  // Commands of one tick leave in one write.
  pipelinedIncr: (key, n) => Promise.all(Array.from({ length: n }, () => cluster.incr(key))),
  transaction: (first, second) => cluster.multi().set(first, '5').incr(second).get(first).exec(),
  loadScriptEverywhere: async script => {
    const digests = await Promise.all(cluster.masters.map(async master => (await cluster.nodeClient(master)).scriptLoad(script)))
    return digests[0]
  },
  // cluster.evalSha of version 4 asks nodes at random instead of the key's.
  evalsha: (sha, key, argument) => cluster.sendCommand(key, false, ['EVALSHA', sha, '1', key, argument]),
  subscribe: (channel, listener) => cluster.subscribe(channel, listener),
  publishAtEveryMaster: async (channel, text) => {
    for (const [index, master] of cluster.masters.entries()) {
      await (await cluster.nodeClient(master)).publish(channel, text(index))
    }
    return cluster.masters.length
  },
  close: () => cluster.quit()
})

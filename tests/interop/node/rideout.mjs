// Increments keys from several workers until standard input ends, while the
// cluster is changed. Each counter must go up by one at a time.
// Arguments: addresses, package (ioredis, redis or redis4).
import process from 'node:process'
import { seeds } from './scenario.mjs'

const name = process.argv[3]
let cluster
if (name === 'ioredis') {
  const { Cluster } = await import('ioredis')
  cluster = new Cluster(seeds(), { slotsRefreshTimeout: 10000 })
} else {
  const { createCluster } = await import(name)
  cluster = createCluster({ rootNodes: seeds().map(socket => ({ socket })) })
  cluster.on('error', error => console.error(`${name}: ${error}`))
  await cluster.connect()
}

let stopped = false
process.stdin.on('end', () => { stopped = true }).resume()

const keys = 64
let total = 0
async function worker (id) {
  for (let n = 0; !stopped; n++) {
    const key = `count:${id}:${n % keys}`
    const want = Math.floor(n / keys) + 1
    const got = await cluster.incr(key)
    if (got !== want) throw new Error(`${key} is ${got}, want ${want}`)
    if (total++ === 1000) console.log('under way')
  }
}

await Promise.all([0, 1, 2, 3].map(worker))
console.log(`${total} increments without an error`)
await cluster.quit()

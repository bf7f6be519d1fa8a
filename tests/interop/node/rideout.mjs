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

// node-redis ends the connection to a master that was demoted as soon as it has
// learnt that from one answer, and fails what others had sent there: nobody knows
// whether that was executed. It does so with any cluster; but while a failover
// takes its time all wait for the same answer, and nothing else is on its way.
const mayDisconnect = name !== 'ioredis'
const disconnected = error => mayDisconnect && error.constructor.name === 'DisconnectsClientError'

const keys = 64
let total = 0
let unsure = 0
async function worker (id) {
  const counts = Array.from({ length: keys }, () => ({ least: 0, most: 0 }))
  for (let n = 0; !stopped; n++) {
    const count = counts[n % keys]
    const key = `count:${id}:${n % keys}`
    try {
      const got = await cluster.incr(key)
      if (got <= count.least || got > count.most + 1) throw new Error(`${key} is ${got} after ${count.least} to ${count.most}`)
      count.least = count.most = got
      if (total++ === 1000) console.log('under way')
    } catch (error) {
      if (!disconnected(error)) throw error
      count.most++
      unsure++
    }
  }
}

const workers = [0, 1, 2, 3]
await Promise.all(workers.map(worker))
const failovers = 2
if (unsure > failovers * workers.length) throw new Error(`${unsure} increments disconnected`)
console.log(`${total} increments without an error, ${unsure} disconnected`)
await cluster.quit()

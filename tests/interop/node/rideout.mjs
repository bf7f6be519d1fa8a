// Increments keys from several workers until standard input ends, and each key
// once more, while the cluster is changed. Each counter must go up by one at a time.
// Arguments: addresses, package (ioredis, redis or redis4), and "retry" where an
// error reply, after which nothing was executed, is reported and sent again.
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { seeds } from './scenario.mjs'

const name = process.argv[3]
const mayRefuse = process.argv[4] === 'retry'
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

// Error replies are what the server said, told from what a client made up by the
// code in capitals that they begin with.
const refused = error => mayRefuse && /^(CLUSTERDOWN|LOADING|READONLY|MASTERDOWN|UNBLOCKED|TRYAGAIN|MOVED|ASK) /.test(error.message)

const keys = 64
let total = 0
let unsure = 0
let refusals = 0
async function worker (id) {
  const counts = Array.from({ length: keys }, () => ({ least: 0, most: 0 }))
  for (let n = 0, end = Infinity; n < end; n++) {
    if (stopped && end === Infinity) end = n + keys // each key once more, with the new masters
    const count = counts[n % keys]
    const key = `count:${id}:${n % keys}`
    try {
      const got = await cluster.incr(key)
      if (got <= count.least || got > count.most + 1) throw new Error(`${key} is ${got} after ${count.least} to ${count.most}`)
      count.least = count.most = got
      if (total++ === 1000) console.log('under way')
    } catch (error) {
      if (disconnected(error)) {
        count.most++
        unsure++
      } else if (refused(error) && refusals++ < 500) {
        console.error(`${name} was told ${error.message}`)
        n-- // the same again
        await setTimeout(10)
      } else throw error
    }
  }
}

const workers = [0, 1, 2, 3]
await Promise.all(workers.map(worker))
const failovers = 2
if (unsure > failovers * workers.length) throw new Error(`${unsure} increments disconnected`)
console.log(`${total} increments, ${unsure} disconnected, ${refusals} refused`)
await cluster.quit()

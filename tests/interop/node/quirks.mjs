// What node-redis does wrongly on a cluster, told in lines that are the same on
// every cluster. A line "please …" asks whoever runs this to change the cluster,
// and to answer with a line when that is done.
// Arguments: addresses, package (redis or redis4), quirk, key.
import process from 'node:process'
import { createInterface } from 'node:readline'
import { seeds } from './scenario.mjs'

const [, , , name, quirk, key] = process.argv
const { createCluster } = await import(name)
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

async function please (change) {
  console.log(`please ${change}`)
  await answers.next()
}

// attempt tells how a call ends, without what differs between two clusters.
async function attempt (what, call) {
  console.log(`${what}: ${await call().catch(withoutAddress)}`)
}

function withoutAddress (error) {
  return error.message.replace(/ 127\.0\.0\.1:\d+$/, '')
}

function connectable (options) {
  const cluster = createCluster({ rootNodes: roots(), ...options })
  cluster.on('error', () => {}) // an error that nobody listens to ends the process
  return cluster
}

// roots are made anew for every client: 4.7 writes into them.
function roots () {
  return seeds().map(socket => ({ socket }))
}

// Where cluster.eval goes: with no redirection allowed, to the key's node or not.
async function evals () {
  const cluster = connectable({ maxCommandRedirections: 0 })
  await cluster.connect()
  const count = async (what, call) => {
    const ends = await Promise.allSettled(Array.from({ length: 30 }, call))
    const moved = ends.filter(({ reason }) => reason?.message.startsWith('MOVED')).length
    const done = ends.filter(({ value }) => value === key).length
    console.log(`${what}: ${done} done, ${moved} moved`)
  }
  await count('eval', () => cluster.eval('return KEYS[1]', { keys: [key] }))
  await count('eval sent with its key', () => cluster.sendCommand(key, false, ['EVAL', 'return KEYS[1]', '1', key]))
  await cluster.disconnect()
}

// Whether a transaction notices that its slot has moved.
async function transactions () {
  const cluster = connectable()
  await cluster.connect()
  const count = () => cluster.multi().incr(key).incr(key).exec()
  await attempt('before the move', count)
  await please('move')
  await attempt('after the move', count)
  await attempt('once more', count)
  await attempt('a command', () => cluster.get(key))
  await attempt('after a command', count)
  await cluster.disconnect()
}

// Whether a client can start while one of three masters is down, when it may not
// try for ever to reach that one.
async function discovery () {
  const start = async rootNodes => {
    const cluster = connectable({ rootNodes, defaults: { socket: { reconnectStrategy: false } } })
    try {
      await cluster.connect()
      return await cluster.set(key, 'value').catch(error => `connected, but ${withoutAddress(error)}`)
    } finally {
      await cluster.disconnect().catch(() => {})
    }
  }
  const fromOne = () => start(roots().slice(0, 1))
  const fromAll = () => start(roots())
  await attempt('before the crash', fromOne)
  await please('crash')
  await attempt('from a node that lives', fromOne)
  await attempt('from all three', fromAll)
  await please('promote')
  await attempt('after the failover', fromOne)
}

await { evals, transactions, discovery }[quirk]()
process.exit() // standard input is still open

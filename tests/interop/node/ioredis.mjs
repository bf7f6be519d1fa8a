// The npm package ioredis, or iovalkey, which was made of it: the second argument.
import process from 'node:process'
import { exercise, seeds } from './scenario.mjs'

const name = process.argv[3]
const { Cluster } = await import(name)

const cluster = new Cluster(seeds(), { slotsRefreshTimeout: 10000 })
const subscriber = new Cluster(seeds(), { slotsRefreshTimeout: 10000 })
const results = replies => replies.map(([error, result]) => {
  if (error) throw error
  return result
})

await exercise({
  name,
  set: (key, value) => cluster.set(key, value),
  get: key => cluster.get(key),
  incr: key => cluster.incr(key),
  pipelinedIncr: async (key, n) => {
    const pipeline = cluster.pipeline()
    for (let i = 0; i < n; i++) pipeline.incr(key)
    return results(await pipeline.exec())
  },
  transaction: async (first, second) => results(await cluster.multi().set(first, '5').incr(second).get(first).exec()),
  loadScriptEverywhere: async script => {
    const digests = await Promise.all(cluster.nodes('master').map(node => node.script('LOAD', script)))
    return digests[0]
  },
  evalsha: (sha, key, argument) => cluster.evalsha(sha, 1, key, argument),
  subscribe: async (channel, listener) => {
    subscriber.on('message', (_, message) => listener(message))
    await subscriber.subscribe(channel)
  },
  publishAtEveryMaster: async (channel, text) => {
    const masters = cluster.nodes('master')
    for (const [index, master] of masters.entries()) await master.publish(channel, text(index))
    return masters.length
  },
  close: () => Promise.all([cluster.quit(), subscriber.quit()])
})

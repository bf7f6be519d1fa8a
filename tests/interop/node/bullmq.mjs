// The npm package bullmq, whose every step is a Lua script. A prefix with a hash
// tag keeps all keys of the queues that belong together in one slot.
import assert from 'node:assert/strict'
import { FlowProducer, Queue, QueueEvents, Worker } from 'bullmq'
import { Cluster } from 'ioredis'
import { seeds, withDeadline } from './scenario.mjs'

const connection = new Cluster(seeds(), {
  slotsRefreshTimeout: 10000, redisOptions: { maxRetriesPerRequest: null }
})
const open = []
const opened = closable => {
  closable.on('error', error => { console.error(error); process.exitCode = 1 })
  open.push(closable)
  return closable
}

// shop is a queue with all that belongs to it, in a slot of its own.
async function shop (tag) {
  const options = { connection, prefix: `{${tag}}` }
  const queue = opened(new Queue('work', options))
  const events = opened(new QueueEvents('work', options))
  for (const emitter of [queue, events]) emitter.setMaxListeners(100) // waitUntilFinished adds some
  await events.waitUntilReady()
  const worker = (processor, more = {}, name = 'work') => opened(new Worker(name, processor, { ...options, ...more }))
  const finished = job => withDeadline(job.waitUntilFinished(events), `job ${job.name} of ${tag}`)
  return { options, queue, events, worker, finished }
}

const counts = queue => queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized', 'waiting-children', 'completed', 'failed')
const none = { waiting: 0, active: 0, delayed: 0, prioritized: 0, 'waiting-children': 0, completed: 0, failed: 0 }

// Jobs wait, are done in order of their priority, and leave results.
async function addAndProcess (tag) {
  const { queue, worker, finished, events } = await shop(tag)
  const jobs = await queue.addBulk(Array.from({ length: 20 }, (_, i) => ({ name: 'square', data: { i } })))
  jobs.push(await queue.add('square', { i: 102 }, { priority: 2 }), await queue.add('square', { i: 101 }, { priority: 1 }))
  assert.deepEqual(jobs.map(job => job.id), Array.from({ length: 22 }, (_, i) => String(i + 1)))
  const twice = await Promise.all([queue.add('square', { i: 7 }, { jobId: 'once' }), queue.add('square', { i: 8 }, { jobId: 'once' })])
  assert.deepEqual(twice.map(job => job.id), ['once', 'once'])
  assert.deepEqual(await counts(queue), { ...none, waiting: 21, prioritized: 2 })

  const progress = []
  events.on('progress', ({ data }) => progress.push(data))
  const order = []
  worker(async job => {
    order.push(job.data.i)
    await job.updateProgress(job.data.i)
    await job.log(`squaring ${job.data.i}`)
    return job.data.i ** 2
  })
  assert.deepEqual(await Promise.all(jobs.map(finished)), jobs.map(job => job.data.i ** 2))
  assert.equal(await finished(twice[0]), 49)
  assert.deepEqual(order, [...Array(20).keys(), 7, 101, 102])
  assert.deepEqual(await counts(queue), { ...none, completed: 23 })
  assert.deepEqual((await queue.getJobLogs('3')).logs, ['squaring 2'])
  assert.ok(progress.length >= 22, `${progress.length} reports of progress`)
  assert.equal((await queue.clean(0, 100, 'completed')).length, 23)
  assert.deepEqual(await counts(queue), none)
}

// A delayed job is done later, a failing one again and again or never.
async function delayAndRetry (tag) {
  const { queue, worker, finished } = await shop(tag)
  const began = Date.now()
  const late = await queue.add('late', {}, { delay: 500 })
  const later = await queue.add('late', {}, { delay: 3600000 })
  const flaky = await queue.add('flaky', {}, { attempts: 3, backoff: { type: 'exponential', delay: 50 } })
  const hopeless = await queue.add('hopeless', {}, { attempts: 2, backoff: 10 })
  assert.deepEqual(await counts(queue), { ...none, waiting: 2, delayed: 2 })
  const attempts = { late: [], flaky: [], hopeless: [] }
  worker(async job => {
    attempts[job.name].push(Date.now())
    if (job.name === 'hopeless' || (job.name === 'flaky' && job.attemptsMade < 2)) throw new Error(`attempt ${job.attemptsMade} failed`)
    return job.attemptsMade
  }, { concurrency: 3 })
  assert.equal(await finished(flaky), 2)
  assert.equal(attempts.flaky.length, 3)
  assert.ok(attempts.flaky[2] - attempts.flaky[0] >= 150, 'backoff of 50 and 100 ms')
  await assert.rejects(finished(hopeless), /attempt 1 failed/)
  assert.equal(attempts.hopeless.length, 2)
  const failed = await queue.getJob(hopeless.id)
  assert.equal(failed.failedReason, 'attempt 1 failed')
  assert.equal(failed.stacktrace.length, 2)
  await finished(late)
  assert.ok(attempts.late[0] - began >= 500, `after ${attempts.late[0] - began} ms`)
  assert.deepEqual(await counts(queue), { ...none, delayed: 1, completed: 2, failed: 1 })

  await later.promote()
  await finished(later)
  await failed.retry()
  await assert.rejects(finished(failed), /failed/)
  assert.equal(attempts.hopeless.length, 3)
  await failed.remove()
  assert.deepEqual(await counts(queue), { ...none, completed: 3 })
}

// A parent is done after its children, in another queue, and gets their results.
async function flow (tag) {
  const { options, queue, worker, finished } = await shop(tag)
  const producer = opened(new FlowProducer(options))
  const tree = await producer.add({
    name: 'sum', queueName: 'work', data: {},
    children: [1, 2, 3].map(n => ({
      name: 'leaf', queueName: 'leaves', data: { n },
      children: n === 3 ? [{ name: 'leaf', queueName: 'leaves', data: { n: 10 } }] : []
    }))
  })
  assert.deepEqual(await counts(queue), { ...none, 'waiting-children': 1 })
  assert.equal((await tree.job.getDependencies()).unprocessed.length, 3)
  worker(async job => Object.values(await job.getChildrenValues()).reduce((a, b) => a + b))
  worker(async job => Object.values(await job.getChildrenValues()).reduce((a, b) => a + b, job.data.n), { concurrency: 3 }, 'leaves')
  assert.equal(await finished(tree.job), 16)
  const loaded = await producer.getFlow({ id: tree.job.id, queueName: 'work', prefix: options.prefix })
  assert.deepEqual(loaded.children.map(child => child.job.returnvalue).sort((a, b) => a - b), [1, 2, 13])
}

// No more jobs than allowed are begun in any window.
async function rateLimit (tag) {
  const { queue, worker, finished } = await shop(tag)
  const duration = 300
  const jobs = await queue.addBulk(Array.from({ length: 6 }, (_, i) => ({ name: 'slow', data: { i } })))
  const begun = []
  worker(async job => begun.push(Date.now()), { limiter: { max: 2, duration }, concurrency: 6 })
  await Promise.all(jobs.map(finished))
  assert.equal(begun.length, 6)
  const took = begun[5] - begun[0]
  // The first window opens when its first job is fetched, which is before it begins.
  assert.ok(took >= 2 * duration - 100 && took < 5000, `6 jobs at 2 per ${duration} ms took ${took} ms`)
}

// A scheduler makes a job per interval; a paused queue does nothing.
async function scheduleAndPause (tag) {
  const { queue, worker } = await shop(tag)
  let ticks = 0
  let enough
  const ticked = new Promise(resolve => { enough = resolve })
  worker(async () => { if (++ticks === 3) enough() })
  await queue.upsertJobScheduler('tick', { every: 100 }, { name: 'tick', data: {} })
  assert.deepEqual((await queue.getJobSchedulers()).map(({ key, every }) => [key, Number(every)]), [['tick', 100]])
  await withDeadline(ticked, 'three ticks')
  assert.equal(await queue.removeJobScheduler('tick'), true)

  await queue.pause()
  assert.equal(await queue.isPaused(), true)
  const before = ticks
  await queue.add('tick', {})
  assert.equal(await queue.getWaitingCount(), 1)
  await queue.drain()
  assert.equal(ticks, before)
  await queue.obliterate({ force: true })
  const keys = (await Promise.all(connection.nodes('master').map(node => node.keys(`{${tag}}:work:*`)))).flat()
  assert.deepEqual(keys.filter(key => !/:(events|stalled-check|marker)$/.test(key)), [])
}

// These tags are in slots of all three masters.
await Promise.all(Object.entries({ a: addAndProcess, b: delayAndRetry, c: flow, d: rateLimit, e: scheduleAndPause })
  .map(([tag, run]) => run(`bullmq:${tag}`)))
const masters = connection.nodes('master')
const used = (await Promise.all(masters.map(node => node.dbsize()))).filter(size => size > 0)
assert.equal(used.length, masters.length, 'the queues are on every master')
await Promise.all(open.map(closable => closable.close()))
await connection.quit()
console.log(`bullmq is content with ${masters.length} masters`)

// A process of BullMQ, graphile-worker or pg-boss: node driver.mjs FOLDER SYSTEM work|put CONFIG. FOLDER has
// node_modules. What happens when is written in lines of JSON. One that puts reads lines: a CONFIG, which it prepares,
// or a job, which it enqueues; it answers each.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const [folder, system, role, text] = process.argv.slice(2)
const require = createRequire(folder + '/x')
const config = JSON.parse(text)
const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')

// handle does what a job says: it takes so many seconds, and fails if it begins in a span of time.
const handle = async (job, number) => {
  const now = Date.now() / 1000
  const fails = job.fails && now >= job.fails[0] && now < job.fails[1]
  say({ kind: 'began', job: job.id, number })
  await new Promise((done) => setTimeout(done, job.takes * 1000))
  say({ kind: 'ended', job: job.id, number, ok: !fails })
  if (fails) throw new Error('down')
}

const pool = ({ address }, max = 3) => new (require('pg').Pool)({ ...address, max })

const systems = {
  bullmq: {
    work() {
      const { Worker } = require('bullmq')
      const worker = new Worker(config.queue, (job) => handle(job.data, job.attemptsMade + 1),
        { connection: { ...config.address, maxRetriesPerRequest: null }, concurrency: config.workers, ...config.options })
      worker.on('failed', (job) => job?.finishedOn && say({ kind: 'died', job: job.data.id }))
      worker.on('error', () => {})
    },
    async open({ queue, address }) {
      const { Queue } = require('bullmq')
      const q = new Queue(queue, { connection: address })
      await q.waitUntilReady()
      return (job, options) => q.add('job', job, options)
    },
  },
  graphile: {
    async work() {
      const { run, Logger } = require('graphile-worker')
      const perform = async (job, { job: { attempts, max_attempts } }) => {
        try {
          await handle(job, attempts)
        } catch (error) {
          if (attempts >= max_attempts) say({ kind: 'died', job: job.id })
          throw error
        }
      }
      await run({ pgPool: pool(config, config.workers + 2), taskList: { job: perform }, noHandleSignals: true, parsedCronItems: [],
        preset: { worker: { concurrentJobs: config.workers, logger: new Logger(() => () => {}), ...config.options } } })
    },
    async open(config) {
      const { makeWorkerUtils, Logger } = require('graphile-worker')
      const utils = await makeWorkerUtils({ pgPool: pool(config), logger: new Logger(() => () => {}) })
      await utils.migrate()
      return (job, options) => utils.addJob('job', job, options)
    },
  },
  'pg-boss': {
    async work() {
      const boss = await start({ ...config, max: config.workers + 2 })
      for (let i = 0; i < config.workers; i++) {
        await boss.work('job', { includeMetadata: true }, async ([{ data, retryCount, retryLimit }]) => {
          try {
            await handle(data, retryCount + 1)
          } catch (error) {
            if (retryCount >= retryLimit) say({ kind: 'died', job: data.id })
            throw error
          }
        })
      }
    },
    async open(config) {
      const boss = await start({ ...config, options: { supervise: false, schedule: false } })
      return (job, options) => boss.send('job', job, options)
    },
  },
}

// start starts a pg-boss.
const start = async ({ address, options, max = 3 }) => {
  const PgBoss = require('pg-boss')
  const boss = new PgBoss({ ...address, max, schedule: false, ...options })
  boss.on('error', () => {})
  await boss.start()
  await boss.createQueue('job')
  return boss
}

process.on('unhandledRejection', (error) => { console.error(error); process.exit(1) })
const lines = createInterface({ input: process.stdin })
lines.on('close', () => process.exit())
if (role === 'work') {
  await systems[system].work()
} else {
  const queues = {}
  lines.on('line', async (text) => {
    const message = JSON.parse(text)
    try {
      if (message.job) await queues[message.queue](message.job, message.options ?? {})
      else queues[message.queue] = await systems[system].open(message)
      say({ kind: 'done' })
    } catch (error) {
      say({ kind: 'done', error: String(error?.stack ?? error) })
    }
  })
}

// Delays of the retries of process.argv[2] jobs that ask for 6 attempts and an exponential backoff from 10 s, a list for
// each: those with which BullMQ, in the folder process.argv[3], moves them to its delayed set.
const { readFileSync } = require('fs');
const path = require('path');
const { createRequire } = require('module');
const bullmq = createRequire(path.join(process.argv[3], 'x'))('bullmq');

const version = JSON.parse(readFileSync(path.join(process.argv[3], 'node_modules/bullmq/package.json'))).version;
if (version !== '5.81.5') throw new Error('version ' + version);
const queue = { toKey: (key) => key, keys: {}, opts: {}, closing: undefined, on() {}, qualifiedName: 'q' };
// shouldRetryJob is what moveToFailed asks of a job: whether it goes on, and after which delay.
const job = (made) => {
  const j = Object.create(bullmq.Job.prototype);
  Object.assign(j, { attemptsMade: made, opts: { attempts: 6, backoff: { type: 'exponential', delay: 10000 } }, queue, discarded: false });
  return j;
};
(async () => {
  const all = [];
  for (let i = 0; i < Number(process.argv[2]); i++) {
    const delays = [];
    for (let made = 0; ; made++) {
      const [again, delay] = await job(made).shouldRetryJob(new Error('down'));
      if (!again) break;
      delays.push(delay / 1000);
    }
    all.push(delays);
  }
  console.log(JSON.stringify(all));
})();

package bugs

import (
	"fmt"
	"testing"
	"time"

	"github.com/riverqueue/river"
)

// rows are the stories of the bugs in README.md, by library-number: each runs the library it is compiled with, under a
// seed, and returns the broken invariants.
var rows = map[string]func(t *testing.T, seed uint64) []string{
	"river-1302": rescuedAfterDone,
	"river-1318": strandedBehindEndless,
	"river-1287": rescuedWithoutTimeout,
	"river-1331": rescuedWithoutTimeoutOfClient,
	"river-917":  dropped,
	"river-1255": hungFetch,
	"river-1251": hungPeriodic,
	"asynq-803":  archivedForEver,
	"asynq-1144": leaseLost,
}

// rescuedAfterDone is the story of a bug by which River rescues a finished job: handlers overrun the rescue time, and
// some end between the rescuer's look and its update.
func rescuedAfterDone(t *testing.T, seed uint64) []string {
	w := &rivers{config: river.Config{RescueStuckJobsAfter: 61 * time.Second}, delay: 2 * time.Second, again: true}
	return riverBubble(t, seed, w, "", func(w *rivers) {
		for range 300 {
			w.insert(job{Takes: w.draw(140 * time.Second)})
		}
		time.Sleep(20 * time.Minute)
	})
}

// strandedBehindEndless is the story of a bug by which River never rescues a stuck job: 10,000 jobs without a timeout
// run for hours; one more lost its process long ago.
func strandedBehindEndless(t *testing.T, seed uint64) []string {
	const stuck = `insert into river_job (args, attempt, attempted_at, kind, max_attempts, state, created_at, scheduled_at)
		select '{"Timeout": %d}', 1, '1999-12-31 22:00+00', 'job', 25, 'running', '1999-12-31 22:00+00', '1999-12-31 22:00+00'
		from generate_series(1, %d);`
	w := &rivers{}
	return riverBubble(t, seed, w, fmt.Sprintf(stuck, -1, 10_000)+fmt.Sprintf(stuck, 0, 1), func(w *rivers) {
		time.Sleep(75 * time.Second) // a rescue each 30 s, a second of backoff, a look for due jobs each 5 s
		if w.begun[10_001] == 0 {
			w.breach("a lost job is found: job 10001 was lost 2 h before, is to be rescued after 1 h, and has not begun again")
		}
	})
}

func rescuedWithoutTimeout(t *testing.T, seed uint64) []string {
	return riverBubble(t, seed, &rivers{}, "", func(w *rivers) {
		w.insert(job{Takes: 70 * time.Minute, Timeout: -1})
		time.Sleep(71 * time.Minute)
	})
}

func rescuedWithoutTimeoutOfClient(t *testing.T, seed uint64) []string {
	return riverBubble(t, seed, &rivers{config: river.Config{JobTimeout: -1}}, "", func(w *rivers) {
		w.insert(job{Takes: 70 * time.Minute})
		time.Sleep(71 * time.Minute)
	})
}

// dropped is the story of a bug by which River drops outcomes: the database is away for a minute while jobs end.
func dropped(t *testing.T, seed uint64) []string {
	return riverBubble(t, seed, &rivers{}, "", func(w *rivers) {
		for range 40 {
			w.insert(job{Takes: 30*time.Second + w.draw(20*time.Second)})
		}
		time.Sleep(30 * time.Second)
		w.outage(time.Minute)
		time.Sleep(5 * time.Minute)
		for id, at := range w.good {
			if state := w.state(id); state != "completed" {
				w.breach("what has succeeded is done: job %d succeeded at %v and is %s at %v", id, at, state, time.Since(w.start))
			}
		}
	})
}

// hungFetch is the story of a bug by which River's fetching hangs: each connection goes silent once.
func hungFetch(t *testing.T, seed uint64) []string {
	return riverBubble(t, seed, &rivers{}, "", func(w *rivers) {
		time.Sleep(10*time.Second + w.draw(time.Second))
		w.silence()
		time.Sleep(5 * time.Minute)
		w.insert(job{Takes: 61 * time.Millisecond})
		time.Sleep(5 * time.Minute)
		if len(w.good) != 1 {
			w.breach("ready jobs are claimed: a job has been ready for 5 min with 40 idle workers, all connections being well again since 10 min")
		}
	})
}

// hungPeriodic is the story of a bug by which River's periodic jobs stop: the connection that inserts one goes silent.
func hungPeriodic(t *testing.T, seed uint64) []string {
	every := river.NewPeriodicJob(river.PeriodicInterval(time.Minute), func() (river.JobArgs, *river.InsertOpts) { return job{}, nil }, nil)
	w := &rivers{config: river.Config{PeriodicJobs: []*river.PeriodicJob{every}}, victim: "name: JobInsertFastMany"}
	return riverBubble(t, seed, w, "", func(w *rivers) {
		time.Sleep(20 * time.Minute)
		if n := len(w.good); n < 10 {
			w.breach("periodic jobs come: %d in 20 min, one is due each minute", n)
		}
	})
}

package imports

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// role is what a column says of a job or of one attempt at it.
type role uint8

const (
	id role = iota
	class
	queue
	enqueued
	due
	started
	finished
	took
	attempt
	retries
	maxAttempts
	maxRetries
	failure
	state
	tenant
	node
	priority
	failures
	roleCount
)

// roleNames are how --columns names roles, with what they mean.
var roleNames = [roleCount]struct{ name, doc string }{
	id:          {"id", "which job; rows with one id are attempts at one job"},
	class:       {"class", "what sort of job; without it the queue"},
	queue:       {"queue", "where it was put"},
	enqueued:    {"enqueued", "when"},
	due:         {"due", "when this attempt was to begin"},
	started:     {"started", "when a worker began"},
	finished:    {"finished", "when it ended"},
	took:        {"took", "how long it ran, in seconds or with a unit"},
	attempt:     {"attempt", "which attempt this is"},
	retries:     {"retries", "how many attempts there were before"},
	maxAttempts: {"max-attempts", "how many attempts there may be"},
	maxRetries:  {"max-retries", "how many there may be after the first"},
	failure:     {"error", "what it failed with; empty: it did not"},
	state:       {"state", "done, dead, retry, running, ready, ..."},
	tenant:      {"tenant", "whom it belongs to"},
	node:        {"node", "which process ran it"},
	priority:    {"priority", "how urgent it is: a whole number, smaller is more urgent"},
	failures:    {"errors", "a JSON array of River's attempt errors"},
}

// String is the name in --columns.
func (r role) String() string { return roleNames[r].name }

// Roles are the names that --columns takes, each with what it means.
func Roles() [][2]string {
	var all [][2]string
	for _, r := range roleNames {
		all = append(all, [2]string{r.name, r.doc})
	}
	return all
}

// layout are the columns that a format has for each role, the first that is there counts.
// They are compared without case, spaces and signs.
type layout [roleCount][]string

// layouts are those of the formats. csv knows what people call columns.
var layouts = map[string]layout{
	"csv": {
		id:          {"id", "job id", "jid", "task id", "uuid"},
		class:       {"class", "kind", "type", "job type", "job class", "job kind", "task type", "worker class", "task", "job", "job name", "name"},
		queue:       {"queue", "queue name", "list"},
		enqueued:    {"enqueued", "enqueued at", "created", "created at", "inserted", "inserted at", "submitted", "submitted at", "queued at", "enqueue time"},
		due:         {"due", "due at", "scheduled at", "run at", "available at", "ready at", "visible at", "next attempt at"},
		started:     {"started", "started at", "start", "start time", "attempted at", "claimed", "claimed at", "performed at", "dequeued at", "locked at"},
		finished:    {"finished", "finished at", "ended", "ended at", "end", "end time", "completed", "completed at", "finalized at", "processed at"},
		took:        {"took", "duration", "elapsed", "run time", "service"},
		attempt:     {"attempt", "attempts", "attempt number", "try", "tries", "delivery"},
		retries:     {"retries", "retry count", "retried"},
		maxAttempts: {"max attempts", "max tries"},
		maxRetries:  {"max retries", "max retry"},
		failure:     {"error", "error class", "error kind", "error type", "exception", "exception class", "failure", "error message", "last error"},
		state:       {"state", "status", "outcome", "result"},
		tenant:      {"tenant", "tenant id", "customer", "account"},
		node:        {"node", "host", "hostname", "server", "attempted by", "worker id", "process"},
		priority:    {"priority", "prio"},
	},
	// The table river_job: github.com/riverqueue/river, rivermigrate and rivertype/job_row.go.
	"river": {
		id: {"id"}, class: {"kind"}, queue: {"queue"}, enqueued: {"created_at"}, due: {"scheduled_at"}, started: {"attempted_at"},
		finished: {"finalized_at"}, attempt: {"attempt"}, maxAttempts: {"max_attempts"}, state: {"state"}, node: {"attempted_by"}, priority: {"priority"}, failures: {"errors"},
	},
	// Tasks as the inspector of asynq has them, by the names of Go (asynq.TaskInfo) or those
	// of Asynqmon's API (github.com/hibiken/asynqmon, ui/src/api.ts). Neither says when a task
	// was enqueued or, once it has ended, when it started.
	"asynq": {
		id: {"id"}, class: {"type"}, queue: {"queue"}, enqueued: {"enqueued_at"}, due: {"next_process_at"}, started: {"start_time"},
		finished: {"completed_at", "last_failed_at"}, retries: {"retried"}, maxRetries: {"max_retry"}, failure: {"error_message", "LastErr"}, state: {"state"},
	},
	// Payloads of jobs: github.com/sidekiq/sidekiq/wiki/Job-Format. What the log adds comes
	// from its lines, not from columns.
	"sidekiq": {
		id: {"jid"}, class: {"wrapped", "class"}, queue: {"queue"}, enqueued: {"created_at", "enqueued_at"}, due: {"at"},
		retries: {"retry_count"}, maxRetries: {"retry"}, failure: {"error_class"}, finished: {"retried_at", "failed_at"},
	},
}

// Formats are the names that Options.From takes.
func Formats() []string { return []string{"river", "asynq", "sidekiq", "csv"} }

// withColumns lays what the user says upon a layout: ROLE=COLUMN, separated by commas.
func (l layout) withColumns(columns []string) (layout, error) {
	for _, text := range columns {
		for _, pair := range strings.Split(text, ",") {
			name, column, ok := strings.Cut(pair, "=")
			name, column = strings.TrimSpace(name), strings.TrimSpace(column)
			if !ok || name == "" || column == "" {
				return l, fmt.Errorf("%q: want ROLE=COLUMN, such as enqueued=inserted_on", pair)
			}
			at := slices.IndexFunc(roleNames[:], func(r struct{ name, doc string }) bool { return r.name == name })
			if at < 0 {
				var names []string
				for _, r := range roleNames {
					names = append(names, r.name)
				}
				return l, fmt.Errorf("%q: there is no role %s; want one of %s", pair, name, strings.Join(names, ", "))
			}
			l[at] = []string{column}
		}
	}
	return l, nil
}

// plainName is a column's name as it is compared.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

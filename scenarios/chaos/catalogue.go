package chaos

// Entry is a trouble that production knows, and the lines of a world that bring it about.
type Entry struct {
	ID    string // "F1"
	Where string // what it befalls
	What  string
	Texts []string // each of one line or several
}

// Catalogue lists the troubles. What is not there: a failover that takes back the latest
// writes, since a store that forgets what it has promised leaves no promise to hold.
var Catalogue = []Entry{
	{"F1", "worker", "crash after the claim, before the start", []string{"fault crash on=leased nth=5 node=that for=2s"}},
	{"F2", "worker", "crash in the middle of a run", []string{"fault crash on=started nth=5 node=that at=50ms for=2s"}},
	{"F3", "worker", "crash after the effect, before the ack", []string{"fault crash on=finished nth=5 node=that for=2s"}},
	{"F4", "worker", "crash of processes, rolling deploy", []string{"fault crash at=5s for=2s node=all", "fault crash at=5s for=500ms times=4 every=2s rolls=true"}},
	{"F5", "worker", "a pause beyond the lease: a zombie", []string{"fault pause at=3s for=30s node=1"}},
	{"F6", "worker", "hangs, and does not listen", []string{"fault hang at=2s for=5s share=0.2 extra=20s"}},
	{"F7", "worker", "poison that kills processes", []string{"fault kill at=2s for=10s share=0.1"}},
	{"F8", "worker", "slow", []string{"fault slow at=2s for=10s factor=10"}},
	{"F9", "worker", "clean stop that hands back what is held", []string{"fetch prefetch=4\nfault stop at=5s for=3s node=1"}},
	{"F10", "messages", "ack lost", []string{"fault calls at=2s for=10s node=all ops=commit lose-request=0.5"}},
	{"F11", "messages", "ack delayed past the lease", []string{"fault calls at=2s for=10s node=all ops=commit delay=20s"}},
	{"F12", "messages", "acks doubled and out of order", []string{"fault calls at=2s for=10s node=all ops=commit duplicate=0.5 delay=500ms"}},
	{"F13", "messages", "ack applied, answer lost", []string{"fault calls at=2s for=10s node=all ops=commit lose-reply=0.5"}},
	{"F14", "messages", "heartbeats lost, late, or once only", []string{"fault calls at=2s for=20s node=all ops=extend lose-request=0.7",
		"fault calls at=2s for=20s node=all ops=extend delay=10s", "fault calls at=8s for=30s node=all ops=extend lose-request=1"}},
	{"F15", "messages", "answer to a claim lost", []string{"fault calls at=2s for=10s node=all ops=claim lose-reply=0.5"}},
	{"F16", "store", "stall", []string{"fault stall-store at=5s for=10s"}},
	{"F17", "store", "errors", []string{"fault calls at=2s for=10s node=all ops=claim,commit,extend,recover,promote,lead,stats error=0.3"}},
	{"F18", "store", "timed out, applied later", []string{"fault calls at=2s for=10s node=all ops=commit delay=5s"}},
	{"F19", "store", "part of a batch", []string{"fault calls at=2s for=10s node=all ops=commit partial=0.5"}},
	{"F20", "store", "disconnect, restart", []string{"fault calls at=5s for=5s node=all ops=claim,commit,extend,recover,promote,lead,stats lose-request=1"}},
	{"F21", "store", "lease records lost", []string{"store orphans=true\nfault lose-leases at=5s share=0.5 times=3 every=2s"}},
	{"F22", "store", "calls cost more as rows lie about", []string{"links per-row=200us", "fault slow-store at=2s for=10s factor=20"}},
	{"F23", "store", "pool exhausted", []string{"fault pool at=2s for=15s limit=1"}},
	{"F24", "store", "deadlocks, serialization failures", []string{"fault calls at=2s for=10s node=all ops=claim,commit error=0.2"}},
	{"F25", "maintenance", "reaper stalls", []string{"fault crash at=4s for=1s node=1\nfault stall-reaper at=5s for=30s"}},
	{"F26", "maintenance", "two reapers, leaders that overlap", []string{"reaper owner=leader\nfault crash at=2s for=1s node=1\nfault pause at=5s for=8s"}},
	{"F27", "maintenance", "reaper reads, and writes later", []string{"reaper guard=token gap=2s\nfault crash at=4s for=1s node=1"}},
	{"F28", "maintenance", "promoter stalls, or dies between removing and inserting", []string{"promoter every=500ms\nstore promoted=true\nfault stall-promoter at=5s for=10s",
		"promoter every=500ms gap=500ms\nstore promoted=true\nfault crash on=called op=promote nth=20 node=that at=10ms for=1s"}},
	{"F29", "maintenance", "starting up with many expired leases", []string{"reaper on-start=true batch=5\nfault crash at=8s for=25s node=all"}},
	{"F30", "clock", "skew", []string{"lease local=true\nfault skew at=5s for=20s node=1 offset=30s"}},
	{"F31", "clock", "jumps", []string{"lease local=true\nfault skew at=5s for=1s node=1 offset=-30s times=3 every=5s"}},
	{"F32", "clock", "the wall clock leaves the monotonic one", []string{"lease local=true\nreaper every=1s\nfault skew at=5s for=500ms node=all offset=5s times=5 every=3s"}},
	{"F33", "load", "burst", []string{"fault burst at=5s count=200 id=30000000"}},
	{"F34", "load", "outage downstream", []string{"fault fail at=5s for=15s share=0.97"}},
	{"F35", "load", "failures by overload", []string{"fault overload at=2s for=20s share=0.9 limit=3"}},
	{"F36", "load", "noisy tenant", []string{"load tenants=7\nfault burst at=5s count=300 id=30000000 tenant=3"}},
	{"F37", "load", "all due at one instant", []string{"fault burst at=5s count=300 id=30000000 extra=10s"}},
	{"F38", "load", "redrive of all dead jobs", []string{"store keep-dead=true\nfault fail at=1s for=15s share=1\nfault redrive at=20s share=1 reset=true"}},
	{"F39", "committer", "crash with a batch that has not been sent", []string{"commit linger=50ms\nfault crash on=finished nth=10 node=that at=1ms for=1s"}},
	{"F40", "committer", "backlog, backpressure", []string{"commit backpressure=5\nfault calls at=2s for=10s node=all ops=commit delay=2s"}},
	{"F41", "committer", "gives up", []string{"commit tries=2 give-up=drop\nfault calls at=2s for=10s node=all ops=commit error=0.6"}},
}

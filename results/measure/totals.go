package measure

// Totals are what a Collector has counted of a whole run, whatever is asked of it: for who
// counts the events again.
type Totals struct {
	Jobs, Acked, Fenced int64 // enqueued; done; commits refused
	Claims, Deaths      int64 // of the jobs that were enqueued after the warm-up, while jobs arrive
}

// Totals returns what was counted so far.
func (c *Collector) Totals() Totals {
	return Totals{Jobs: c.all, Acked: int64(c.acked), Fenced: int64(c.fenced), Claims: int64(c.sets[0].claims), Deaths: int64(c.sets[0].deaths)}
}

package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"qsim/engine"
)

// askEvery, askWithin and MostCounted limit calls of the store's Stats: interval, timeout, jobs counted in a state.
const (
	askEvery    = time.Second
	askWithin   = 2 * time.Second
	MostCounted = 100_000
)

// Stats returns the store's counts of jobs, up to MostCounted in each state, as they were at most a second ago.
func (m *Metrics) Stats(ctx context.Context) (engine.Stats, error) {
	m.asking.Lock()
	defer m.asking.Unlock()
	if time.Since(m.asked) >= askEvery {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askWithin)
		defer cancel()
		m.stats, m.err = m.store.Stats(ctx, MostCounted)
		m.asked = time.Now()
	}
	return m.stats, m.err
}

// Describe sends the descriptions of all metrics, for prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	m.registry.Describe(to)
	for _, g := range gauges {
		to <- g.desc
	}
}

// Collect sends all metrics, for prometheus.Collector; those of the queue are missing while the store does not answer.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	m.registry.Collect(to)
	stats, err := m.Stats(context.Background())
	if err != nil {
		return
	}
	for _, g := range gauges {
		to <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, g.of(&stats))
	}
}

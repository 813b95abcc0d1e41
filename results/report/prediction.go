package report

import (
	"fmt"

	"qsim/results"
	"qsim/results/measure"
)

// Prediction draws a simulated run and a measured run of the same scenario in common charts: the wait of fresh jobs
// over time, and its distribution.
func Prediction(s *measure.Settings, sum *results.Summary, title, version string) ([]Figure, error) {
	d, err := newDrawing(s, sum, version)
	if err != nil {
		return nil, fmt.Errorf("draw prediction: %w", err)
	}
	if len(d.policies) != 2 {
		return nil, fmt.Errorf("draw prediction: %d runs, want the simulated and the real one", len(d.policies))
	}
	var figures []Figure
	for _, chart := range []struct {
		name string
		draw func(*drawing) *sheet
	}{{"1-prediction-wait", waitChart}, {"2-prediction-ccdf", distributionChart}} {
		sheet := chart.draw(d)
		// The finding is how close the two are, and not which of them is better.
		sheet.alt = clean(title) + sheet.alt[len(sheet.title):]
		sheet.name, sheet.title = chart.name, clean(title)
		figures = append(figures, sheet.render())
	}
	return figures, nil
}

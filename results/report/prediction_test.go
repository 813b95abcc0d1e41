package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"time"

	"qsim/results/measure"
)

// TestPrediction draws the two runs over each other: well-formed, the same at every call,
// and under the title that it is given, whatever that holds.
func TestPrediction(t *testing.T) {
	f := fixture{policies: 2, labels: []string{"simulated", "real"}, seeds: 1, duration: 30 * time.Minute, bucket: 10 * time.Second,
		storms: []measure.Window{{Name: "payments-down", From: 10 * time.Minute, To: 15 * time.Minute}}, wait: .05}
	_, sum := f.build()
	const title = "The simulation predicts the fresh p99 of <b>\"A & B\"</b> within 3%\n"
	figures, err := Prediction(sum, title, "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Prediction(sum, title, "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	if len(figures) != 2 || figures[0].Name != "1-prediction-wait" || figures[1].Name != "2-prediction-ccdf" {
		t.Fatalf("%d figures", len(figures))
	}
	for i, figure := range figures {
		if !bytes.Equal(bitmapOf(t, &figure), bitmapOf(t, &again[i])) || !bytes.Equal(figure.SVG, again[i].SVG) {
			t.Errorf("%s differs from one call to the next", figure.Name)
		}
		if figure.Title != strings.TrimSpace(title) || !strings.HasPrefix(figure.Alt, figure.Title+". ") || !strings.Contains(figure.Alt, "simulated") ||
			!strings.Contains(string(figure.SVG), " · 1 round · ") || strings.Contains(string(figure.SVG), "seed") {
			t.Errorf("title %q, words %q", figure.Title, figure.Alt)
		}
		decoder := xml.NewDecoder(bytes.NewReader(figure.SVG))
		for {
			if _, err := decoder.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", figure.Name, err)
			}
		}
	}
	f.policies = 3
	_, sum = f.build()
	if _, err := Prediction(sum, title, "0.1.0"); err == nil {
		t.Error("three runs were drawn")
	}
}

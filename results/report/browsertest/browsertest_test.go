package browsertest

import (
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) { Main(m) }

// TestAwait waits for an element that comes late, and for one that never comes: then the answer has the state of the page.
func TestAwait(t *testing.T) {
	tb := OpenFile(t, []byte(`<title>a count</title><p id="state" class="running">Simulating</p><footer>the end</footer>
		<script>location.hash = "here"; setTimeout(() => document.body.append(Object.assign(document.createElement("b"), {id: "late"})), 200)</script>`), 600)
	tb.Until(`document.getElementById("late").id === "late"`)
	problem := tb.await(`document.getElementById("never").id`, 50*time.Millisecond)
	for _, want := range []string{`after 50ms this does not hold (TypeError`, `("never").id`, "report.html#here\n", "titled a count\n", `<p id="state" class="running">Simulating</p>`, "\nSimulating\n\nthe end\n", "messages of the browser: []"} {
		if !strings.Contains(problem, want) {
			t.Errorf("no %q in\n%s", want, problem)
		}
	}
}

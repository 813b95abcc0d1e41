package play

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"syscall/js"

	"qsim/scenarios"
)

// Work makes a web worker answer the requests of a static page, for as long as the worker lives: it sets the function
// that page/worker.js calls for each. To give a request up, the page ends the worker.
func Work() {
	stages := map[string]*stage{} // by scenario
	js.Global().Set("answer", js.FuncOf(func(_ js.Value, request []js.Value) any {
		own, scenario, kind, body := request[0].String(), request[1].String(), request[2].String(), request[3].String()
		go func() {
			out := &stream{poster{}}
			if err := answer(stages, own, scenario, kind, body, out); err != nil {
				out.send(map[string]string{"error": err.Error()})
			}
			if kind != "" {
				js.Global().Call("postMessage", nil)
			}
		}()
		return nil
	}))
	select {}
}

// answer writes the answer to a request of a kind ("run" or "trace") about a scenario: the page's own, with the Options
// in own as JSON, or a built-in one. If kind is "", it only loads the scenario for later requests.
func answer(stages map[string]*stage, own, scenario, kind, body string, out *stream) error {
	if stages[scenario] == nil {
		o, err := browserOptions(own, scenario)
		if err != nil {
			return err
		}
		stages[scenario] = newStage(o)
	}
	if kind == "" {
		return nil
	}
	do := stages[scenario].answers(kind)
	a, err := readAsk(strings.NewReader(body))
	if err != nil || do == nil {
		return cmp.Or(err, fmt.Errorf("the page has no request for %q", kind))
	}
	ctx, cancel := context.WithTimeout(context.Background(), longest) // which is noticed between simulations
	defer cancel()
	do(ctx, a, out)
	return nil
}

func browserOptions(own, scenario string) (o Options, err error) {
	if err := json.Unmarshal([]byte(own), &o); err != nil {
		return o, fmt.Errorf("read the page's scenario: %w", err)
	}
	if scenario != o.Run {
		name, source, found := scenarios.OpenBuiltin(scenario)
		if !found {
			return o, fmt.Errorf("the page has no scenario %q", scenario)
		}
		o = Options{Name: name, Source: source, Run: scenario, Version: o.Version}
	}
	o.Fits = fitsBrowser
	return o, nil
}

// poster is a writer that sends each write from a web worker to its page, as a message.
type poster struct{}

// Write posts one line of an answer.
func (poster) Write(line []byte) (int, error) {
	js.Global().Call("postMessage", string(line))
	return len(line), nil
}

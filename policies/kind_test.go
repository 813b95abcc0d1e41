package policies

import (
	"reflect"
	"strings"
	"testing"

	"qsim/engine"
	"qsim/engine/quantity"
)

// TestAdd adds kinds of policies: a complete one is listed, found and made like the built-in ones; for incomplete ones
// one error lists all defects, and none is added.
func TestAdd(t *testing.T) {
	before := kinds
	defer func() { kinds = before }()
	param := func(name string) Param { return Param{Name: name, Type: TypeShare, Default: "50%", Doc: "a share"} }
	good := Kind{Name: "odd-1", Doc: "Something odd.", Cost: CostJobs, State: StateNone, Drawn: Drawn{Weight: 1},
		Params: []Param{param("part"), param("other-part")}, New: always(FIFO{})}
	for _, tt := range []struct {
		name   string
		change func(k *Kind)
		want   string
	}{
		{"no name", func(k *Kind) { k.Name = "" }, "want a name of a-z, 0-9 and -"},
		{"capital letters", func(k *Kind) { k.Name = "Odd" }, "want a name of a-z, 0-9 and -"},
		{"a name that looks like a flag", func(k *Kind) { k.Name = "-odd" }, "want a name of a-z, 0-9 and -"},
		{"the name of another", func(k *Kind) { k.Name = "fifo" }, "there is one already"},
		{"no paragraph", func(k *Kind) { k.Doc = "Something odd" }, "want Doc, a paragraph that ends with a period"},
		{"no cost", func(k *Kind) { k.Cost = "" }, "want Cost and State"},
		{"no state", func(k *Kind) { k.State = "" }, "want Cost and State"},
		{"nothing that makes it", func(k *Kind) { k.New = nil }, "want New"},
		{"drawn, and not", func(k *Kind) { k.Drawn.Never = "why" }, "want Drawn: either a Weight or why it is Never drawn"},
		{"neither drawn nor not", func(k *Kind) { k.Drawn.Weight = 0 }, "want Drawn: either a Weight or why it is Never drawn"},
		{"no name of a parameter", func(k *Kind) { k.Params[1].Name = "" }, `parameter "": want another name, of a-z, 0-9 and -`},
		{"a key that all policies have", func(k *Kind) { k.Params[1].Name = "kind" }, `parameter "kind": want another name, of a-z, 0-9 and -`},
		{"another one", func(k *Kind) { k.Params[1].Name = "label" }, `parameter "label": want another name, of a-z, 0-9 and -`},
		{"and another", func(k *Kind) { k.Params[1].Name = "with" }, `parameter "with": want another name, of a-z, 0-9 and -`},
		{"a parameter without a phrase", func(k *Kind) { k.Params[1].Doc = "" }, "parameter other-part: want Doc, a phrase"},
		{"a parameter twice", func(k *Kind) { k.Params[1].Name = "part" }, "parameter part: it is there twice"},
		{"a default that is none", func(k *Kind) { k.Params[1].Default = "50" }, "parameter other-part: default: share 50 has no percent sign: write 50%"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := good
			bad.Params = []Param{good.Params[0], good.Params[1]}
			tt.change(&bad)
			fine := good
			fine.Name = "fine"
			err := Add(fine, bad)
			if want := `policy "` + bad.Name + `": ` + tt.want; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			if len(AddedKinds()) != 0 {
				t.Errorf("%v were added", AddedKinds())
			}
		})
	}
	bad := good
	bad.New, bad.Doc = nil, ""
	want := "policy \"odd-1\": want Doc, a paragraph that ends with a period\npolicy \"odd-1\": want New"
	if err := Add(bad); err == nil || err.Error() != want {
		t.Errorf("two mistakes: got %v, want %s", err, want)
	}
	if err := Add(good, good); err == nil || !strings.Contains(err.Error(), "there is one already") {
		t.Errorf("one name for two kinds: %v", err)
	}
	second := good
	second.Name, second.Drawn = "odd-2", Drawn{Never: "why not"}
	if err := Add(good, second); err != nil {
		t.Fatal(err)
	}
	added := AddedKinds()
	if len(added) != 2 || added[0].Name != "odd-1" || added[1].Name != "odd-2" || len(Kinds()) != len(before)+2 {
		t.Errorf("added %v", added)
	}
	if p, err := New("odd-2", map[string]Value{"part": {TypeShare, quantity.Percent(9)}}, 3, nil); err != nil || p != (FIFO{}) {
		t.Errorf("made %v, %v", p, err)
	}
	choice := good
	choice.Name, choice.Params = "odd-3", []Param{{Name: "what", Type: TypeChoice, Default: "this", Choices: []string{"this", "that"}, Doc: "one of two"}}
	if err := Add(choice); err != nil {
		t.Fatal(err)
	}
	Kinds()[len(kinds)-1].Params[0].Choices[0] = "neither"
	if got := kinds[len(kinds)-1].Params[0].Choices[0]; got != "this" {
		t.Errorf("who lists the kinds changes a choice to %s", got)
	}
}

// promised returns the guarantees of a policy that do not depend on its parameters, as text.
func promised(p engine.Policy) string {
	g := Guarantees(p)
	var words []string
	for _, w := range []struct {
		holds bool
		word  string
	}{
		{g.Conserving, "conserving"}, {g.Ranked, "ranked"}, {g.Ordered, "ordered " + g.Order.String()}, {g.Capped, "capped"},
		{g.Exact, "exact"}, {g.Share.Num > 0, g.Share.String()}, {g.Sheds > 0, "sheds"}, {g.Starves, "starves"}, {g.Law != nil, "a law"},
		{g.Lanes, "lanes"}, {g.Ration.Cost > 0, "rationed"}, {len(g.Brakes) > 0, "brakes"}, {g.Interval > 0, "an interval"},
		{g.Hesitates != nil, "hesitates"},
	} {
		if w.holds {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, ", ")
}

// TestGuarantees lists the guarantees of each kind of policy, which a checker verifies claim by claim. One too many
// would be a false alarm; one too few would leave a rule unchecked.
func TestGuarantees(t *testing.T) {
	for _, tt := range []struct {
		kind   string
		values map[string]string
		want   string
	}{
		{"fifo", nil, "conserving, ranked, ordered oldest"},
		{"lifo", nil, "conserving, ranked, ordered newest"},
		{"fresh-first", nil, "conserving, ranked, exact, 100%"},
		{"retry-first", nil, "conserving, ranked, exact"},
		{"weighted", nil, "conserving, ranked, exact, 80%"},
		{"weighted", map[string]string{"lend": "false"}, "ranked, exact, 80%, starves"},
		{"bernoulli", nil, "conserving, 80%, a law"},
		{"bernoulli", map[string]string{"lend": "false"}, "80%, a law"},
		{"separate", nil, "capped, a law, lanes"},
		{"inflight-cap", nil, "ranked, capped, a law"},
		{"inflight-cap", map[string]string{"retries": "0"}, "ranked, capped, starves, a law"},
		{"retry-budget", nil, "a law, rationed, hesitates"},
		{"retry-budget", map[string]string{"min-rate": "0/s"}, "starves, a law, rationed, hesitates"},
		{"token-bucket", nil, "starves, a law, rationed"},
		{"aimd", nil, "capped, a law, brakes"},
		{"adaptive-lifo", nil, "conserving, a law"},
		{"breaker", nil, "a law, brakes, hesitates"},
		{"codel", nil, "conserving, sheds, a law, an interval"},
		{"codel", map[string]string{"then": "last"}, "conserving, a law"},
		{"aging", nil, "conserving, ordered aging"},
		{"deadline", nil, "conserving, ordered deadline"},
		{"tenant-round-robin", nil, "conserving, ordered tenant-round-robin"},
		{"tenant-drr", nil, "conserving, ordered tenant-drr"},
		{"tenant-fair", nil, "conserving, ordered tenant-fair"},
		{"queues", nil, "conserving, a law"},
		{"split", nil, "conserving, a law"},
	} {
		if got := promised(newPolicy(t, tt.kind, tt.values, testWorkers)); got != tt.want {
			t.Errorf("%s %v promises %q, want %q", tt.kind, tt.values, got, tt.want)
		}
	}
	if g := Guarantees(&Weighted{Fresh: quantity.Fraction(2, 3)}); g.Share != quantity.Fraction(2, 3) {
		t.Errorf("weighted 2/3 promises %v", g.Share)
	}
	if g := Guarantees(InFlightCap{Retries: 3}); g.Cap != 3 {
		t.Errorf("a cap of 3 promises %d", g.Cap)
	}
	if g := Guarantees(alwaysStats{}); !reflect.DeepEqual(g, Promise{}) {
		t.Errorf("a policy that promises nothing: %+v", g)
	}
}

package chaos

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"qsim/engine"
)

// roundTrip says how the text of a world is not what Parse and String make of it.
func roundTrip(text string) string {
	w, err := Parse(text)
	if err != nil {
		return err.Error()
	}
	once := w.String()
	again, err := Parse(once)
	if err != nil {
		return "its own text is refused: " + err.Error() + "\n" + once
	}
	if twice := again.String(); twice != once {
		return once + "is read as\n" + twice
	}
	return ""
}

// TestTextsOfWorlds writes and reads drawn worlds.
func TestTextsOfWorlds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := Draw(rapid.Uint64Range(0, 1<<62).Draw(rt, "seed"))
		if rapid.Bool().Draw(rt, "only") {
			w.Load.Only = []engine.JobID{3, 5, 1 << 30}
		}
		text := w.String()
		if problem := roundTrip(text); problem != "" {
			rt.Fatal(problem)
		}
		again, _ := Parse(text)
		if again.String() != text {
			rt.Fatalf("%s\nis read as\n%s", text, again.String())
		}
		a, b := w.Run(0, false), again.Run(0, false)
		if a.Digest != b.Digest {
			rt.Fatalf("the world and what is read of its text run differently:\n%s", text)
		}
	})
}

// TestTextsOfFaults writes and reads faults of every kind with every field drawn.
func TestTextsOfFaults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := FaultKind(rapid.IntRange(int(Crash), int(numFaultKinds)-1).Draw(rt, "kind"))
		d := &die{rand: engine.Rand{Seed: rapid.Uint64().Draw(rt, "seed")}}
		w := &World{Nodes: 4}
		f := d.fault(w, kind)
		line := f.String()
		again, err := ParseFault(line)
		if err != nil || again.String() != line {
			rt.Fatalf("%s\nis read as\n%s\n%v", line, again.String(), err)
		}
		if again.At != f.At || again.Kind != f.Kind || again.Ops != f.Ops || again.Node != f.Node || again.Share != f.Share || again.Offset != f.Offset || again.On != f.On {
			rt.Fatalf("%+v\nis read as\n%+v", f, again)
		}
	})
}

func TestTextErrors(t *testing.T) {
	valid := Draw(1).String()
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "nodes: 0 is not in"},
		{"no line", "weather sunny=true", `line 1: no line begins with "weather": there are policy, fault, world`},
		{"no field", "world colour=red", `line 1: "colour=red" sets nothing: there are seed, heal`},
		{"no value", "world seed", `"seed" sets nothing`},
		{"no number", "world nodes=two", `nodes: "two" is no whole number`},
		{"a number too large", "world nodes=99999999999999999999", `is no whole number`},
		{"negative", "world nodes=-1", `is no whole number`},
		{"no duration", "world heal=soon", `heal: "soon" is no duration`},
		{"no word", "store fence=wood", `fence: "wood" is none of token, state, none`},
		{"twice", "world seed=1 seed=2", "seed is set twice"},
		{"a line twice", "world seed=1\nworld seed=2", "line 2: there are two lines of world"},
		{"no fault", "fault plague at=1s", `no fault is called "plague": there are crash, stop`},
		{"a field of another fault", "fault crash share=0.5", `"share=0.5" sets nothing`},
		{"not a number", "fault fail at=1s for=1s share=NaN", "is no number of at least 0"},
		{"a share above one", valid + "fault fail at=1s for=1s share=2", "a share of 2 is not in [0, 1]"},
		{"no such node", valid + "fault crash at=1s for=1s node=77", "there is no node 77"},
		{"no such call", valid + "fault calls at=1s for=1s ops=fetch", `"fetch" is no call`},
		{"comes again before it is over", valid + "fault crash at=1s for=5s times=3 every=1s", "every 1s is not above for 5s"},
		{"no length", valid + "fault stall-store at=1s", "for is missing"},
		{"no policy", strings.ReplaceAll(valid, "policy ", "policy un"), "unknown policy"},
		{"strange letters", "🌩 <script>\x00", `no line begins with "🌩"`},
		{"long", strings.Repeat("# nothing\n", 200_000), "are more than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Parse(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

// FuzzParse reads any text: it refuses it, or reads what it writes of it as the same.
func FuzzParse(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(Draw(seed).String())
	}
	for _, entry := range Catalogue {
		for _, text := range entry.Texts {
			f.Add(base + text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := Parse(text); err != nil {
			return
		}
		if problem := roundTrip(text); problem != "" {
			t.Error(problem)
		}
	})
}

// TestCorpus runs the worlds that once failed, for ever.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("testdata/failed/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no files: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			w, err := Parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if f := Replay(w, 0); f != nil {
				t.Errorf("%s\n%s", f.Report.String(), f.History)
			}
		})
	}
}

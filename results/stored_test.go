package results

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"qsim/results/measure"
	"qsim/results/plain"
)

// folder holds the files of a run's folder, by path.
type folder map[string][]byte

func (f folder) read(path string) ([]byte, error) {
	if data, ok := f[path]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func stored(t testing.TB, sum *Summary) folder {
	t.Helper()
	files, err := Files(sum, RunInfo{Version: "1.2.3"}, []byte("name: small\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := folder{}
	for _, file := range files {
		f[file.Path] = file.Data
	}
	return f
}

// A stored run is read back as it was written, to the stored digits.
func TestStoredRoundTrip(t *testing.T) {
	sum := summarized(t, 6)
	sum.Settings.Storms[0].Name = "down\n\"🚀\""
	sum.Policies[1].Label, sum.Settings.Policies[1].Label = "a,\"b\"\nc", "a,\"b\"\nc"
	sum.Data[0].Tenants = []measure.TenantCount{{Executions: 1, FreshClaims: 2, WaitSum: 3.5, WaitMax: 4}, {}}
	sum.Data[0].TenantWaits = []measure.TenantWait{{Jobs: 1, P99: 2.5, AtLeast: true}, {}}
	f := stored(t, sum)
	got, err := ReadStored(f.read)
	if err != nil {
		t.Fatal(err)
	}
	if got.Made.Version != "1.2.3" || string(got.Scenario) != "name: small\n" {
		t.Errorf("version %q, scenario %q", got.Made.Version, got.Scenario)
	}
	if d := cmp.Diff(sum.Settings, got.Summary.Settings, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("settings differ: %s", d)
	}
	near := cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateApprox(1e-5, 0), cmpopts.EquateEmpty(), cmp.AllowUnexported(measure.Histogram{})}
	if d := cmp.Diff(sum.Data, got.Summary.Data, near); d != "" {
		t.Errorf("data differ: %s", d)
	}

	// What was read gives the same files again.
	again := stored(t, got.Summary)
	for path, data := range f {
		if !bytes.Equal(again[path], data) && path != "run.json" {
			t.Errorf("%s is not the same when it is written again", path)
		}
	}
}

func unzipped(t testing.TB, data []byte) string {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func zipped(text string) []byte {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	io.WriteString(zip, text)
	zip.Close()
	return b.Bytes()
}

// TestStoredByAnotherVersion: files of another format, or missing ones, are an error with the version that wrote them.
func TestStoredByAnotherVersion(t *testing.T) {
	const anew, orOlder = ": run the scenario again", " wrote the results: run the scenario again, or use that version"
	ofAge := func(version string) func(f folder) {
		return func(f folder) {
			f["data.json.gz"] = zipped(strings.Replace(unzipped(t, f["data.json.gz"]), `"version":1`, `"version":`+version, 1))
		}
	}
	column := func(change func(row []string) []string) func(f folder) {
		return func(f folder) {
			rows := plain.Must(csv.NewReader(strings.NewReader(unzipped(t, f["series.csv.gz"]))).ReadAll())
			f["series.csv.gz"] = zipped(csvOf(t, plain.Map(rows, change)))
		}
	}
	for _, tt := range []struct {
		name         string
		change       func(f folder)
		want, advice string
	}{
		{"newer", ofAge("2"), "read data.json.gz: not in this program's format: version 2, wanted 1; qsim 1.2.3", orOlder},
		{"without a version", ofAge("0"), "read data.json.gz: not in this program's format: version 0, wanted 1; qsim 1.2.3", orOlder},
		{"no data", func(f folder) { delete(f, "data.json.gz") }, "read data.json.gz: it is missing", anew},
		{"no series", func(f folder) { delete(f, "series.csv.gz") }, "read series.csv.gz: it is missing", anew},
		{"a column less", column(func(row []string) []string { return row[:14] }), "goodput, fresh_claims, retry_claims, failures, wanted fresh_wait_p50_s, ", orOlder},
		{"a column more", column(func(row []string) []string { return append(row, "1") }), "fresh_wait_p99_s:sums, 1, wanted ", orOlder},
		{"by nobody", func(f folder) { delete(f, "run.json"); ofAge("3")(f) }, "qsim of unknown version", orOlder},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := stored(t, summarized(t, 3))
			tt.change(f)
			_, err := ReadStored(f.read)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasSuffix(err.Error(), tt.advice) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			// What comparisons of numbers need is read.
			if head, err := ReadHead(f.read); err != nil || len(head.Summary.Policies) == 0 || head.Summary.Settings != nil {
				t.Errorf("%+v, %v", head, err)
			}
		})
	}
}

func csvOf(t *testing.T, rows [][]string) string {
	var b strings.Builder
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestStoredErrors(t *testing.T) {
	series := func(change func(text string) string) func(t *testing.T, f folder) {
		return func(t *testing.T, f folder) { f["series.csv.gz"] = zipped(change(unzipped(t, f["series.csv.gz"]))) }
	}
	data := func(old, new string) func(t *testing.T, f folder) {
		return func(t *testing.T, f folder) {
			text := unzipped(t, f["data.json.gz"])
			if !strings.Contains(text, old) {
				t.Fatalf("no %s in data.json.gz", old)
			}
			f["data.json.gz"] = zipped(strings.Replace(text, old, new, 1))
		}
	}
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, f folder)
		want   string
	}{
		{"no summary", func(_ *testing.T, f folder) { delete(f, "summary.json") }, "read results: file does not exist"},
		{"run.json", func(_ *testing.T, f folder) { f["run.json"] = []byte("{") }, "read run.json: unexpected end"},
		{"no zip", func(_ *testing.T, f folder) { f["series.csv.gz"] = []byte("policy,seed") }, "read series.csv.gz: gzip: invalid header"},
		{"cut off", func(_ *testing.T, f folder) { f["series.csv.gz"] = f["series.csv.gz"][:200] }, "read series.csv.gz: "},
		{"other columns", series(func(string) string { return "a,b,c,d\n" }), "does not begin with policy"},
		{"empty", series(func(string) string { return "" }), "it has no header: EOF"},
		{"a number", series(func(s string) string { return strings.Replace(s, "\nFIFO,1,10,", "\nFIFO,1,10,x", 1) }), "line 3: fresh_wait_p50_s: strconv.ParseFloat"},
		{"a policy", series(func(s string) string { return strings.Replace(s, "FIFO,1,0", "LIFO,1,0", 1) }), `line 2: policy "LIFO" and seed 1 are not in summary.json`},
		{"a seed", series(func(s string) string { return strings.Replace(s, "FIFO,1,0", "FIFO,9,0", 1) }), `line 2: policy "FIFO" and seed 9`},
		{"twice", series(func(s string) string { return s + strings.Join(strings.SplitAfter(s, "\n")[1:3], "") }), "do not stand together"},
		{"a short row", series(func(s string) string { return s + "FIFO,1\n" }), "wrong number of fields"},
		{"no JSON", func(_ *testing.T, f folder) { f["data.json.gz"] = zipped("x") }, "read data.json.gz: invalid character"},
		{"no settings", data(`"settings":{`, `"x":{`), "it has no settings"},
		{"no row", series(func(s string) string { return s[:strings.Index(s, "\nFIFO,2,")+1] }), `it has no row of policy "FIFO" and seed 2`},
		{"another policy", data(`"Label":"FIFO"`, `"Label":"LIFO"`), `its policy 1 is labelled "LIFO", that of summary.json "FIFO"`},
		{"a bucket out of reach", data(`"buckets":[`, `"buckets":[65535,`), "a histogram contradicts itself"},
		{"counts of nothing", data(`"counts":[`, `"counts":[1,`), "a histogram contradicts itself"},
		{"a wait below 0", data(`"P99":2.5`, `"P99":-2.5`), "of policy 1 it has a tenant with 5 jobs of which the slowest waited -2.5 s"},
		{"a wait without end", data(`"P99":2.5`, `"P99":1e300`), "the slowest waited 1e+300 s"},
		{"fewer jobs than none", data(`"Jobs":5`, `"Jobs":-5`), "a tenant with -5 jobs"},
		{"waits of others", data(`"tenant_waits":[`, `"tenant_waits":[{},`), "waits of 3 tenants and counts of 2"},
		{"no bucket", data(`"Bucket":10000000000`, `"Bucket":-1`), "a duration that is not positive"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sum := summarized(t, 2)
			sum.Data[0].Tenants = []measure.TenantCount{{}, {}}
			sum.Data[0].TenantWaits = []measure.TenantWait{{Jobs: 5, P99: 2.5, AtLeast: true}, {}}
			f := stored(t, sum)
			tt.change(t, f)
			if _, err := ReadStored(f.read); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"one", "two"} {
		if err := Replace(dir, []File{{"report.html", []byte(text)}, {"charts/a.svg", []byte(text)}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := tree(t, dir); !slices.Equal(got, []string{"charts", "charts/a.svg", "report.html"}) {
		t.Errorf("tree = %q", got)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "charts/a.svg")); err != nil || string(data) != "two" {
		t.Errorf("a.svg = %q, %v", data, err)
	}
	if err := Replace(dir, []File{{"../x", nil}}); err == nil {
		t.Error("wrote outside the folder")
	}
	err := Replace(dir, []File{{"report.html/x", nil}})
	var path *fs.PathError
	if !errors.As(err, &path) {
		t.Errorf("below a file: %v", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(filepath.Join(dir, "full", "x"), nil, 0o644)
	if err := Replace(dir, []File{{"full", nil}}); err == nil {
		t.Error("replaced a folder")
	}
	if got := tree(t, dir); len(got) != 5 {
		t.Errorf("left behind: %q", got)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/xuri/excelize/v2"

	"example.org/homenode/cmd/homenode/flags"
	"example.org/homenode/internal/golden"
	"example.org/homenode/source/scenario/given"
	"example.org/homenode/source/snapshot"
)

// hostileStarts begin the names of VMs, hosts, clusters, folders, tests and files here:
// each is a formula in some spreadsheet.
var hostileStarts = []string{" =1+1", "＝1+1", "@x", "-1+1", "+x"}

// tableArgs are the commands that write CSV or XLSX, each as it is called with names from
// strangers, less --format and --table. TestTablesAreGuarded looks for those that lack.
var tableArgs = map[string][][]string{
	"assess":  {{"fleet.json"}, {"fleet.json", "--what-if", "vm=@xvm vcpus=2", "--what-if", "lose-host=+xhost"}},
	"compare": {{"results", "--", "results"}, {"fleet.json", "other.txtar"}, {"other.txtar", "fleet.json", "--details"}},
	"explain": {{"fleet.json", " =1+1vm"}, {"fleet.json", "--cluster", "@xcluster", "--all"}, {"fleet.json", "--host", "@xhost"}, {"fleet.json"}, {"＝1+1.txt"}},
	"fix":     {{"fleet.json"}, {"fleet.json", "--allow", "better,split,host"}},
	"move":    {{"fleet.json", "--to", "libvirt,hyperv"}},
	"capture": {{"captures", "--fleet", "fleet.json"}},
	"simulate": {
		{"fleet.json", "--hours", "0.2"}, {"fleet.json", "--hours", "0.2", "--why"}, {"fleet.json", "--against", "captures", "--details"},
		{"fleet.json", "--hours", "0.2", "--grid", "lose-host=@xhost,+xhost"}, {"fleet.json", "--hours", "0.2", "--grid", "vm=@x* vcpus=2,4"},
	},
	"size upgrade":   {{"fleet.json", "--release", "9.0", "--hardware", "22"}},
	"measure":        {{"ladder", "--time", "100ms", "--fsync", "@xdir"}},
	"optimise":       {{"fleet.json", "--hours", "0.2", "--cluster", "@xcluster"}},
	"validate":       {{"cases.txtar"}},
	"size calibrate": {{"--path", "vsan-esa", "--host-count", "6", "--cpu", "78GHz", "--details", "results"}},
	"size dump":      {{"fleet.json"}, {"--ram", "1.5TB", "--boot", "32GB"}, {"--published"}},
	"size fit": {
		{"fleet.json", "--cluster", "all", "--hosts", "2x32c/1TB,2x48c/2TB"}, {"fleet.json", "--cluster", "@xcluster", "--vm", "+xshape:2x4GB", "--details"},
		{"--vm", "@xshape:12x96GB*40", "--vm", "+xshape:4x16GB*200", "--vm", "＝1+1shape:2x16GB*2", "--hosts", "2x32c/1TB=21000,2x48c/1.5TB=33000", "--details"},
	},
	"size io":        {{"fleet.json", "--cluster", "@xcluster", "--iops", "100k", "--block", "32k", "--core", "2.6GHz"}, {"--iops", "100k", "--block", "32k", "--core", "3.6GHz", "--host-cores", "32", "--coefficients", "@x.json"}, {"--published"}},
	"size latency":   {{"@x.txt", "＝1+1.txt", "--details"}, {"--time-budget", "10ms"}, {"--published"}},
	"size pages":     {{"shared.csv", "--details"}, {"--simulate", "fleet.json", "--hours", "0.2", "--alike", "15%", "--details"}, {"--memory", "1.5TB", "--consumed", "1.2TB"}, {"--published"}},
	"size rightsize": {{"captures", "--fleet", "fleet.json", "--least", "1m", "--details"}},
}

// TestTablesAreGuarded runs every command that writes CSV or XLSX, with each of its tables,
// and checks that no name from strangers begins a formula in what it wrote.
func TestTablesAreGuarded(t *testing.T) {
	hostileInputs(t)
	flags.Completing = true // says which words a flag takes
	t.Cleanup(func() { flags.Completing = false })
	listed := map[string]bool{}
	for _, c := range commands(newRoot()) {
		if c.Flags().Lookup("format") == nil {
			continue
		}
		name := nameOf(c)
		if name == "rules" || name == "size speed" {
			continue // they print no names from strangers
		}
		guarded, typed := 0, 0
		forms := wordsOf(t, c, "format")
		for _, form := range forms {
			if form != "csv" && form != "xlsx" {
				continue
			}
			if tableArgs[name] == nil {
				t.Errorf("%s writes %s: tableArgs lacks it", name, form)
			}
			listed[name] = true
			output := map[string]string{"csv": "-", "xlsx": "out.xlsx"}[form]
			for i, args := range tableArgs[name] {
				args = slices.Concat(strings.Fields(name), []string{"--format", form, "-o", output}, args)
				switch {
				case form == "xlsx":
					typed += checkWorkbook(t, args)
				case form == "csv" && i == 0 && c.Flags().Lookup("table") != nil:
					for _, table := range wordsOf(t, c, "table") {
						guarded += checkCSV(t, append(slices.Clone(args), "--table", table))
					}
				case form == "csv":
					guarded += checkCSV(t, args)
				}
			}
		}
		if listed[name] && guarded == 0 {
			t.Errorf("%s: no name from strangers reached a CSV file: the test shows nothing", name)
		}
		if slices.Contains(forms, "xlsx") && typed == 0 {
			t.Errorf("%s: no name from strangers reached a workbook: the test shows nothing", name)
		}
	}
	for name := range tableArgs {
		if !listed[name] {
			t.Errorf("tableArgs has %s, which writes neither CSV nor XLSX", name)
		}
	}
}

// wordsOf returns what can stand after a flag, as it is completed.
func wordsOf(t *testing.T, c *cobra.Command, flag string) []string {
	t.Helper()
	complete, ok := c.GetFlagCompletionFunc(flag)
	if !ok {
		t.Fatalf("%s --%s is not completed: what it takes is unknown", nameOf(c), flag)
	}
	all, _ := complete(c, nil, "")
	return all
}

// ran runs a command that may have findings.
func ran(t *testing.T, args []string) []byte {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(context.Background(), args, strings.NewReader(""), &out, &errs); code == exitError {
		t.Errorf("%q: %s", args, errs.String())
	}
	return out.Bytes()
}

var (
	formulaStart = regexp.MustCompile(`^[\s\p{Z}\p{Cc}]*[=+\-@＝＋－＠]`)
	plainNumber  = regexp.MustCompile(`^[+-]\d[\d,]*(\.\d+)?( ?%)?( [A-Za-zµ]+)?$`)
)

// checkCSV runs a command that writes CSV, and counts the hostile names that are guarded.
func checkCSV(t *testing.T, args []string) (guarded int) {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(ran(t, args)))
	r.FieldsPerRecord = -1 // the tables of size have columns of their own
	records, err := r.ReadAll()
	if err != nil || len(records) == 0 {
		t.Errorf("%q: %d records, %v", args, len(records), err)
	}
	for i, record := range records {
		for _, cell := range record {
			if formulaStart.MatchString(cell) && !plainNumber.MatchString(cell) {
				t.Errorf("%q: record %d: %q begins a formula", args, i+1, cell)
			}
			name, isGuarded := strings.CutPrefix(cell, "'")
			if isGuarded && slices.ContainsFunc(hostileStarts, func(start string) bool { return strings.HasPrefix(name, start) }) {
				guarded++
			}
		}
	}
	return guarded
}

// checkWorkbook runs a command that writes out.xlsx, and counts the hostile names. There a text
// has a type, so it needs no guard: what begins like a formula must be an inline string.
func checkWorkbook(t *testing.T, args []string) (hostile int) {
	t.Helper()
	ran(t, args)
	f, err := excelize.OpenFile("out.xlsx")
	if err != nil {
		t.Errorf("%q: %v", args, err)
		return 0
	}
	defer f.Close()
	for _, sheet := range f.GetSheetList() {
		rows, err := f.GetRows(sheet, excelize.Options{RawCellValue: true})
		if err != nil {
			t.Fatal(err)
		}
		for y, row := range rows {
			for x, cell := range row {
				at, err := excelize.CoordinatesToCellName(x+1, y+1)
				if err != nil {
					t.Fatal(err)
				}
				if formula, err := f.GetCellFormula(sheet, at); formula != "" || err != nil {
					t.Errorf("%q: %s!%s is the formula %q, %v", args, sheet, at, formula, err)
				}
				if !formulaStart.MatchString(cell) {
					continue
				}
				kind, err := f.GetCellType(sheet, at)
				if err != nil {
					t.Fatal(err)
				}
				if hostile++; kind != excelize.CellTypeInlineString && !plainNumber.MatchString(cell) {
					t.Errorf("%q: %s!%s: %q of type %d, want an inline string", args, sheet, at, cell, kind)
				}
			}
		}
	}
	return hostile
}

// hostileInputs writes what the commands read to a folder, and makes that the working
// directory: a fleet, captures of it that the model made, results of benchmarks, and costs
// of I/O.
func hostileInputs(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	fleet := given.Fleet(t, "fleet.txt", []byte(`release 8.0U3
cluster c[1-5]
host h1 cluster=c1 nodes=2 cores=10 memory=128GB mhz=2600
host h2 cluster=c2 nodes=2 cores=10 memory=128GB mhz=2600
host h3 cluster=c3 nodes=2 cores=10 memory=128GB mhz=2600
host h4 cluster=c4 nodes=2 cores=10 memory=128GB mhz=2600
host h5 cluster=c5 nodes=2 cores=10 memory=128GB mhz=2600
vm v1 cluster=c1 host=h1 vcpus=12 coresPerSocket=1 memory=32GB hw=19 hotAdd=on guest=ubuntu64Guest cpuLimit=4000 cpuReservation=400
vm v2 cluster=c2 host=h2 vcpus=12 coresPerSocket=1 memory=32GB hw=19 hotAdd=on guest=ubuntu64Guest cpuLimit=4000
vm v3 cluster=c3 host=h3 vcpus=12 coresPerSocket=1 memory=32GB hw=19 hotAdd=on guest=ubuntu64Guest cpuLimit=4000
vm v4 cluster=c4 host=h4 vcpus=12 coresPerSocket=1 memory=32GB hw=19 hotAdd=on guest=ubuntu64Guest cpuLimit=4000
vm v5 cluster=c5 host=h5 vcpus=12 coresPerSocket=1 memory=32GB hw=19 hotAdd=on guest=ubuntu64Guest cpuLimit=4000
`))
	for i, start := range hostileStarts {
		fleet.VMs[i].Name, fleet.Hosts[i].Name, fleet.Clusters[i].Name, fleet.VMs[i].Folder = start+"vm", start+"host", start+"cluster", start+"folder"
	}
	fleet.Source = hostileStarts[0]
	var b bytes.Buffer
	if err := snapshot.Write(&b, fleet); err != nil {
		t.Fatal(err)
	}
	latencies := "Measuring idle latencies (in ns)...\n\t\tNuma node\nNuma node\t     0\t     1\t\n       0\t  90.5\t 150.5\t\n       1\t 151.5\t  91.5\t\n"
	var tests string
	for _, start := range hostileStarts {
		tests += "Test Case Name: " + start + "-fio-8vmdk-90ws-32k-100rdpct-100randompct-2500lt-1732885897\nDatastore: d\n=============================\nJOB_NAME: job0\n" +
			"Number of VMs: 18\nI/O per Second: 721,317.28 IO/S\nThroughput: 22,540.00 MB/s\nRead Latency: 2.03 ms\n\n"
	}
	var shared [2]string // columns and values of what VMs share
	for i, start := range hostileStarts {
		for _, c := range []string{`Cpu(%)\% VmWait=1`, `Memory(%)\Memory Size MBytes=65536`, `Memory(%)\Memory Granted Size MBytes=49152`, `Memory(%)\Memory Consumed Size MBytes=46080`,
			`Memory(%)\Zero MBytes=1024`, `Memory(%)\Shared MBytes=4096`, `Memory(%)\Shared Saved MBytes=3072`, `Memory(%)\Copy On Write Hint MBytes=12288`} {
			c, value, _ := strings.Cut(c, "=")
			shared[0] += `,"\\@xhost\Group ` + strings.Replace(c, "(%)", "("+string(rune('1'+i))+":"+start+"vm)", 1) + `"`
			shared[1] += `,"` + value + `"`
		}
	}
	for name, text := range map[string]string{
		"fleet.json": b.String(), "cases.txtar": "-- case --\nid @xcase\nsource +x\n", "other.txtar": "release 8.0U3\nhost a nodes=2 cores=4 memory=64GB\nvm b host=a vcpus=2 memory=4GB\n", "results/tests.txt": tests, "@x.txt": latencies, "＝1+1.txt": strings.Replace(latencies, "90.5", "92.5", 1),
		// A cell and a name of a column may be anything, too.
		"one.csv": `"(PDH-CSV 4.0) (UTC)(0)","\\@x\Group Cpu(1:=1+1)\% Ready","` + strings.Join([]string{`\\@x\Memory\Free MBytes`, `\\@x\Memory\Kernel State`, `=1+1"`}, `","`) + "\n" +
			`"11/22/2026 10:00:00"," =1+1","@x","-1.5","1"` + "\n" + `"11/22/2026 10:00:05","＝1+1","-1+1","+x","2"` + "\n",
		"shared.csv": `"(PDH-CSV 4.0) (UTC)(0)","\\@xhost\Memory\Machine MBytes","\\@xhost\Memory\Free MBytes","\\@xhost\Memory\Kernel MinFree MBytes","\\@xhost\Memory\Kernel State","\\@xhost\Memory\PShare Shared MBytes","\\@xhost\Memory\PShare Common MBytes"` + shared[0] + "\n" +
			`"11/22/2026 10:00:00","65536","24576","1280","0","4096","1024"` + shared[1] + "\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		golden.Write(t, name, []byte(text))
	}
	ran(t, []string{"simulate", "fleet.json", "--hours", "0.2", "--trace", "esxtop:captures"})
	ran(t, []string{"size", "calibrate", "--path", "vsan-esa", "--host-count", "6", "--cpu", "78GHz", "--hardware", "@x", "--save", "--coefficients", "@x.json", "results"})
}

package sweep

import (
	"reflect"
	"strings"
	"testing"
)

func what(texts ...string) (out []Value) { return values2(WhatIf, texts) }

// values2 returns values of one step each from pairs of a label and a text; an empty text
// is today.
func values2(kind StepKind, pairs []string) (out []Value) {
	for i := 0; i < len(pairs); i += 2 {
		v := Value{Label: pairs[i]}
		if pairs[i+1] != "" {
			v.Steps = []Step{{Do: kind, Text: pairs[i+1]}}
		}
		out = append(out, v)
	}
	return out
}

func factor(label, vms string, by float64) Value {
	return Value{Label: label, Steps: []Step{{Do: ScaleLoad, Text: vms, Factor: by}}}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		text  string
		name  string
		want  []Value
		seeds []uint64
	}{
		{"nodesPerSocket=1,2", "nodesPerSocket", what("1", "nodesPerSocket=1", "2", "nodesPerSocket=2"), nil},
		{"host=esx* nodesPerSocket=today,2", "nodesPerSocket esx*", what("today", "", "2", "host=esx* nodesPerSocket=2"), nil},
		{"vm=sql*,web01 cluster=prod vcpus=8..10", "vcpus sql*,web01 prod", what("8", "vm=sql*,web01 cluster=prod vcpus=8", "9", "vm=sql*,web01 cluster=prod vcpus=9", "10", "vm=sql*,web01 cluster=prod vcpus=10"), nil},
		{"vm=sql* vcpus=8,12 coresPerSocket=4,6 hotAdd=off", "vcpus/coresPerSocket sql*",
			what("8/4", "vm=sql* vcpus=8 coresPerSocket=4 hotAdd=off", "12/6", "vm=sql* vcpus=12 coresPerSocket=6 hotAdd=off"), nil},
		{"vm=sql* cpuAffinity=0-3|0,2,4", "cpuAffinity sql*", what("0-3", "vm=sql* cpuAffinity=0-3", "0,2,4", "vm=sql* cpuAffinity=0,2,4"), nil},
		{"vm=a host=esx01,esx02", "host a", what("esx01", "vm=a host=esx01", "esx02", "vm=a host=esx02"), nil},
		{"vm=a numa.vcpu.maxPerVirtualNode=today,unset,8", "numa.vcpu.maxPerVirtualNode a", what("today", "", "unset", "vm=a numa.vcpu.maxPerVirtualNode=", "8", "vm=a numa.vcpu.maxPerVirtualNode=8"), nil},
		{"Numa.PreferHT=0,1", "Numa.PreferHT", what("0", "Numa.PreferHT=0", "1", "Numa.PreferHT=1"), nil},
		{`host=a cpu="Intel Xeon|AMD EPYC"`, "cpu a", what("Intel Xeon", `host=a cpu="Intel Xeon"`, "AMD EPYC", `host=a cpu="AMD EPYC"`), nil},
		{"hotAdd=off", "hotAdd", what("off", "hotAdd=off"), nil},
		{"lose-host=esx01,none", "lose-host", what("esx01", "lose-host=esx01", "none", ""), nil},
		{"lose-host=esx01|esx01,esx02", "lose-host", what("esx01", "lose-host=esx01", "esx01,esx02", "lose-host=esx01,esx02"), nil},
		{"count=0,1 Add-Host=esx01", "add-host esx01", what("0", "", "1", "count=1 Add-Host=esx01"), nil},
		{"add-host=esx01 count=0..2 cluster=b", "add-host esx01", what("0", "", "1", "add-host=esx01 count=1 cluster=b", "2", "add-host=esx01 count=2 cluster=b"), nil},
		{"cpu=x0.5,×2,*3", "cpu", []Value{factor("x0.5", "*", 0.5), factor("×2", "*", 2), factor("*3", "*", 3)}, nil},
		{"vm=a,b cpu=today|20%|5..60%", "cpu a,b", values2(StoryLine, []string{"today", "", "20%", "load a,b cpu=20%", "5..60%", "load a,b cpu=5..60%"}), nil},
		{"load a active=10%,20% memory=5GB", "load a active memory=5GB", values2(StoryLine, []string{"10%", "load a active=10% memory=5GB", "20%", "load a active=20% memory=5GB"}), nil},
		{"load a cpu=x2,10%", "load a cpu", []Value{factor("x2", "a", 2), {Label: "10%", Steps: []Step{{Do: StoryLine, Text: "load a cpu=10%"}}}}, nil},
		{"at 2h set esx01 Numa.PreferHT=0,1", "at 2h set esx01 Numa.PreferHT", values2(StoryLine, []string{"0", "at 2h set esx01 Numa.PreferHT=0", "1", "at 2h set esx01 Numa.PreferHT=1"}), nil},
		{"vm=a vcpus=2,4 cpu=x2,today", "vcpus/cpu a", []Value{
			{Label: "2/x2", Steps: []Step{{Do: WhatIf, Text: "vm=a vcpus=2"}, {Do: ScaleLoad, Text: "a", Factor: 2}}},
			{Label: "4/today", Steps: []Step{{Do: WhatIf, Text: "vm=a vcpus=4"}}}}, nil},
		{"seed=1..3,7", "", nil, []uint64{1, 2, 3, 7}},
	} {
		d, seeds, err := parse(tt.text, 1)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		var want *Dimension
		if tt.want != nil {
			want = &Dimension{Text: tt.text, Name: tt.name, Values: tt.want}
		}
		if !reflect.DeepEqual(d, want) || !reflect.DeepEqual(seeds, tt.seeds) {
			t.Errorf("%s:\n%+v, seeds %v\nwant\n%+v, seeds %v", tt.text, d, seeds, want, tt.seeds)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "--grid:2:1: found nothing, want what varies, such as 'vm=sql* vcpus=8,12,16'"},
		{"vcpus=", "--grid:2:1: found vcpus= without values, want vcpus=VALUE,VALUE,…"},
		{"vm=sql*", "--grid:2:1: found nothing that varies, want KEY=VALUE,VALUE,…"},
		{"vcpus=8,,9", "--grid:2:1: found vcpus=8,,9 with an empty value; vcpus=today leaves it as it is, vcpus=unset removes a setting"},
		{"vm=a vcpus=8,9,8", "--grid:2:6: found the value 8 twice"},
		{"vm=a vcpus=9..8", "--grid:2:6: found 9..8, want a range that ascends"},
		{"vm=a vcpus=1..2000", "--grid:2:6: found 2000 values of vcpus, want at most 1000"},
		{"vm=a vcpus=8,x", "--grid:2:6: found vcpus=\"x\", want a number from 1 to 4096"},
		{"vm=a   vcpu=8,9", `--grid:2:8: found "vcpu"; is vcpus meant?`},
		{"sed=1..10", `--grid:2:1: found "sed", is seed= meant?`},
		{"losehost=a,b", `--grid:2:1: found "losehost", is lose-host= meant?`},
		{"snc=1,2", `--grid:2:1: found "snc"; is nodesPerSocket meant?`},
		{"vm=a vcpus=8,12 coresPerSocket=2,4,6", "--grid:2:6: found 2 values of vcpus beside 3 of coresPerSocket: the words of one --grid change together, those of several are combined"},
		{"seed=1,x", "--grid:2:1: found seed=x, want whole numbers such as seed=1..10"},
		{"seed=1,1", "--grid:2:1: found the value 1 twice"},
		{"seed=1 vcpus=2", `--grid:2:8: found "vcpus" beside seed=, want nothing but seed=`},
		{"cpu=x", "--grid:2:1: found cpu=x, want a factor such as x0.5 or x2"},
		{"cpu=x-1", "--grid:2:1: found cpu=x-1, want a factor such as x0.5 or x2"},
		{"cpu=xNaN", "--grid:2:1: found cpu=xNaN, want a factor such as x0.5 or x2"},
		{"cpu=2", "--grid:2:1: found cpu=2, want a factor such as x2, or a demand such as 20% or 5..60%"},
		{"vcpus=2,4 cpu=x2,x1", "--grid:2:11: found cpu= without VMs, want vm= as well"},
		{"lod a cpu=x2", `--grid:2:1: found "lod", is load meant?`},
		{"placed a homes=0,1", `--grid:2:1: found "placed", want KEY=VALUE,VALUE,… or a line of a story that begins with load, used, talk, at`},
		{"load a", "--grid:2:1: found nothing that varies, want KEY=VALUE,VALUE,…"},
		{"load a active=1%,2% cpu=x2", "--grid:2:21: found cpu=x2, want a demand such as 20%: loads are multiplied by 'load VM cpu=x2' alone"},
		{"add-host=a count=1..200", "--grid:2:12: found count=\"97\", want a number from 1 to 96"},
		{`a="b`, "--grid:2:3: found no closing quote"},
		{"lose-host=[", "--grid:2:1: found pattern \"[\": syntax error in pattern"},
	} {
		_, _, err := parse(tt.text, 2)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.text, err, tt.want)
		}
	}
}

func TestNewErrors(t *testing.T) {
	s := read(t, small)
	for _, tt := range []struct {
		texts []string
		want  string
	}{
		{[]string{"vm=sq vcpus=8,9"}, `--grid 'vm=sq vcpus=8,9': found no VM "sq"; alike: sql01`},
		{[]string{"vm=sq cpu=x1,x2"}, `--grid 'vm=sq cpu=x1,x2': found no VM "sq"; alike: sql01`},
		{[]string{"load sq active=1%,2%"}, `--grid 'load sq active=1%,2%': found no VM "sq"`},
		{[]string{"seed=1..10", "seed=1..10"}, "--grid:2: found seed= twice"},
		{[]string{"vm=web* vcpus=1..2", "vm=web* vcpus=3..4"}, "--grid:2: found vcpus web* twice: each --grid varies something else"},
		{[]string{"vm=web* vcpus=1..100", "Numa.PageMigRateMax=1..100", "seed=1..2"}, "--grid: found 100 × 100 points × 2 seeds, want at most 10000 runs: fewer values, or several sweeps"},
		{[]string{"lose-host=esx09,esx08"}, `--grid 'lose-host=esx09,esx08': found no host "esx09"`},
	} {
		_, err := New(t.Context(), s, tt.texts, Options{})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant %s", tt.texts, err, tt.want)
		}
	}
	// A value that alone cannot be is one that points say.
	if _, err := New(t.Context(), s, []string{"lose-host=esx09,esx01"}, Options{}); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"vm=sql* vcpus=8,12 coresPerSocket=4,6", "seed=1..3", "cpu=x0.5|20%", "load a active=1%,2%", "add-host=a count=0..2", "lose-host=a,b", `vm=a guest="x y|z"`, "vm=a numa.vcpu.min=unset,4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, seeds, err := parse(text, 1)
		if err != nil {
			if d != nil && len(err.Error()) > 5000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if (d == nil) == (seeds == nil) {
			t.Fatalf("%q is a dimension and seeds, or neither", text)
		}
		if d == nil {
			return
		}
		labels := map[string]bool{}
		for _, v := range d.Values {
			if labels[v.Label] || v.Label == "" || len(v.Steps) > 2 {
				t.Errorf("%q has the value %+v", text, v)
			}
			labels[v.Label] = true
		}
		again, _, err := parse(text, 1)
		if err != nil || !reflect.DeepEqual(again, d) {
			t.Errorf("%q is something else the second time", text)
		}
	})
}

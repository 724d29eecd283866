package fix

import (
	"strings"
	"testing"

	"example.org/homenode/change/fix"
	"example.org/homenode/change/fix/apply"
	"example.org/homenode/change/whatif"
	"example.org/homenode/source/scenario"
)

// TestHeadline: the headline counts what a plan brings along and what stays, and the next command writes something of the plan.
func TestHeadline(t *testing.T) {
	f, err := scenario.Read("wish.txt", []byte(`release 8.0U3
cluster s
host esx[01-02] nodes=2 cores=24 memory=1TB mhz=2600
vm db1 host=esx01 vcpus=32 memory=256GB hw=17 hotAdd=on numa.vcpu.preferHT=TRUE cpuAffinity=0-31
vm db2 host=esx01 vcpus=32 memory=256GB hw=17 hotAdd=on
vm tmpl host=esx01 vcpus=32 memory=256GB hw=17 hotAdd=on template=yes power=off
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ wish, want, next string }{
		{"vm=db1 numa.vcpu.preferHT=", "cures 0 findings, and brings 1; 1 finding above INFO remains of those asked about. ", "--format powercli -o fix.ps1"},
		{"vm=db2 reserveAll=on cpuReservation=20000 hotAdd=off", "cures 1 finding; nothing above INFO remains of those asked about. ", "--format powercli -o fix.ps1"},
		{"vm=db2,tmpl hotAdd=off", "cures 1 finding; nothing above INFO remains of those asked about; 1 left as it is. ", "--format powercli -o fix.ps1"},
	} {
		change, err := whatif.Parse(tt.wish)
		if err != nil {
			t.Fatal(err)
		}
		p, err := fix.Make(t.Context(), f, fix.Options{Set: []whatif.Change{change}})
		if err != nil {
			t.Fatal(err)
		}
		a := Plan(p, "", false, "wish.txt")
		if text := strings.Join(a.Verdict, " "); !strings.Contains(text, tt.want) {
			t.Errorf("%s: %s; want %s", tt.wish, text, tt.want)
		}
		if next := strings.Join(a.Next, " "); !strings.HasSuffix(next, tt.next) {
			t.Errorf("%s: next %q, want %s", tt.wish, next, tt.next)
		}
	}
	for _, tt := range []struct{ vm, want string }{
		{"vcpus=24 coresPerSocket=12", "Nothing to change: there are no findings."},
		{"vcpus=60 coresPerSocket=30", "Nothing to change: 1 finding above INFO remains."}, // by hand
		{"vcpus=8 hotAdd=on", "Nothing to change: nothing above INFO remains."},
		{"vcpus=8 hotAdd=on coresPerSocket=?", "Nothing to change: nothing above INFO remains. Not known: cores per socket of 1 VM."},
	} {
		f, err := scenario.Read("none.txt", []byte("release 7.0U3\nhost esx01 nodes=2 cores=24 memory=1TB\nvm a host=esx01 memory=64GB hw=17 "+tt.vm+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := fix.Make(t.Context(), f, fix.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(Plan(p, "", false, "none.txt").Verdict, " "); text != tt.want {
			t.Errorf("%s: %s; want %s", tt.vm, text, tt.want)
		}
	}
	apart, err := fix.ParseDRS("apart=db1,db2")
	if err != nil {
		t.Fatal(err)
	}
	p, err := fix.Make(t.Context(), f, fix.Options{DRS: []fix.DRSRule{apart}})
	if err != nil {
		t.Fatal(err)
	}
	if a := Plan(p, "", false, "wish.txt"); a.Next != nil {
		t.Errorf("no script changes rules of DRS, and next is %q", a.Next)
	}
}

// TestRunHeadline: a run that touched nothing was not carried out.
func TestRunHeadline(t *testing.T) {
	for _, tt := range []struct {
		want     string
		outcomes []apply.Outcome
	}{
		{"Nothing was changed: v has to be off (--power guest).", []apply.Outcome{apply.NeedsOff}},
		{"Nothing was changed: of 2 changes 1 not touched: needs to be off, 1 not touched: refused.", []apply.Outcome{apply.NeedsOff, apply.Refused}},
		{"Plan p was carried out: of 1 change 1 so already.", []apply.Outcome{apply.Already}},
		{"Plan p was carried out: of 2 changes 1 done, 1 not touched: needs to be off.", []apply.Outcome{apply.NeedsOff, apply.Done}},
	} {
		r := Run{Plan: &fix.Plan{ID: "p"}}
		for _, o := range tt.outcomes {
			r.Results = append(r.Results, apply.Result{Name: "v", Outcome: o})
		}
		if got := r.Answer().Verdict[0]; got != tt.want {
			t.Errorf("%v: %q, want %q", tt.outcomes, got, tt.want)
		}
	}
}

package whatif

import (
	"testing"

	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/source/scenario/given"
)

// TestIdle refuses a list of which one part names nothing.
func TestIdle(t *testing.T) {
	f := given.Fleet(t, "in", []byte("cluster prod\nhost esx[01-02] nodes=2 cores=18\nvm db01 vcpus=4\nvm db02 vcpus=4\n"))
	for _, tt := range []struct{ change, want string }{
		{"vm=db01,db02 vcpus=8", ""},
		{"vm=db01,db* vcpus=8", ""},
		{"vm=db01,nope vcpus=8", `--what-if:1:1: found no VM "nope"; known: db01, db02`},
		{"host=esx01,esx09 nodesPerSocket=2", `--what-if:1:1: found no host "esx09"; alike: esx01, esx02`},
		{"cluster=prod,test hotAdd=on", `--what-if:1:1: found no cluster "test"; known: prod`},
		{"host=esx[01-03] nodesPerSocket=2", ""}, // a range names those that there are
	} {
		c, err := Parse(tt.change)
		if err != nil {
			t.Fatalf("%s: %v", tt.change, err)
		}
		_, _, err = Apply(t.Context(), f, []Change{c}, vnuma.Choices{})
		if got := text(err); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.change, got, tt.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

package whatif

import (
	"slices"
	"strings"
	"testing"

	"example.org/homenode/source/word"
)

func TestErrors(t *testing.T) {
	vmWords := "for VMs stored, " + strings.Join(word.VMKeys, ", ") + " or a setting such as numa.vcpu.preferHT"
	hostWords := "for hosts nodesPerSocket, " + strings.Join(slices.Concat(word.NodeKeys, word.HostKeys), ", ") + " or an option such as Numa.PreferHT"
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", `1: found "", which changes nothing: want [vm=NAME|host=NAME] [cluster=NAME] WORD=VALUE …`},
		{"selectors alone", "vm=db01 cluster=a", `1: found "vm=db01 cluster=a", which changes nothing: want [vm=NAME|host=NAME] [cluster=NAME] WORD=VALUE …`},
		{"comment alone", "# vm=a", `1: found "# vm=a", which changes nothing: want [vm=NAME|host=NAME] [cluster=NAME] WORD=VALUE …`},
		{"no number", "vm=db01 vcpus=abc", `9: found vcpus="abc", want a number from 1 to 4096`},
		{"number out of bounds", "vm=db01 vcpus=0", `9: found vcpus="0", want a number from 1 to 4096`},
		{"no truth", "vm=db01 hotadd=maybe", `9: found hotAdd="maybe", want on or off`},
		{"no release", "release=seven", `1: found "seven", want a release such as 7.0 U3`},
		{"no memory", "vm=db01 memory=5", `9: found memory="5", want memory such as 512GB, at most 64 TB`},
		{"nodes per socket", "host=esx* nodesPerSocket=0", `11: found nodesPerSocket="0", want a number from 1 to 64`},
		{"no value", "vm=db01 hotAdd", `9: found "hotAdd" without a value, want WORD=VALUE, such as memory=512GB`},
		{"empty value", "vm=db01 vcpus=", `9: found vcpus= without a value`},
		{"empty name", "vm= vcpus=4", `1: found vm= without a value`},
		{"names", "vm=a,,b vcpus=4", `1: found vm="a,,b", want names or patterns`},
		{"pattern", "vm=a[ vcpus=4", `1: found pattern "a[": syntax error in pattern`},
		{"falling range", "vm=a[02-01] vcpus=4", `1: found "a[02-01]", want a range that ascends`},
		{"twice", "vm=a vcpus=4 VCPUS=8", `14: found VCPUS twice`},
		{"open quote", `host=a cpu="Xeon`, `12: found no closing quote`},
		{"word of hosts", "vm=a release=8.0", `6: found "release", want ` + vmWords},
		{"word of VMs", "host=a vcpus=4", `8: found "vcpus", want ` + hostWords},
		{"misspelt", "vm=a vcpu=4", `6: found "vcpu"; is vcpus meant? want ` + vmWords},
		{"abbreviated", "vm=a cps=2", `6: found "cps"; is coresPerSocket meant? want ` + vmWords},
		{"abbreviated for hosts", "host=a nps=2", `8: found "nps"; is nodesPerSocket meant? want ` + hostWords},
		{"word of hosts that VMs abbreviate", "vm=a cpu=2", `6: found "cpu"; is vcpus meant? want ` + vmWords},
		{"no word", "snapshot=2", `1: found "snapshot", want ` + vmWords + ", " + hostWords},
		{"word of both", "hw=20 memory=5GB", `7: found memory=5GB for VMs or hosts: say which, with vm=* or host=*`},
		{"setting", "vm=a disk.enableUUID=TRUE", `6: found "disk.enableUUID", want ` + vmWords},
		{"option", "host=a UserVars.X=1", `8: found "UserVars.X", want ` + hostWords},
		{"stored", "vm=a stored=many", `6: found stored="many", want a number from 1 to 4096`},
		{"threads", "host=a threads=0", `8: found threads="0", want a number from 1 to 32768`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse(tt.in)
			if err == nil {
				t.Fatal("no error")
			}
			if got, want := err.Error(), "--what-if:1:"+tt.want; got != want {
				t.Errorf("Parse:\n got %s\nwant %s", got, want)
			}
		})
	}
	if _, err := ParseAt("plan.txt", 7, "vm=a x"); err == nil || err.Error() != `plan.txt:7:6: found "x" without a value, want WORD=VALUE, such as memory=512GB` {
		t.Errorf("ParseAt: %v", err)
	}
}

func TestErrorsOfHosts(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"lose-host=", `1: found host="", want names or patterns`},
		{"add-host=a count=0", `12: found count="0", want a number from 1 to 96`},
		{"add-host=a count=97", `12: found count="97", want a number from 1 to 96`},
		{"add-host=a memory=1TB", `12: found "memory", want add-host=HOST, and count=, name= or cluster=`},
		{"add-host=", `1: found "add-host" without a value, want WORD=VALUE, such as memory=512GB`},
		{"add-host=a name=b[1-3] count=2", `12: found 3 names for count=2`},
		{"add-host=a name=b[1-97]", `12: found 97 names, want at most 96`},
	} {
		_, err := Parse(tt.in)
		if err == nil || err.Error() != "--what-if:1:"+tt.want {
			t.Errorf("Parse(%q): %v, want %s", tt.in, err, tt.want)
		}
	}
}

func TestNumbered(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string
	}{
		{"add-host=esx01", "esx01-new"},
		{"add-host=esx01 count=2", "esx01-new1 esx01-new2"},
		{"add-host=esx01 count=2 name=esx09", "esx09 esx10"},
		{"add-host=esx01 count=2 name=spare", "spare1 spare2"},
		{"add-host=esx01 name=spare", "spare"},
		{"add-host=esx01 name=esx[30-32]", "esx30 esx31 esx32"},
		{"add-host=esx01 name=esx[30-32] count=3", "esx30 esx31 esx32"},
	} {
		c, err := Parse(tt.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.text, err)
		} else if got := strings.Join(c.names, " "); got != tt.want {
			t.Errorf("Parse(%q): %s, want %s", tt.text, got, tt.want)
		}
	}
}

package whatif_test

import (
	"strings"
	"testing"

	"example.org/homenode/change/whatif"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
)

// TestLostFinding: a host that is lost takes its own finding along, and those of the hosts that restart its VMs are new.
func TestLostFinding(t *testing.T) {
	const hosts = `release 8.0U3
cluster c
host h[1-3] nodes=2 cores=16 memory=256GB
vm a[01-10] host=h2 vcpus=2 memory=16GB
vm b[01-10] host=h3 vcpus=2 memory=16GB
`
	for _, tt := range []struct{ name, vms, want string }{
		{"one host is short", "vm big host=h1 vcpus=4 memory=200GB\nvm s[01-05] host=h1 vcpus=2 memory=8GB\n", "h3 new, h1 gone"},
		{"two hosts are short", "vm s[01-15] host=h1 vcpus=2 memory=16GB\n", "h2 new, h3 new, h1 gone"},
	} {
		change, err := whatif.Parse("lose-host=h1")
		if err != nil {
			t.Fatal(err)
		}
		r, err := whatif.Judge(t.Context(), nil, fleet(t, hosts+tt.vms), []whatif.Change{change}, rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Of().Rule == "H007" && f.Of().Topic == "" {
				got = append(got, f.Of().Host+" "+f.Change())
			}
		}
		if text := strings.Join(got, ", "); text != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, text, tt.want)
		}
	}
}

// TestFitsFirst: VMs that fit no host take no memory from those that fit, whether their host is lost or enters maintenance mode.
func TestFitsFirst(t *testing.T) {
	const text = `release 8.0U3
cluster c
host h[1-3] nodes=2 cores=16 memory=256GB
vm big[1-2] host=h1 vcpus=4 memory=120GB
vm s[1-4]   host=h1 vcpus=2 memory=4GB
vm a        host=h2 vcpus=2 memory=170GB
vm b        host=h3 vcpus=2 memory=170GB
`
	for _, change := range []string{"lose-host=h1", "host=h1 maintenance=on"} {
		got, _ := apply(t, fleet(t, text), change)
		want := "no other host of the cluster has memory left for big1 and big2: "
		if n := len(got.Notes); n == 0 || !strings.HasPrefix(got.Notes[n-1].Text, want) {
			t.Errorf("%s: notes %q, want one with %q", change, got.Notes, want)
		}
	}
}

// TestNotBesideTooLarge: a VM that fits a host is not left on the one that takes a VM for which no host has memory, if another has memory for it.
func TestNotBesideTooLarge(t *testing.T) {
	const text = `release 8.0U3
cluster c
host h[1-4] nodes=2 cores=16 memory=256GB
vm big[1-2] host=h1 vcpus=4 memory=200GB
vm s[1-6]   host=h1 vcpus=2 memory=4GB
vm a        host=h2 vcpus=2 memory=150GB
vm b        host=h3 vcpus=2 memory=151GB
vm c        host=h4 vcpus=2 memory=%s
`
	for _, change := range []string{"lose-host=h1", "host=h1 maintenance=on"} {
		for memory, want := range map[string]int{
			"156GB": 2, // h4 takes all small ones
			"256GB": 8, // no host has memory for them beside the large ones
		} {
			r, err := whatif.Judge(t.Context(), nil, fleet(t, strings.ReplaceAll(text, "%s", memory)), parse(t, change), rules.Options{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Crowd.VMs != want || r.Worse != want {
				t.Errorf("%s beside %s: %d VMs go to hosts that then lack memory, and %d are worse; want %d", change, memory, r.Crowd.VMs, r.Worse, want)
			}
		}
	}
}

// TestCrowd: a VM is worse on a host that then lacks memory, whether its host is lost, enters maintenance mode, or the VM alone moves there.
func TestCrowd(t *testing.T) {
	const text = `release 8.0U3
cluster c
host h[1-2] nodes=2 cores=16 memory=256GB
vm a   host=h1 vcpus=4 memory=160GB
vm off host=h1 vcpus=4 memory=16GB power=off
vm b   host=h2 vcpus=4 memory=160GB
`
	for _, line := range []string{"lose-host=h1", "host=h1 maintenance=on", "vm=a host=h2"} {
		change, err := whatif.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		r, err := whatif.Judge(t.Context(), nil, fleet(t, text), []whatif.Change{change}, rules.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Worse != 1 || r.VMs[0].Name != "a" {
			t.Errorf("%s: %d worse, want a alone", line, r.Worse)
		}
		if c := r.Crowd; c.VMs != 1 || c.Over < 64*numa.GiB {
			t.Errorf("%s: %+v, want a and 64 GB at least", line, c)
		}
	}
}

// TestPairs: hosts that take VMs under Fault Tolerance may run the other VM of the pair, and no host may run both: what is not known is said.
func TestPairs(t *testing.T) {
	const hosts = "release 8.0U3\ncluster c\nhost h[1-3] nodes=2 cores=16 memory=256GB\nvm a host=h1 vcpus=2 memory=16GB\n"
	for vms, want := range map[string]string{
		"vm p host=h1 vcpus=2 memory=16GB ft=primary\nvm p2 host=h2 vcpus=2 memory=16GB ft=secondary\n": "whether a host for p is free is not judged",
		"vm p host=h3 vcpus=2 memory=16GB ft=primary\nvm p2 host=h2 vcpus=2 memory=16GB ft=secondary\n": "",
	} {
		for _, text := range []string{"lose-host=h1", "host=h1 maintenance=on"} {
			f, _, err := whatif.Apply(t.Context(), fleet(t, hosts+vms), parse(t, text), vnuma.Choices{})
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, n := range f.Notes {
				said += n.Text
			}
			if !strings.HasSuffix(said, want) || want == "" && said != "" {
				t.Errorf("%s, %s: notes %q, want %q", text, vms, said, want)
			}
		}
	}
}

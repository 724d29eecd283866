package fleet_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/rules"
	"example.org/homenode/rules/filter"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/verdict/fleet"
	"example.org/homenode/source/scenario"
	"example.org/homenode/source/scenario/random"
)

// randomFleet writes clusters of physical and nested hosts: with interleaved, divided and
// unequal nodes, and VMs of every width on them.
func randomFleet(r *rand.Rand) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var b strings.Builder
	b.WriteString("release " + pick("6.7", "7.0", "8.0U3") + "\n")
	for c := range 1 + r.IntN(3) {
		fmt.Fprintf(&b, "cluster c%d\n", c)
		hosts := 0
		for range 1 + r.IntN(3) {
			n := 1 + r.IntN(6)
			fmt.Fprintf(&b, "host h%d-[%d-%d] %s cores=%s memory=256GB power=%s %s\n", c, hosts, hosts+n-1,
				pick("nodes=1 packages=2", "nodes=2", "nodes=4 packages=2", "nodes=2 nodeMemory=64GB,192GB"), pick("12", "16"),
				pick("Balanced", `"Low Power"`, `"High Performance"`), pick("", "model=VMware20,1", `cpu="Intel Xeon Gold 6430"`))
			hosts += n
		}
		for v := range r.IntN(12) {
			fmt.Fprintf(&b, "vm v%d-%d host=h%d-%d vcpus=%s memory=%s hotAdd=%s\n", c, v, c, r.IntN(hosts), pick("2", "8", "14", "20", "24"), pick("8GB", "150GB"), pick("on", "off"))
		}
	}
	return b.String()
}

var (
	mostLose           = regexp.MustCompile(`(?m)^NUMA slows (\d+) of (?:the )?\d+ VMs?(?: shown)?[.;]`)
	littler            = regexp.MustCompile(`(\d+) (?:more )?slightly`)
	besideNUMA         = regexp.MustCompile(`(\d+) VMs? (?:has|have) findings of medium or high severity that NUMA does not cause`)
	overcommittedHosts = regexp.MustCompile(`(\d+) hosts? cannot hold all memory of (?:its|their) running VMs beside what ESXi keeps for itself`)
	hostsHit           = regexp.MustCompile(`(\d+) hosts? (?:has|have) findings of (?:its|their) own`)
)

// TestCounts holds the numbers of the headline to the hosts and VMs that the findings name.
func TestCounts(t *testing.T) {
	found := map[string]bool{}
	for seed := range uint64(350) {
		in := randomFleet(rand.New(rand.NewPCG(seed, 14)))
		if seed >= 300 {
			in = strings.ReplaceAll(random.Fleet(rand.New(rand.NewPCG(seed, 14))), "power=off", "") // a VM that is off counts as slower after a power-on
		}
		f, err := scenario.Read("random", []byte(in))
		if err != nil {
			t.Fatalf("%v in\n%s", err, in)
		}
		r := rules.Run(f, rules.Options{})
		high, medium, apart, hosts := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
		add := func(s finding.Severity, vm string) {
			if s == finding.High {
				high[vm] = true
			} else if s == finding.Medium {
				medium[vm] = true
			}
		}
		for _, x := range r.Findings {
			if x.Rule == "H001" && x.Severity == finding.High && len(running(r, &x)) > 0 {
				found["H001"] = true
			}
			switch {
			case x.VM != "" && r.Rule(x.Rule).Beside:
				if x.Severity >= finding.Medium {
					apart[x.VM] = true
				}
			case x.VM != "":
				add(x.Severity, x.VM)
			case x.Severity >= finding.Medium:
				for _, h := range named(&x) {
					hosts[h] = true
				}
				if x.Rule == "H001" { // it says that every VM there loses
					for _, v := range running(r, &x) {
						add(x.Severity, v)
					}
				}
				for _, v := range x.Costs {
					for i := range f.VMs {
						if f.VMs[i].ID == v {
							add(x.Severity, f.VMs[i].Name)
						}
					}
				}
			}
		}
		for v := range r.EachVM() {
			if v.Off() { // the headline names it apart
				for _, of := range []map[string]bool{high, medium, apart} {
					delete(of, v.Name)
				}
			}
		}
		for v := range high {
			delete(medium, v)
			delete(apart, v)
		}
		for v := range medium {
			delete(apart, v)
		}
		text := strings.Join(fleet.Verdict(r), "\n")
		for _, c := range []struct {
			name string
			form *regexp.Regexp
			want int
		}{{"VMs that lose", mostLose, len(high)}, {"VMs that lose a little", littler, len(medium)}, {"VMs beside NUMA", besideNUMA, len(apart)}, {"hosts", hostsHit, len(hosts)}} {
			if got := number(c.form, text); got != c.want {
				t.Fatalf("%s: the headline says %d, the findings %d\n%s\n%s", c.name, got, c.want, text, in)
			}
			found[c.name] = found[c.name] || c.want > 1
		}
	}
	if len(found) != 5 {
		t.Errorf("the fleets show only %v", found)
	}
}

// TestShown: under a filter, the headline counts the VMs and hosts that are shown, although a finding names further hosts.
func TestShown(t *testing.T) {
	only, err := filter.New(filter.Options{Hosts: []string{"h0-0"}})
	if err != nil {
		t.Fatal(err)
	}
	shown, several := false, false
	for seed := range uint64(100) {
		f, err := scenario.Read("random", []byte(randomFleet(rand.New(rand.NewPCG(seed, 15)))))
		if err != nil {
			t.Fatal(err)
		}
		r, err := only.Fleet(t.Context(), rules.Run(f, rules.Options{}))
		if err != nil {
			continue // the fleet has no such host
		}
		text := strings.Join(fleet.Verdict(r), "\n")
		if n := number(hostsHit, text); n > 1 {
			t.Fatalf("%d hosts of the one that is shown: %s", n, text)
		}
		shown = shown || strings.Contains(text, " VMs shown")
		several = several || slices.ContainsFunc(r.Findings, func(x finding.Finding) bool { return len(x.About) > 1 && x.Severity >= finding.Medium })
	}
	if !shown || !several {
		t.Errorf("no headline about VMs that are shown, or no finding about several hosts: %v, %v", shown, several)
	}
}

// TestShownHosts: under a filter for a host, the headline is silent about other hosts of its cluster: full ones, and those without a prediction.
func TestShownHosts(t *testing.T) {
	f, err := scenario.Read("test", []byte("release 7.0U3\ncluster c\nhost h nodes=2 cores=16 memory=512GB\nhost full nodes=2 cores=16 memory=512GB\nhost odd\nvm a host=h vcpus=8 memory=64GB\nvm b host=full vcpus=8 memory=600GB\n"))
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string][2]bool{"h": {}, "full": {true, false}, "*": {true, true}} {
		only, err := filter.New(filter.Options{Hosts: []string{host}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := only.Fleet(t.Context(), rules.Run(f, rules.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(fleet.Verdict(r), " ")
		if got := [2]bool{strings.Contains(text, "cannot hold all memory of its running VMs"), strings.Contains(text, "not judged")}; got != want {
			t.Errorf("%s: full and unjudged hosts %v, want %v: %s", host, got, want, text)
		}
	}
}

// TestOvercommitted: the hosts that cannot hold the memory of their running VMs, as the headline counts them, are those with a finding of at least medium severity that
// says so, and the amount is that of a finding. A host that has as much memory as its VMs is among them, since ESXi keeps some: the headline does not say that it has less.
func TestOvercommitted(t *testing.T) {
	hit := 0
	for seed := range uint64(200) {
		f, err := scenario.Read("random", []byte(randomFleet(rand.New(rand.NewPCG(seed, 16)))))
		if err != nil {
			t.Fatal(err)
		}
		r := rules.Run(f, rules.Options{})
		text := strings.Join(fleet.Verdict(r), "\n")
		n, largest := 0, (*finding.Finding)(nil)
		for i := range r.Findings {
			if x := &r.Findings[i]; x.Rule == "H007" && x.Severity >= finding.Medium && strings.Contains(x.Message, "do not fit the host at all") {
				n++
				if largest == nil || x.Larger(largest) > 0 {
					largest = x
				}
			}
		}
		amount := false // of the host that is named first
		if largest != nil {
			_, missing, _ := strings.Cut(largest.Message, "): ")
			missing, _, _ = strings.Cut(missing, " do not fit")
			amount = strings.Contains(text, largest.Host+": "+missing+" do not fit")
		}
		if got := number(overcommittedHosts, text); got != n || amount != (n > 0) || strings.Contains(text, "less memory than") {
			t.Fatalf("seed %d: the headline has %d hosts that cannot hold their running VMs, the findings %d:\n%s", seed, got, n, text)
		}
		hit += n
	}
	if hit == 0 {
		t.Error("no host is too small for its running VMs")
	}
}

// named returns the hosts that a finding about hosts names.
func named(x *finding.Finding) []string {
	if x.About != nil {
		return x.About
	}
	return []string{x.Host}
}

// running returns the VMs on the hosts that a finding names.
func running(r *rules.Result, x *finding.Finding) (names []string) {
	for _, c := range r.Clusters {
		for _, h := range c.Hosts {
			for _, name := range named(x) {
				if h.Name == name {
					for _, v := range c.Running(h) {
						names = append(names, v.Name)
					}
				}
			}
		}
	}
	return names
}

func number(form *regexp.Regexp, text string) int {
	m := form.FindStringSubmatch(text)
	for i := 1; i < len(m); i++ {
		if n, err := strconv.Atoi(m[i]); err == nil {
			return n
		}
	}
	return 0
}

// TestLacking: the headline names each cluster whose hosts together lack memory for their running VMs, and no other.
func TestLacking(t *testing.T) {
	f, err := scenario.Read("lacking", []byte(`release 8.0U3
cluster c
host h[1-2] nodes=2 cores=16 memory=256GB
vm big[1-5] host=h1 vcpus=4 memory=64GB
vm mid[1-4] host=h2 vcpus=4 memory=64GB
cluster d
host i[1-2] nodes=2 cores=16 memory=256GB
vm few[1-5] host=i1 vcpus=4 memory=64GB
`))
	if err != nil {
		t.Fatal(err)
	}
	want := "All hosts together lack memory for the running VMs in c (70.3 GB): no move within a cluster cures that."
	if text := strings.Join(fleet.Verdict(rules.Run(f, rules.Options{})), " "); !strings.Contains(text, want) {
		t.Errorf("got %s, want %s", text, want)
	}
}

package rules_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
)

// TestFiguresWork follows the figures of advice exactly as they are printed: the finding is gone.
func TestFiguresWork(t *testing.T) {
	only := func(r *rules.Result, rule, vm string) string {
		for _, f := range r.Findings {
			if f.Rule == rule && (f.VM == vm || f.VM == "") && !strings.Contains(f.Message, "powered off") {
				return f.Advice
			}
		}
		return ""
	}
	amounts := func(pattern, advice string) (out []float64) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(advice, -1) {
			n, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, n)
		}
		return out
	}
	// Nodes of 128 GB with 118 GB of memory on them, a host that is all but full, and one that is overcommitted.
	for _, gb := range []float64{59, 63, 100} {
		host := "release 7.0U3\nhost h nodes=2 cores=16 memory=256GB\n"
		fleet := func(a, b float64) string {
			return host + fmt.Sprintf("vm a host=h vcpus=4 memory=%dMB\nvm b host=h vcpus=4 memory=%dMB\nvm c host=h vcpus=4 memory=%dMB\nvm d host=h vcpus=4 memory=%dMB\n", int(a*1024), int(b*1024), int(a*1024), int(b*1024))
		}
		advice := only(runText(t, fleet(gb, gb)), "H007", "")
		free := amounts(`([\d.]+) GB on node`, advice)
		if free == nil {
			free = amounts(`with ([\d.]+) GB if each node`, advice)
			if len(free) == 1 {
				free = []float64{free[0] / 2, free[0] / 2}
			}
		}
		if len(free) != 2 {
			t.Fatalf("%v GB: %q", gb, advice)
		}
		if left := only(runText(t, fleet(gb-free[0]/2, gb-free[1]/2)), "H007", ""); left != "" {
			t.Errorf("%v GB: %q is followed, then %q", gb, advice, left)
		}
	}
	// What is reserved leaves room for the overhead memory, which admission counts too.
	const two = "release 7.0U3\nhost h nodes=2 cores=16 memory=512GB mhz=2600\nvm a host=h vcpus=8 memory=200GB hw=19 memoryReservation=200GB power=on\nvm b host=h vcpus=8 memory=%s hw=19 memoryReservation=%s\n"
	for _, memory := range []string{"320GB", "400GB"} {
		advice := only(runText(t, fmt.Sprintf(two, memory, memory)), "N032", "b")
		most := amounts(`(?i)reserve at most ([\d.]+) GB of memory`, advice)
		if len(most) != 1 {
			t.Fatalf("%s: %q", memory, advice)
		}
		if left := only(runText(t, fmt.Sprintf(two, memory, fmt.Sprintf("%vGB", most[0]))), "N032", "b"); left != "" {
			t.Errorf("%q is followed, then %q", advice, left)
		}
		overhead := 2 * numa.GiB // more than the samples that VMware publishes would give for 256 GB
		if rest := 512 - 200 - most[0] - 512*0.01; rest < float64(overhead/numa.GiB) {
			t.Errorf("%q leaves %v GB for the overhead memory", advice, rest)
		}
	}
}

package fix_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"example.org/homenode/numa"
	"example.org/homenode/rules"
	"example.org/homenode/rules/rule"
	"example.org/homenode/source/scenario"
)

// TestWholeGB: an amount of memory that advice names is a whole number of GB where it is one at least, and a multiple of 4 MB, whatever the host has, except the VM's own.
func TestWholeGB(t *testing.T) {
	odd := strings.NewReplacer("256GB", "255.7GB", "768GB", "767.3GB", "1536GB", "1535.9GB", "3TB", "3071.4GB", "memory=300GB", "memory=302.7GB", "memoryReservation=32GB", "memoryReservation=700.3GB", "cpuReservation=20000", "memoryLimit=33333MB", "memoryAffinity=0", "memoryLimit=3333MB memoryReservation=5000MB")
	amounts := 0
	for seed := range uint64(2000) {
		text := odd.Replace(anyFleet(rand.New(rand.NewPCG(seed, 31))))
		f, err := scenario.Read("any", []byte(text))
		if err != nil {
			continue
		}
		r := rules.Run(f, rules.Options{})
		vms := map[string]*rule.VM{}
		for v := range r.EachVM() {
			vms[v.ID] = v
		}
		for _, one := range r.Findings {
			for _, way := range one.Ways {
				for _, e := range way.Edits {
					if e.Kind != numa.EditMemory && e.Kind != numa.EditMemoryReservation {
						continue
					}
					amounts++
					n, _ := strconv.Atoi(e.To.Text)
					if own := numa.Bytes(n)*numa.MiB == vms[one.VMID].Memory.Value; (n > 1024 && n%1024 != 0 || n%4 != 0) && !own {
						t.Errorf("%s: %s (%v)\n%s", one.Rule, way.Do, e, text)
					}
				}
			}
		}
		if t.Failed() {
			return
		}
	}
	if amounts < 100 {
		t.Errorf("%d amounts: too few to show anything", amounts)
	}
}

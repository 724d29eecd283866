package iocost

import "testing"

func TestX(t *testing.T) {
	for _, c := range Checks() {
		if v := c.Verdict(); v != "reproduced" || c.Inconsistency != "" {
			d, _ := c.Deviation()
			t.Logf("%s %-45s %-18s %15s %15.4f %6.1f%% %s %s %s", c.ID, c.What, c.Quantity, c.Printed, c.Computed, float64(d)*100, v, c.Inconsistency, c.Note)
		}
	}
	t.Log(len(Checks()))
}

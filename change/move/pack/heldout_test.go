package pack

import "testing"

func TestHeldOut(t *testing.T) {
	var problems []*Problem
	for i := range uint64(150) {
		problems = append(problems, instance(9000+i))
	}
	eq, n := 0, 0
	for i, o := range exactly(t, problems, 20) {
		if !o.Proven {
			continue
		}
		n++
		plan, _ := Make(problems[i])
		if o.VCPUs == plan.VCPUs && (o.Hosts == 0 || o.Hosts == plan.Used) {
			eq++
		} else {
			t.Logf("seed %d: %+v, %d on %d", 9000+i, o, plan.VCPUs, plan.Used)
		}
	}
	t.Logf("%d of %d equal", eq, n)
}

package published

import (
	"fmt"
	"math"

	"homenode/numa"
)

// hostFields are the fields about the host itself (rule book ).
var hostFields = map[string]predictor{
	"host_numa_nodes":                     hostNodes(true),
	"host_numa_nodes_without_cod":         hostNodes(false),
	"host_packages":                       hostCount(func(f facts) int { return f.whole(numa.MaxNodes, "sockets") }),
	"memory_per_host_node_gb":             hostMemory(true, numa.GiB),
	"memory_per_host_node_mb_without_cod": hostMemory(false, numa.MiB),
}

// nodes returns the NUMA nodes of the host, with its sockets divided as the case
// says or whole; 0 when its sockets are not stated.
func (f facts) nodes(divided bool) int {
	n := f.whole(numa.MaxNodes, "sockets")
	if divided {
		n *= max(1, f.whole(numa.MaxNodes, "numa_nodes_per_socket"))
	}
	return n
}

func hostNodes(divided bool) predictor {
	return hostCount(func(f facts) int { return f.nodes(divided) })
}

func hostCount(count func(facts) int) predictor {
	return func(c *Case, _ *variant, observed any) (string, bool, error) {
		var err error
		n := count(facts{"host", c.Host, &err})
		want, ok := number(observed)
		switch {
		case err != nil:
			return "", false, err
		case n == 0:
			return "", false, fmt.Errorf("the sockets of the host are not stated")
		case !ok:
			return "", false, unlike(observed, "a number")
		}
		return show(n), float64(n) == want, nil
	}
}

func hostMemory(divided bool, unit numa.Bytes) predictor {
	return func(c *Case, _ *variant, observed any) (string, bool, error) {
		var err error
		f := facts{"host", c.Host, &err}
		nodes := f.nodes(divided)
		memory := f.amount("mem_gb", float64(numa.GiB), float64(numa.MaxHostMemory))
		want, ok := number(observed)
		switch {
		case err != nil:
			return "", false, err
		case nodes == 0 || memory == 0:
			return "", false, fmt.Errorf("sockets or memory of the host are not stated")
		case !ok:
			return "", false, unlike(observed, "a number")
		}
		got := memory / float64(unit) / float64(nodes)
		return show(got), math.Abs(want-got) <= got*nodeTolerance, nil
	}
}

func total(numbers []float64) float64 {
	sum := 0.0
	for _, n := range numbers {
		sum += n
	}
	return sum
}

package guest

import (
	"errors"
	"fmt"

	"example.org/homenode/numa"
	"example.org/homenode/source/machine"
)

// Limits of the touched memory.
const (
	defaultMemory = 512 << 20
	leastMemory   = 64 << 20 // below it only 1 MiB is touched, for pages of hidden nodes
	tinyMemory    = 1 << 20
)

// A MemoryCap limits the memory that a run may touch, and names the reason.
type MemoryCap struct {
	Bytes int64  `json:"bytes"`
	By    string `json:"by"`
}

// capOf returns the limit of the memory to touch: fresh memory that a guest touches remains backed by the host.
func capOf(asked int64, l *machine.Limits) MemoryCap {
	c := MemoryCap{defaultMemory, "the default; --memory changes it"}
	if asked > 0 {
		c = MemoryCap{asked, "--memory"}
	}
	least := func(v numa.Fact[numa.Bytes], share int64, by string) {
		if n := int64(v.Value) / share; v.Known() && n < c.Bytes {
			c = MemoryCap{n, by}
		}
	}
	least(l.Available, 4, "a quarter of the memory that the machine could give without swapping")
	least(l.MemoryLeft, 2, "half of what is left of the memory limit of this process's control group")
	return c
}

// small reports whether it is too little for anything but a few pages.
func (c MemoryCap) small() bool { return c.Bytes < leastMemory }

func (c MemoryCap) String() string { return fmt.Sprintf("%v (%s)", numa.Bytes(c.Bytes), c.By) }

// mostPressure limits the share of the last 10 s in which tasks waited for memory, in percent.
const mostPressure = 10

// step returns an error if the machine runs short of memory and no more may be touched.
func (r *run) step(int) error {
	some, swapped := memoryPressure()
	switch {
	case some > mostPressure:
		return &remedied{fmt.Errorf("tasks of this machine waited for memory in %.0f %% of the last 10 s, so no more was touched", some), "--memory with less, or more memory for the machine"}
	case swapped > r.swapped:
		return &remedied{errors.New("the machine began to swap, so no more memory was touched"), "--memory with less, or more memory for the machine"}
	}
	return nil
}

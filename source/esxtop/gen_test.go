package esxtop

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// A capture is a made-up batch file in the form of esxtop, for benchmarks: a host with two
// nodes, the counters of ESXi 6.5 in their order, the worlds of its VMs, and disks up to
// the wanted number of columns. Its numbers mean nothing; their lengths and how many are
// zero are as in a real file.
type capture struct {
	rng    *rand.Rand
	names  []string
	values [][]byte
	at     time.Time
	home   []int // columns of home nodes
	lively bool  // no number stays
}

var groupCPU = []string{"Members", "% Used", "% Run", "% System", "% Wait", "% VmWait", "% Ready", "% Idle", "% Overlap", "% CoStop",
	"% Max Limited", "% Swap Wait", "Switches/sec", "Migrates/sec", "Quantum Expires/sec", "Wakeups/sec", "Alloc Min", "Alloc Max",
	"Alloc Shares", "Alloc Min Limited", "% CPU Latency", "% Memory Latency", "% Demand", "Effective Min", "Timers/sec", "Power Usage Watts"}

var groupMemory = []string{"Members", "Alloc Min", "Alloc Max", "Alloc Shares", "Alloc Min Limited", "Numa Home Nodes", "Numa Rebalance Count Delta",
	"Numa Remote Memory MBytes", "Numa Local Memory MBytes", "Numa % Local", "Memory Size MBytes", "Memory Granted Size MBytes", "Memory Consumed Size MBytes",
	"Target Size MBytes", "Touched MBytes", "Touched Write MBytes", "% Active Estimate", "% Active Slow Estimate", "% Active Fast Estimate", "% Active Next Estimate",
	"Memctl?", "Memctl MBytes", "Memctl Target MBytes", "Memctl Max MBytes", "Swapped MBytes", "Swap Target MBytes", "Swap Read MBytes/sec",
	"Swap Written MBytes/sec", "Llswap Read MBytes/sec", "Llswap Written MBytes/sec", "Checkpoint Read MBytes", "Checkpoint Target MBytes",
	"Zero MBytes", "Shared MBytes", "Shared Saved MBytes", "Copy On Write Hint MBytes", "Overhead UW MBytes", "Overhead MBytes", "Overhead Max MBytes",
	"Min Commit Target", "Commit Target", "Commit Charged MBytes", "Commit Pages Per Share", "Compressed Memory MBytes", "Used Compressed Memory MBytes",
	"Compression MBytes/sec", "Decompression MBytes/sec"}

// newCapture makes a header of this many columns with this many VMs.
func newCapture(columns, vms int) *capture {
	c := &capture{rng: rand.New(rand.NewPCG(1, 2)), at: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	for _, name := range []string{"Machine MBytes", "Free MBytes", "Kernel MinFree MBytes", "Kernel State", "PShare Shared MBytes"} {
		c.add(`Memory\`+name, name)
	}
	for _, name := range []string{"% Processor Time", "% Util Time", "% Core Util Time"} {
		for pcpu := range 64 {
			c.add(fmt.Sprintf(`Physical Cpu(%d)\%s`, pcpu, name), name)
		}
		for node := range 2 {
			c.add(fmt.Sprintf(`Numa Node(%d)\%s`, node, name), name)
		}
	}
	for node := range 2 {
		c.add(fmt.Sprintf(`Numa Node(%d)\Total MBytes`, node), "Total MBytes")
		c.add(fmt.Sprintf(`Numa Node(%d)\Free MBytes`, node), "Free MBytes")
	}
	var groups []string
	for i := range vms + 50 {
		name, worlds := fmt.Sprintf("%d:vm-%03d.example", 1302698+i*15, i), []string{"vmx", "NetWorld-VM-%d", "vmast.%d", "vmx-vthread-5", "vmx-mks:vm", "vmx-svga:vm", "LSI-%d:0"}
		if i < 50 {
			name, worlds = fmt.Sprintf("%d:daemon.%d", i+1, 65000+i), []string{"daemon", "helper-1"}
		} else {
			for vcpu := range 5 {
				worlds = append(worlds, fmt.Sprintf("vmx-vcpu-%d:vm", vcpu))
			}
		}
		groups = append(groups, name)
		c.group(name, worlds, i >= 50)
	}
	for i, group := range groups {
		for _, counter := range groupMemory {
			if counter == "Numa Home Nodes" {
				c.home = append(c.home, len(c.names))
			}
			c.add(fmt.Sprintf(`Group Memory(%s)\%s`, group, counter), "%"+strconv.Itoa(i))
		}
	}
	for i := 0; len(c.names) < columns-1; i++ {
		c.add(fmt.Sprintf(`Physical Disk SCSI Device(naa.6000%08x)\Counter %d/sec`, i/52, i%52), "disk")
	}
	return c
}

func (c *capture) group(name string, worlds []string, vm bool) {
	for _, counter := range groupCPU {
		if counter != "% VmWait" || vm {
			c.add(fmt.Sprintf(`Group Cpu(%s)\%s`, name, counter), counter)
		}
	}
	for i, world := range worlds {
		for _, counter := range groupCPU[1:25] {
			c.add(fmt.Sprintf(`Vcpu(%s:%d:%s)\%s`, name, 400000+i, world, counter), counter)
		}
	}
}

func (c *capture) add(name, _ string) {
	c.names = append(c.names, `\\esx01.example\`+name)
	c.values = append(c.values, c.value())
}

// value returns a number as long as those of esxtop: three of five are 0.00.
func (c *capture) value() []byte {
	switch n := c.rng.IntN(20); {
	case n < 11:
		return []byte("0.00")
	case n < 12:
		return []byte("0")
	case n < 14:
		return fmt.Appendf(nil, "%d", c.rng.IntN(9)+1)
	case n < 17:
		return fmt.Appendf(nil, "%.2f", c.rng.Float64()*20)
	case n < 19:
		return fmt.Appendf(nil, "%.2f", c.rng.Float64()*1000)
	}
	return fmt.Appendf(nil, "%.2f", c.rng.Float64()*100000)
}

// lengths make numbers of four to eight characters.
var lengths = [...]float64{9.99, 9.99, 99.99, 999.99, 9999.99, 99999.99}

// header appends the header line to b.
func (c *capture) header(b []byte) []byte {
	b = append(b, `"(PDH-CSV 4.0) (UTC)(0)"`...)
	for _, name := range c.names {
		b = append(b, `,"`...)
		b = append(b, name...)
		b = append(b, '"')
	}
	return append(b, ",\n"...)
}

// row appends the next row: one number of eight is another than in the row before, or, of
// a lively capture, all are.
func (c *capture) row(b []byte) []byte {
	for i := range c.values {
		switch {
		case c.lively:
			c.values[i] = strconv.AppendFloat(c.values[i][:0], c.rng.Float64()*lengths[c.rng.IntN(len(lengths))], 'f', 2, 64)
		case i%8 == 0:
			c.values[c.rng.IntN(len(c.values))] = c.value()
		}
	}
	for i, column := range c.home {
		c.values[column] = []byte([]string{"0", "1", "0,1"}[(i+c.rng.IntN(2))%3])
		c.values[column+4] = fmt.Appendf(nil, "%d", c.rng.IntN(101)) // Numa % Local
	}
	b = c.at.AppendFormat(append(b, '"'), "01/02/2006 15:04:05")
	b = append(b, '"')
	c.at = c.at.Add(5 * time.Second)
	for _, v := range c.values {
		b = append(b, `,"`...)
		b = append(b, v...)
		b = append(b, '"')
	}
	return append(b, ",\n"...)
}

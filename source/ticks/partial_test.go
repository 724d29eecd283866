package ticks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

// What an output states in part is unknown and not what is left of it.
func TestPartOfAnOutput(t *testing.T) {
	const date = "2026-11-21T20:30:00Z\n"
	const all = "     GID NAME                NHN NMIG     NRMEM     NLMEM N%L GST_ND0  OVD_ND0  GST_ND1  OVD_ND1\n"
	timed := Options{Host: "h", Start: time.Date(2026, 11, 21, 20, 30, 0, 0, time.UTC), Interval: time.Minute}
	for _, tt := range []struct {
		name, in string
		opt      Options
		want     string
	}{
		{"whole", date + all + "      11 web                 0,1    0      1.00      7.00  87    6.00     0.50     2.00     0.25\n", Options{Host: "h"}, "[{0 6 MB 512 KB} {1 2 MB 256 KB}]"},
		{"one node is no number", date + all + "      11 web                 0,1    0      1.00      7.00  87    6.00     0.50       ?x     0.25\n", Options{Host: "h"}, "[]"},
		{"the edge cuts a node off", date + strings.Replace(all, "  GST_ND1  OVD_ND1", "", 1) + "      11 web                 0,1    0      1.00      7.00  87    6.00     0.50\n", Options{Host: "h"}, "[]"},
		{"the edge cuts off a node without memory", date + strings.Replace(all, "  GST_ND1  OVD_ND1", "", 1) + "      11 web                 0,1    0      0.00      7.00 100    7.00     0.50\n", Options{Host: "h"}, "[{0 7 MB 512 KB}]"},
		{"NMIG is no number", all + "      11 web                 0,1    ?      1.00      7.00  87    6.00     0.50     2.00     0.25\n", timed, "[{0 6 MB 512 KB} {1 2 MB 256 KB}]"},
		{"NMIG is there", all + "      11 web                 0,1    3      1.00      7.00  87    6.00     0.50     2.00     0.25\n", timed, "[{0 6 MB 512 KB} {1 2 MB 256 KB}] 3 moves"},
		{"a table", date + cnodeHead + "vm.1 11 0 0 5 50 3072 75\nvm.1 11 0 1 5 50 1024 25\n", Options{Host: "h"}, "[{0 3 MB -1 B} {1 1 MB -1 B}]"},
		{"a table that is cut off", date + cnodeHead + "vm.1 11 0 0 5 50 3072 75\n", Options{Host: "h"}, "[]"},
		{"a table with a cell that is no number", date + cnodeHead + "vm.1 11 0 0 5 50 3072 -\nvm.1 11 0 1 5 50 x -\n", Options{Host: "h"}, "[]"},
		{"a unit that is not known", "VIRTUAL MACHINE STATS: Fri Apr 14 05:45:52 2017\n   Unit             : TB\n name memSize\n vm.78864 32\n", Options{Host: "h"}, "[]"},
		{"a unit that is", "VIRTUAL MACHINE STATS: Fri Apr 14 05:45:52 2017\n   Unit             : GB\n name memSize\n vm.78864 32\n", Options{Host: "h"}, "[] 32 GB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			_, err := Read(t.Context(), "a.txt", strings.NewReader(tt.in), tt.opt, func(k *numa.Tick) error {
				for _, v := range k.VMs {
					s := fmt.Sprint(v.OnNode)
					if v.Has&numa.HasMoves != 0 {
						s += fmt.Sprintf(" %d moves", v.Moves.All)
					}
					if v.Has&numa.HasSize != 0 {
						s += " " + v.Size.String()
					}
					got = append(got, s)
				}
				return nil
			})
			if err != nil || !slices.Equal(got, []string{tt.want}) {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

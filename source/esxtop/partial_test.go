package esxtop

import (
	"fmt"
	"strings"
	"testing"
)

// Numbers that stand for none, and parts that are not the whole, are unknown.
func TestTicksUnknown(t *testing.T) {
	counters := []string{"Numa Home Nodes", "Numa Rebalance Count Delta", "Numa Remote Memory MBytes", "Numa Local Memory MBytes", "Numa % Local", "Memory Size MBytes",
		"GST_ND0 MBytes", "GST_ND1 MBytes"}
	in := `"(PDH-CSV 4.0) (UTC)(0)","\\a\Group Cpu(7:db)\% VmWait","\\a\Group Cpu(7:db)\% Ready"`
	for _, c := range counters {
		in += `,"\\a\Group Memory(7:db)\` + c + `"`
	}
	for _, row := range []string{
		"5.00|0,1|2|1.00|3.00|75|8.00|3.00|1.00",
		"429496729500.00|4294967295|4294967295|4294967295|4294967295.00|4294967295|4294967295|4294967295|1.00",
		"-1|-1|-1|-1|-1.00|-1|-1|-1|-1",
		"||||||||",
		"-|-|-|-|-|-|-|-|-",
		"5.00|0,1|2|1.00|3.00|75|8.00|3.00|-", // a node is unknown
		"5.00|0,1|2|1.00|3.00|75|8.00|3.00|0.50",
		"5.00|0,1|2|100.00|300.00|75|8.00|300.00|99.00", // rounding
	} {
		in += "\n" + `"11/21/2026 10:00:00","1.00","` + strings.ReplaceAll(row, "|", `","`) + `"`
	}
	ticks, err := NewTicks("b.csv", strings.NewReader(in+"\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for ticks.Scan() {
		for _, v := range ticks.Tick().VMs {
			got = append(got, fmt.Sprintf("%d: %b %v %v %v", ticks.Tick().Line, v.Has, v.Homes, v.Moves.All, v.OnNode))
		}
	}
	want := []string{
		"2: 1000000010001111 0,1 2 [{0 3 MB -1 B} {1 1 MB -1 B}]",
		"3: 0 - 0 []",
		"6: 1 - 0 []",
		"7: 1000000010001111 0,1 2 []",
		"8: 1000000010001111 0,1 2 []",
		"9: 1000000010001111 0,1 2 [{0 300 MB -1 B} {1 99 MB -1 B}]",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Blanks of all kinds and case do not tell names apart.
func TestNamesWithOtherBlanks(t *testing.T) {
	in := "(PDH-CSV 4.0) (UTC)(0),\\\\a\\memory\\FREE\u00a0 MBytes\n11/21/2026 10:00:00,7\n"
	ticks, err := NewTicks("b.csv", strings.NewReader(in), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !ticks.Scan() || ticks.Tick().Free.String() != "7 MB" {
		t.Errorf("free memory is %v, want 7 MB", ticks.Tick().Free)
	}
}

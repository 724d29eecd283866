package hostload

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"example.org/homenode/numa"
)

func amount(v, half float64, col int) *Amount { return &Amount{Value: v, Half: half, Col: col} }

func TestRead(t *testing.T) {
	whole := []Row{{File: "cpu.csv", Test: "32k-100rdpct", Line: 2, Hosts: 6, CPU: *amount(78e9, 0.5e9, 16), Idle: amount(1e9, 0.5e9, 19), Transmitted: amount(27.2e9, 0.05e9, 21), Received: amount(27.2e9, 0.05e9, 26)}}
	for _, tt := range []struct {
		name, in string
		want     []Row
	}{
		{"all columns", "test,hosts,cpu GHz,idle GHz,tx Gb/s,rx Gb/s\n32k-100rdpct,6,78,1,27.2,27.2\n", whole},
		{"byte order mark, CRLF", "\xef\xbb\xbftest,hosts,cpu GHz,idle GHz,tx Gb/s,rx Gb/s\r\n32k-100rdpct,6,78,1,27.2,27.2\r\n", whole},
		{"tabs, another order", "rx Gb/s\ttx Gb/s\tcpu GHz\ttest\n\t\t78.5\tfio, 4k\n", []Row{{File: "cpu.csv", Test: "fio, 4k", Line: 2, CPU: *amount(78.5e9, 0.05e9, 3)}}},
		{"semicolons, comments, empty cells", "# host load\n\ntest;hosts;CPU (%);idle [MHz]\n\"a, b\";;67.7;\nc;4;50;900\n", []Row{
			{File: "cpu.csv", Test: "a, b", Line: 4, CPU: Amount{0.677, 0.0005, true, 9}},
			{File: "cpu.csv", Test: "c", Line: 5, Hosts: 4, CPU: Amount{0.5, 0.005, true, 5}, Idle: amount(900e6, 0.5e6, 8)},
		}},
		{"bytes", "test,cpu_MHz,tx GB/s,rx MiB/s\nx,1500,3.4,100\n", []Row{{File: "cpu.csv", Test: "x", Line: 2, CPU: *amount(1.5e9, 0.5e6, 3), Transmitted: amount(27.2e9, 0.4e9, 8), Received: amount(100*8*1048576, 4*1048576, 12)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Read("cpu.csv", strings.NewReader(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				for _, a := range []*Amount{&got[i].CPU, got[i].Idle, got[i].Transmitted, got[i].Received} {
					if a != nil { // 27.2 × 1e9 is not 27.2e9 to the last bit
						a.Value, a.Half = round(a.Value), round(a.Half)
					}
				}
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("found %+v\nwant  %+v", got, tt.want)
			}
		})
	}
}

func round(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v))-10)
	if v == 0 || unit == 0 {
		return v
	}
	if unit >= 1 {
		return math.Round(v)
	}
	return math.Round(v*1e6) / 1e6
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "cpu.csv:1: found no test, want a heading such as test,hosts,cpu GHz and a line for each test"},
		{"test,cpu GHz\n", "cpu.csv:1: found no test, want a heading such as test,hosts,cpu GHz and a line for each test"},
		{"32k,78\n", `cpu.csv:1:1: found "32k", want test, hosts, cpu, idle, tx or rx`},
		{"test,cpu\n", `cpu.csv:1:6: found "cpu", want cpu with its unit: GHz, MHz or %`},
		{"test,cpu GHz,tx gb/s,rx gb/s\n", `cpu.csv:1:14: found "tx gb/s", want tx with its unit: Gb/s (bits), GB/s or MiB/s (bytes)`},
		{"test,cpu GHz,cpu %\n", "cpu.csv:1:14: found a second column cpu"},
		{"test,,cpu %\n", "cpu.csv:1:6: found an empty heading, want test, hosts, cpu, idle, tx or rx"},
		{"test,hosts n\n", `cpu.csv:1:6: found "hosts n", want hosts`},
		{"test,hosts\n", "cpu.csv:1:1: found no column cpu, want a heading such as test,hosts,cpu GHz,idle GHz,tx Gb/s,rx Gb/s"},
		{"test,cpu GHz,tx Gb/s\n", "cpu.csv:1:1: found one of tx and rx, want both"},
		{"test,cpu GHz\n32k\n", "cpu.csv:2:1: found 1 cells, want 2 as in the heading"},
		{"test,cpu GHz\n,78\n", "cpu.csv:2:1: found no test, want the name of a test case or file, or a part of it"},
		{"test,cpu GHz\n32k,\n", `cpu.csv:2:5: found "", want the cpu as a number such as 78 or 78.5`},
		{"test,cpu GHz\n32k,-78\n", `cpu.csv:2:5: found "-78", want the cpu as a number such as 78 or 78.5`},
		{"test,cpu GHz\n32k,0\n", `cpu.csv:2:5: found "0", want the cpu as a number such as 78 or 78.5`},
		{"test;cpu GHz\n32k;78,5\n", `cpu.csv:2:5: found "78,5", want the cpu as a number such as 78 or 78.5`},
		{"test,cpu GHz\n32k,NaN\n", `cpu.csv:2:5: found "NaN", want the cpu as a number such as 78 or 78.5`},
		{"test,cpu GHz\n32k,1e300\n", `cpu.csv:2:5: found "1e300", want the cpu as a number such as 78 or 78.5`},
		{"test,cpu %\n32k,101\n", `cpu.csv:2:5: found "101", want at most 100 %`},
		{"test,hosts,cpu %\n32k,0,50\n", `cpu.csv:2:5: found "0", want the number of hosts, 1 to 1000`},
		{"test,hosts,cpu %\n32k,six,50\n", `cpu.csv:2:5: found "six", want the number of hosts, 1 to 1000`},
		{"test,cpu %,tx Gb/s,rx Gb/s\n32k,50,1,\n", "cpu.csv:2:1: found one of tx and rx, want both or none"},
	} {
		_, err := Read("cpu.csv", strings.NewReader(tt.in))
		var syntax *numa.SyntaxError
		if err == nil || err.Error() != tt.want || !errors.As(err, &syntax) {
			t.Errorf("%q: found %v, want %s", tt.in, err, tt.want)
		}
	}
	broken := errors.New("broken")
	if _, err := Read("cpu.csv", iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("found %v, want %v", err, broken)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"test,hosts,cpu GHz,idle GHz,tx Gb/s,rx Gb/s\n32k,6,78,1,27.2,27.2\n", "# c\ntest;cpu (%)\n\"a\";67.7\n", "test\tcpu MHz\n\t1\n", "test,cpu GHz\na,\xff\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		rows, err := Read("f", bytes.NewReader(in))
		if err != nil {
			if rows != nil {
				t.Fatal("both rows and an error")
			}
			return
		}
		if len(rows) == 0 {
			t.Fatal("neither rows nor an error")
		}
		for _, r := range rows {
			if r.Test == "" || r.Line < 2 || !(r.CPU.Value > 0) || r.Hosts < 0 || (r.Transmitted == nil) != (r.Received == nil) {
				t.Fatalf("%+v", r)
			}
			for _, a := range []*Amount{&r.CPU, r.Idle, r.Transmitted, r.Received} {
				if a != nil && (!(a.Value >= 0) || !(a.Half > 0) || math.IsInf(a.Value, 0) || a.Percent && a.Value > 1 || a.Col < 1) {
					t.Fatalf("%+v", a)
				}
			}
		}
	})
}

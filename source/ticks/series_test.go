package ticks

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/homenode/numa"
)

const batch = `"(PDH-CSV 4.0) (UTC)(0)","\\esx01\Memory\Free MBytes","\\esx01\Numa Node(0)\% Processor Time","\\esx01\Numa Node(1)\% Processor Time"
"11/21/2026 20:30:00","1024","10","20"
"11/21/2026 20:30:05","1023","30","40"
`

const info = `|Server|TimeStampInUsec,U64|Time,S64|
|SchedGroup|GroupID,U32|IsVM,B|VMName,STR|
`

// answer is a FetchStats of a host that started 1000 s before the first, after n seconds.
func answer(n int) string {
	return fmt.Sprintf("==NUM-OF-OBJ==\n|Server|Sched,1|\n==COUNTER-VALUE==\n|Server|%d|%d|\n|SchedGroup|7|1|db|\n", (1000+n)*1_000_000, 1_795_293_000+n)
}

const (
	clientsHead = "groupName groupID clientID homeNode affinity nWorlds vmmWorlds localMem remoteMem currLocal cummLocal\n"
	pnodeHead   = "nodeID used idle entitled owed loadAvgPct nVcpu freeMem totalMem\n"
	cnodeHead   = "groupName groupID clientID nodeID time timePct memory memoryPct\n"
)

// one round of the three tables.
const round1 = clientsHead + "vm.1 11 0 0 3 4 4 1024 0 100 100\nvm.2 12 0 0 3 2 2 2048 0 100 100\nvm.2 12 1 1 3 2 2 1024 1024 50 50\n" +
	cnodeHead + "vm.1 11 0 0 1 100 1024 100\n" + pnodeHead + "0 5000 15000 1 0 20 4 4096 65536\n1 1000 19000 1 0 5 2 8192 65536\n"

// show returns a tick in a line.
func show(t *numa.Tick) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s +%v", t.Host, t.Time.Format("2006-01-02T15:04:05"), t.Since)
	if t.Has&numa.HasFree != 0 {
		fmt.Fprintf(&b, " free %v", t.Free)
	}
	for _, n := range t.Nodes {
		fmt.Fprintf(&b, " node%d", n.ID)
		if n.Has&numa.HasFree != 0 {
			fmt.Fprintf(&b, " %v/%v", n.Free, n.Total)
		}
		if busy, ok := n.Busy(); ok {
			fmt.Fprintf(&b, " %.2f", busy)
		}
	}
	for _, v := range t.VMs {
		fmt.Fprintf(&b, " | %d %s", v.GID, v.Name)
		for _, c := range []struct {
			has  numa.Counters
			text string
		}{
			{numa.HasHomes, "home " + v.Homes.String()}, {numa.HasMemory, fmt.Sprintf("%d+%d", v.Local/numa.KiB, v.Remote/numa.KiB)},
			{numa.HasPercent, fmt.Sprintf("%d%%", v.Percent)}, {numa.HasMoves, fmt.Sprintf("moves %d", v.Moves.All)},
			{numa.HasSize, fmt.Sprintf("size %v", v.Size)}, {numa.HasConsumed, fmt.Sprintf("consumed %v", v.Consumed)},
			{numa.HasGranted, fmt.Sprintf("granted %v", v.Granted)}, {numa.HasActive, fmt.Sprintf("active %v", v.Active)},
		} {
			if v.Has&c.has != 0 {
				b.WriteString(" " + c.text)
			}
		}
		if v.VCPUs > 0 {
			fmt.Fprintf(&b, " vcpus %d", v.VCPUs)
		}
		for _, n := range v.OnNode {
			fmt.Fprintf(&b, " on%d %d/", n.Node, n.Guest/numa.KiB)
			if n.Overhead < 0 {
				b.WriteString("-")
			} else {
				fmt.Fprint(&b, int64(n.Overhead/numa.KiB))
			}
		}
	}
	return b.String()
}

// read reads a text as one stream.
func read(name, in string, opt Options) (lines []string, f *File, err error) {
	f, err = Read(context.Background(), name, strings.NewReader(in), opt, func(t *numa.Tick) error {
		lines = append(lines, show(t))
		return nil
	})
	return lines, f, err
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

const noTime = ": found outputs without a time: print one with date -u before each round of commands, put it into the name of the file " +
	"(clients-20261121T203000Z.txt), or say when the first was taken and how far apart they are (--start '2026-11-21 20:30' --interval 60s)"

const noInfo = "found FetchStats without CounterInfo: what the columns are differs by release; save the answer to CounterInfo of the same host before it in the file, or beside it in the folder"

const hostOf = ": the output does not name its host: it is called %s after the file"

// TestRead reads one stream of each kind.
func TestRead(t *testing.T) {
	const date1, date2 = "Sat Nov 21 20:30:00 UTC 2026\n", "Sat Nov 21 20:31:00 UTC 2026\n"
	const nodes1 = "node0 4 MB/64 MB 0.25 node1 8 MB/64 MB 0.05"
	const vms1 = " | 11 vm.1 home 0 1024+0 100% vcpus 4 on0 1024/- | 12 vm.2 home 0,1 3072+1024 vcpus 4"
	start := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	const screen = "%spm up 3 days 5:58, 806 worlds, 1 VMs, 10 vCPUs; MEM overcommit avg: 0.00, 0.00, 0.00\n" +
		"PMEM  /MB: 130961   total: 3060     vmk,9120 other, 118780 free\nNUMA  /MB: 65423 (54748), 65536 (63647)\n\n" +
		"     GID NAME                  NHN NMIG     NRMEM     NLMEM N%%L GST_ND0  OVD_ND0\n" +
		" 1899386 db01                    0    3      0.00   8906.00 100 8906.00   103.00\n"
	two := fmt.Sprintf(screen, "11:59:50") + fmt.Sprintf(strings.Replace(screen, "pm", "am", 1), "12:00:10")
	const shown = "free 116.0 GB node0 53.5 GB/63.9 GB node1 62.2 GB/64 GB | 1899386 db01 home 0 9119744+0 100%"
	for _, tt := range []struct {
		name, file, in string
		opt            Options
		ticks          []string
		format         string
		warnings       []string
		err            string
	}{
		{"batch", "a.csv", batch, Options{}, []string{"esx01 2026-11-21T20:30:00 +0s free 1 GB node0 0.10 node1 0.20", "esx01 2026-11-21T20:30:05 +5s free 1023 MB node0 0.30 node1 0.40"}, Batch, nil, ""},
		{"another host name", "a.csv", batch, Options{Host: "x"}, []string{"x 2026-11-21T20:30:00 +0s free 1 GB node0 0.10 node1 0.20", "x 2026-11-21T20:30:05 +5s free 1023 MB node0 0.30 node1 0.40"}, Batch, []string{"a.csv:2:1: found host esx01: it is called x, as --host-name says"}, ""},
		{"gzip", "a.csv.gz", packed(t, batch), Options{}, []string{"esx01 2026-11-21T20:30:00 +0s free 1 GB node0 0.10 node1 0.20", "esx01 2026-11-21T20:30:05 +5s free 1023 MB node0 0.30 node1 0.40"}, Batch, nil, ""},
		{"FetchStats", "esx02.dsv", info + answer(0) + answer(5), Options{}, []string{"esx02 2026-11-21T20:30:00 +0s | 7 db", "esx02 2026-11-21T20:30:05 +5s | 7 db"}, Answers,
			[]string{"esx02.dsv: FetchStats does not name its host: it is called esx02 after the file"}, ""},
		{"FetchStats of a named host", "-", info + answer(0), Options{Host: "h"}, []string{"h 2026-11-21T20:30:00 +0s | 7 db"}, Answers, nil, ""},
		{"FetchStats in UTF-16", "-", utf16le(info + answer(0)), Options{Host: "h"}, []string{"h 2026-11-21T20:30:00 +0s | 7 db"}, Answers, nil, ""},
		{"a loop in UTF-16", "-", utf16le(date1 + round1), Options{Host: "h"}, []string{"h 2026-11-21T20:30:00 +0s " + nodes1 + vms1}, Commands, nil, ""},
		{"batch in UTF-16", "-", utf16le(batch), Options{}, []string{"esx01 2026-11-21T20:30:00 +0s free 1 GB node0 0.10 node1 0.20", "esx01 2026-11-21T20:30:05 +5s free 1023 MB node0 0.30 node1 0.40"}, Batch, nil, ""},
		{"a loop", "-", "[root@esx03:~] while sleep 60; do date; sched-stats -t numa-clients; done\n" + date1 + round1 + date2 + round1, Options{},
			[]string{"esx03 2026-11-21T20:30:00 +0s " + nodes1 + vms1, "esx03 2026-11-21T20:31:00 +1m0s " + nodes1 + vms1}, Commands, nil, ""},
		{"a loop that names no host", "esx04.txt", date1 + round1, Options{}, []string{"esx04 2026-11-21T20:30:00 +0s " + nodes1 + vms1}, Commands, []string{"esx04.txt:2" + fmt.Sprintf(hostOf, "esx04")}, ""},
		{"no time", "f", round1, Options{Host: "h"}, nil, Commands, nil, "f:1" + noTime},
		{"an interval", "f", round1 + round1, Options{Host: "h", Start: start, Interval: time.Minute},
			[]string{"h 2026-11-21T08:00:00 +0s " + nodes1 + vms1, "h 2026-11-21T08:01:00 +1m0s " + nodes1 + vms1}, Commands, nil, ""},
		{"a time of the first", "c-20261121T0900.txt", round1, Options{Host: "h", Start: start}, []string{"h 2026-11-21T08:00:00 +0s " + nodes1 + vms1}, Commands, nil, ""},
		{"a time of the first of two", "c-20261121T0900.txt", round1 + round1, Options{Host: "h", Start: start}, []string{"h 2026-11-21T08:00:00 +0s " + nodes1 + vms1}, Commands, nil,
			"c-20261121T0900.txt:10: found a second output without a time, and --start is that of the first alone: say how far apart they are (--interval 60s)"},
		{"a time in the name", "c-20261121T0900.txt", round1, Options{Host: "h"}, []string{"h 2026-11-21T09:00:00 +0s " + nodes1 + vms1}, Commands,
			[]string{"c-20261121T0900.txt:1: the time is that in the name of the file, read as UTC"}, ""},
		{"a second round without a time", "c-20261121T0900.txt", round1 + round1, Options{Host: "h"}, []string{"h 2026-11-21T09:00:00 +0s " + nodes1 + vms1}, Commands,
			[]string{"c-20261121T0900.txt:1: the time is that in the name of the file, read as UTC"}, "c-20261121T0900.txt:10" + noTime},
		{"screens past midnight", "s-2026-11-21.txt", two, Options{Host: "h"},
			[]string{"h 2026-11-21T23:59:50 +0s " + shown + " on0 9119744/105472", "h 2026-11-22T00:00:10 +20s " + shown + " on0 9119744/105472"}, Commands,
			[]string{"s-2026-11-21.txt:1: the screen shows the time without a day: it is that in the name of the file; the clock is read as UTC",
				"s-2026-11-21.txt:6: NMIG counts since the refresh before, which need not be the screen before: it is not used (and 1 more of this kind)"}, ""},
		{"refreshes", "f", two, Options{Host: "h", Start: start, Interval: time.Second},
			[]string{"h 2026-11-21T23:59:50 +0s " + shown + " moves 3 on0 9119744/105472", "h 2026-11-22T00:00:10 +20s " + shown + " moves 3 on0 9119744/105472"}, Commands, nil, ""},
		{"a clock without a day", "f", two, Options{Host: "h"}, nil, Commands, nil, "f:1" + noTime},
		{"nodes alone", "f", date1 + pnodeHead + "0 1 1 1 0 20 4 4096 65536\n1 1 3 1 0 5 2 8192 65536\n", Options{Host: "h"},
			[]string{"h 2026-11-21T20:30:00 +0s node0 4 MB/64 MB 0.50 node1 8 MB/64 MB 0.25"}, Commands, nil, ""},
		{"a round without VMs", "f", date1 + round1 + date2 + pnodeHead + "0 1 1 1 0 20 4 4096 65536\n", Options{Host: "h"}, []string{"h 2026-11-21T20:30:00 +0s " + nodes1 + vms1}, Commands,
			[]string{"f:12: the outputs of 2026-11-21T20:31:00Z list no VMs, others do: left out"}, ""},
		{"cut at the beginning", "f", round1 + date1 + round1, Options{Host: "h"}, []string{"h 2026-11-21T20:30:00 +0s " + nodes1 + vms1}, Commands,
			[]string{"f:1: found outputs before the first date: left out, as each date stands before its outputs"}, ""},
		{"dates behind", "f", round1 + date1 + round1 + date2, Options{Host: "h"}, nil, Commands,
			[]string{"f:1: found outputs before the first date: left out, as each date stands before its outputs"},
			"f:1: found outputs before the first date and a date behind the last output: each date has to stand before its outputs"},
		{"two hosts behind one date", "f", date1 + clientsHead + "vm.1 11 0 0 3 4 4 1024 0 100 100\n" + clientsHead + "vm.9 19 0 0 3 4 4 1024 0 100 100\n", Options{Host: "h"},
			[]string{"h 2026-11-21T20:30:00 +0s | 11 vm.1 home 0 1024+0 100% vcpus 4"}, Commands,
			[]string{"f:4: found sched-stats -t numa-clients twice behind one date: the second is left out; outputs of several hosts have to be in files of their own, or behind prompts that name the host"}, ""},
		{"two hosts with prompts", "f", date1 + "[root@a:~] sched-stats -t numa-clients\n" + clientsHead + "vm.1 11 0 0 3 4 4 1024 0 100 100\n[root@b:~] sched-stats -t numa-clients\n" + clientsHead + "vm.9 19 0 0 3 4 4 1024 0 100 100\n", Options{},
			[]string{"a 2026-11-21T20:30:00 +0s | 11 vm.1 home 0 1024+0 100% vcpus 4", "b 2026-11-21T20:30:00 +0s | 19 vm.9 home 0 1024+0 100% vcpus 4"}, Commands, nil, ""},
		{"a date of many meanings", "f", "Sat Nov 21 20:30:00 CET 2026\n" + round1, Options{Host: "h"}, nil, Commands, nil,
			"f:1: found a date in the time zone CET, which stands for several or changes with the season: print dates with date -u"},
		{"a date without a zone", "f", "2026-11-21 20:30:00\n" + clientsHead, Options{Host: "h"}, []string{"h 2026-11-21T20:30:00 +0s"}, Commands, []string{"f:1: the date states no time zone: UTC is assumed"}, ""},
		{"memstats", "f", "VIRTUAL MACHINE STATS: Fri Apr 14 05:45:52 2017\n   Unit             : MB\n name memSize allocTgt consumed mapped touched\n vm.78864 32768 14502 13184 13186 12779\n", Options{Host: "h"},
			[]string{"h 2017-04-14T05:45:52 +0s | -1 vm.78864 size 32 GB consumed 12.9 GB granted 12.9 GB active 12.5 GB"}, Commands, nil, ""},
		{"memstats and clients", "f", date1 + clientsHead + "vm.1 11 0 0 3 4 4 1024 0 100 100\nVIRTUAL MACHINE STATS: Fri Apr 14 05:45:52 2017\n name memSize\n vm.1 2048\n vm.5 1024\n", Options{Host: "h"},
			[]string{"h 2026-11-21T20:30:00 +0s | 11 vm.1 home 0 1024+0 100% size 2 MB vcpus 4 | -1 vm.5 size 1 MB"}, Commands, nil, ""},
		{"nothing", "f", "", Options{}, nil, "", nil, "f: unknown format: found no text, want " + Want},
		{"a poem", "f", "roses\n", Options{}, nil, "", nil, `f: unknown format: found "roses", want ` + Want},
		{"other output", "f", "CPU Packages: 2\nCPU Cores: 20\n", Options{}, nil, "", nil, `f: unknown format: found "CPU Packages: 2", want ` + Want},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ticks, f, err := read(tt.file, tt.in, tt.opt)
			if !slices.Equal(ticks, tt.ticks) || f.Format != tt.format || !slices.Equal(f.Warnings, tt.warnings) || said(err) != tt.err {
				t.Errorf("%s: %v\n got %s\nwant %s\n got %q\nwant %q", f.Format, err, strings.Join(ticks, "\n     "), strings.Join(tt.ticks, "\n     "), f.Warnings, tt.warnings)
			}
			if f.Name != tt.file || f.Ticks != len(tt.ticks) || errors.Is(err, ErrUnknown) != (tt.format == "") {
				t.Errorf("%+v", f)
			}
		})
	}
}

func TestFileOfRead(t *testing.T) {
	_, f, err := read("a.csv", batch, Options{})
	first := time.Date(2026, 11, 21, 20, 30, 0, 0, time.UTC)
	if err != nil || !slices.Equal(f.Hosts, []string{"esx01"}) || !f.First.Equal(first) || !f.Last.Equal(first.Add(5*time.Second)) {
		t.Errorf("%+v, %v", f, err)
	}
	stop := errors.New("stop")
	if _, err := Read(context.Background(), "a.csv", strings.NewReader(batch), Options{}, func(*numa.Tick) error { return stop }); err != stop {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, in := range []string{batch, strings.Split(batch, "\n")[0] + "\n" + strings.Repeat("no row\n", 100)} { // a file without ticks ends too
		if _, err := Read(ctx, "a.csv", strings.NewReader(in), Options{}, func(*numa.Tick) error { return nil }); err != context.Canceled {
			t.Error(err)
		}
	}
}

// TestTooManyVMs refuses a moment of more VMs than a host runs, in whatever format, before each of them takes memory in what reads the ticks.
func TestTooManyVMs(t *testing.T) {
	var screen strings.Builder
	screen.WriteString(" 9:15:01am up 12 days  1:02, 950 worlds, 3 VMs, 28 vCPUs; MEM overcommit avg: 0.00, 0.01, 0.02\n     GID NAME                  MEMSZ   NHN NMIG     NRMEM     NLMEM N%L\n")
	for i := range numa.MaxHostVMs + 1 {
		fmt.Fprintf(&screen, "%8d %-20s 65536.00     1    3   1024.00  31744.00  96\n", 40000+i, fmt.Sprint("db", i))
	}
	_, err := Read(t.Context(), "screen.txt", strings.NewReader(screen.String()), Options{Start: time.Unix(1e9, 0), Interval: time.Minute}, func(*numa.Tick) error {
		t.Error("a tick was passed on")
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "found 8193 VMs of one moment, want at most 8192") {
		t.Errorf("Read: %.300v", err)
	}
}

// utf16le is ASCII as PowerShell writes it.
func utf16le(s string) string {
	b := []byte{0xff, 0xfe}
	for i := range len(s) {
		b = append(b, s[i], 0)
	}
	return string(b)
}

func packed(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"esx01-fetchstats-20261121T203044.dsv": "esx01", "fetchstats.3": "", "counterinfo.dsv.gz": "", "esx01_counterInfo.txt": "esx01",
		"FetchStats_esx07.example.com.txt": "esx07.example.com", "a/b/esxtop-fetch-stats-0001.log": "",
	} {
		if got := hostKey(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	at := func(h, m, s int) time.Time { return time.Date(2026, 11, 21, h, m, s, 0, time.UTC) }
	for in, want := range map[string]time.Time{
		"a-20261121T203044Z.txt": at(20, 30, 44), "a_2026-11-21_20-30.txt": at(20, 30, 0), "2026-11-21.txt": at(0, 0, 0), "a-20261131.txt": {}, "1202611211.txt": {}, "esx01.txt": {},
		"2026.11.21 20:30:44": at(20, 30, 44),
	} {
		if got, _ := nameStamp(in); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", in, got, want)
		}
	}
	for in, want := range map[string]time.Duration{"2:06:59pm": 14*time.Hour + 6*time.Minute + 59*time.Second, "12:00am": 0, "12:30pm": 12*time.Hour + 30*time.Minute, "23:59": 23*time.Hour + 59*time.Minute} {
		if got, ok := clockOf(in); !ok || got != want {
			t.Errorf("%s: %v, %v", in, got, ok)
		}
	}
	for _, in := range []string{"", "24:00", "13:00pm", "0:30am", "1:60"} {
		if got, ok := clockOf(in); ok {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{batch, info + answer(0) + answer(5), "Sat Nov 21 20:30:00 UTC 2026\n" + round1, "2026-11-21 20:30:00\n" + pnodeHead} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		last := map[string]time.Time{}
		file, err := Read(context.Background(), "f-20261121.txt", strings.NewReader(in), Options{}, func(tick *numa.Tick) error {
			if before, ok := last[tick.Host]; ok && tick.Time.Before(before) {
				t.Fatalf("%s: %v after %v", tick.Host, tick.Time, before)
			}
			last[tick.Host] = tick.Time
			return nil
		})
		if err == nil && file.Format == "" || err != nil && err.Error() == "" {
			t.Fatalf("%+v, %v", file, err)
		}
	})
}

// TestGroupOfAnotherVM checks that a VM is not named as the one that had its scheduler group
// before: a host that was started again counts groups from the beginning.
func TestGroupOfAnotherVM(t *testing.T) {
	const screen = "     GID NAME                NHN NMIG     NRMEM     NLMEM N%L GST_ND0  OVD_ND0  GST_ND1  OVD_ND1\n" +
		"      11 web                   0    0      0.00      1.00 100    1.00     0.00     0.00     0.00\n"
	client := func(name string) string { return clientsHead + name + " 11 0 0 3 4 4 1024 0 100 100\n" }
	at := func(minute int) string { return fmt.Sprintf("2026-11-21T20:%02d:00Z\n", minute) }
	in := at(30) + client("vm.1") + at(31) + screen + at(32) + client("vm.1") + at(33) + client("vm.2") + at(34) + screen + at(35) + strings.ReplaceAll(screen, "web", "sql")
	var got []string
	_, err := Read(t.Context(), "a.txt", strings.NewReader(in), Options{Host: "a"}, func(k *numa.Tick) error {
		for _, v := range k.VMs {
			got = append(got, fmt.Sprintf("%s %d %s", k.Time.Format("15:04"), v.GID, v.Name))
		}
		return nil
	})
	want := []string{"20:30 11 vm.1", "20:31 11 vm.1", "20:32 11 vm.1", "20:33 11 vm.2", "20:34 11 vm.2", "20:35 11 sql"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the VMs are %q, %v\nwant %q", got, err, want)
	}
}

// Without answers CounterInfo tells nothing.
func TestCounterInfoAlone(t *testing.T) {
	_, _, err := read("a.txt", info, Options{Host: "a"})
	want := "a.txt: found CounterInfo alone: FetchStats is missing, which holds the values; it may stand behind it or in a file beside it"
	if said(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

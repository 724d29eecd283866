package benchmark

import (
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/measured"
)

// A formatReader detects and parses one format.
type formatReader struct {
	name   string // as Detect returns it
	is     func(head []byte) bool
	read   func(*reader) error
	listed string // the tool, for messages; empty when it is already listed
}

// formats lists the formats; the first match is used.
var formats = []formatReader{
	{string(numa.ByMeasure), measured.Detect, readMeasured, "homenode measure"},
	{watched, measured.DetectWatch, readWatched, ""},
	{"fio JSON", isFio, readFio, "fio (JSON)"},
	{"Intel MLC", mlcLine.Match, readMLC, "Intel MLC"},
	{"multichase", multichaseLine.Match, readMultichase, "multichase"},
	{"HCIBench", isHCIBench, readHCIBench, "HCIBench"},
	{"Iometer results.csv", iometerLine.Match, readIometer, "Iometer"},
	{"HammerDB", hammerLine.Match, readHammerDB, "HammerDB"},
	{"sp_BlitzFirst waits", isWaits, readWaits, "sp_BlitzFirst"},
	{"PassMark YAML", passmarkYAML.Match, readPassMarkYAML, "PassMark"},
	{"PassMark", isPassMark, readPassMark, ""},
}

var (
	mlcLine = pattern.Of(`(?m)^.{0,40}Intel\(R\) Memory Latency Checker - v|` +
		`^[ \t]*(Measuring (idle latencies.*\.\.\.|Loaded Latencies for the system|Peak Injection Memory Bandwidths|Maximum Memory Bandwidths|Memory Bandwidths between nodes|cache-to-cache transfer latency)|` +
		`Each iteration took [0-9.]+ (core|base frequency) clocks)`)
	// The plain output of multichase is only a number, which identifies nothing: only the output of
	// -v and of multiload is detected.
	multichaseLine = pattern.Of(`(?m)^(samples \(one column per thread, one row per sample\):|Samples[ \t]*,[ \t]*Byte/thd[ \t]*,[ \t]*ChaseThds)`)
	iometerLine    = pattern.Of(`(?m)^'(Test Type,Test Description|Target Type,Target Name,Access Specification Name)`)
	hammerLine     = pattern.Of(`(?mi)^hammerdb log @|TEST RESULT : System achieved |^Vuser \d+:.*(Virtual Users configured|query set\(s\) in|Geometric mean of query times)`)
	passmarkYAML   = pattern.Of(`(?m)^[ \t]*(SUMM_CPU|SUMM_ME|CPU_INTEGER_MATH|ME_ALLOC_S):[ \t]*[0-9]`)
)

// Detect detects the format from the start of a file (text.HeadSize bytes are enough), decoded to
// UTF-8 with LF. The formats are those that Read parses.
func Detect(head []byte) (format string, ok bool) {
	for _, f := range formats {
		if f.is(head) {
			return f.name, true
		}
	}
	return "", false
}

// tools lists the tools for messages.
func tools() string {
	var names []string
	for _, f := range formats {
		if f.listed != "" {
			names = append(names, f.listed)
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

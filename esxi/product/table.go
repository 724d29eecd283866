package product

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// Page is the table of limits with its sources, in Markdown.
//
//go:embed limits.md
var Page string

// A Row of the table holds the limits of some versions and editions; 0 means none.
type Row struct {
	Family      string
	Versions    []string // nil for all
	Editions    []string // nil for all
	Supported   bool     // exceeding the limit is unsupported, but works
	Sockets     int
	Processors  int
	Memory      numa.Bytes // largest buffer pool of an instance
	Node        int        // most processors of a NUMA node
	Refuses     string     // the update from which it does not start with more in a node: CU11
	HostSockets int
	Source      string // S1
}

// The families that have code of their own.
const (
	sqlServer     = "SQL Server"
	windows       = "Windows"
	windowsServer = "Windows Server"
	sapHANA       = "SAP HANA"
	oracle        = "Oracle Database"
	exchange      = "Exchange Server"
)

// rows is the table.
var rows = sync.OnceValue(func() []Row { return readTable(Page) })

// readTable parses the rows of the table of the page. It panics on a malformed page.
func readTable(page string) (out []Row) {
	page, _, _ = strings.Cut(page, "\n## SAP HANA") // it has a table of its own, hana.go
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| product ") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 11 {
			panic(fmt.Sprintf("limits.md: %q has %d cells, want 11", line, len(cells)))
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		list := func(cell string) []string {
			if cell == "" {
				return nil
			}
			return strings.Split(cell, ", ")
		}
		number := func(cell string) int {
			n, err := strconv.Atoi(cell)
			if err != nil && cell != "" {
				panic(fmt.Sprintf("limits.md: found %q, want a number", cell))
			}
			return n
		}
		size := func(cell string) numa.Bytes {
			n, err := unit.ParseSize(cell)
			if err != nil && cell != "" {
				panic("limits.md: " + err.Error())
			}
			return n
		}
		out = append(out, Row{Family: cells[0], Versions: list(cells[1]), Editions: list(cells[2]), Supported: cells[3] == "supported",
			Sockets: number(cells[4]), Processors: number(cells[5]), Memory: size(cells[6]), Node: number(cells[7]), Refuses: cells[8],
			HostSockets: number(cells[9]), Source: cells[10]})
	}
	return out
}

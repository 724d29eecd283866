package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/internal/words"
)

// An Unknown is the error for a file without a table of VMs or hosts; it describes the file.
type Unknown struct {
	Path, Found string
}

func (e *Unknown) Error() string { return e.Path + ": found " + e.Found }

// unknown describes the tables of an export if none is known.
func (x *export) unknown() error {
	if len(x.sheets) == 1 && x.form == "" {
		for in, found := range map[string]string{ // first things that a DBA has at hand
			`\Processor(`:            "a log of Windows Performance Monitor, which shows a guest alone: record the ESXi host with esxtop -b -a",
			"RAM.TotalSizeInMB":      "servers in the form of AWS Application Discovery Service, which does not name their hosts: want an export of the vCenter",
			"online_scheduler_count": "a table of sys.dm_os_nodes, which shows a guest alone: --evidence takes the output of Coreinfo or homenode measure beside a fleet",
		} {
			if strings.Contains(strings.Join(x.sheets[0].header, " "), in) {
				return &Unknown{x.path, found}
			}
		}
		return &Unknown{x.path, x.sheets[0].describe()}
	}
	if slices.ContainsFunc(x.sheets, func(s *sheet) bool { return len(s.header) > 0 && strings.HasPrefix(s.header[0], "(PDH-CSV") }) {
		return &Unknown{x.path, "a capture of esxtop in a workbook: save its sheet as CSV, and name that to homenode capture"}
	}
	form := cmp.Or(x.form, words.Plural(len(x.sheets), "file"))
	if len(x.sheets) == 0 {
		return &Unknown{x.path, "no tables"}
	}
	var each []string
	for _, s := range x.sheets[:min(len(x.sheets), maxListed)] {
		each = append(each, s.name+" has "+listed(s.header))
	}
	if more := len(x.sheets) - len(each); more > 0 {
		each = append(each, fmt.Sprintf("%d more", more))
	}
	return &Unknown{x.path, fmt.Sprintf("%s: %s; none is a table of VMs or hosts", form, strings.Join(each, "; "))}
}

// maxListed is the maximum number of names in a message.
const maxListed = 6

// listed lists the first columns.
func listed(header []string) string {
	var names []string
	for _, h := range header {
		if h = strings.TrimSpace(h); h != "" && h != memberKey {
			names = append(names, strings.Trim(quote(h), `"`))
		}
	}
	switch n := len(names); {
	case n == 0:
		return "no columns"
	case n > maxListed:
		return fmt.Sprintf("%d columns: %s …", n, strings.Join(names[:maxListed], ", "))
	default:
		return fmt.Sprintf("%s: %s", words.Plural(n, "column"), strings.Join(names, ", "))
	}
}

// describe describes the content of a file, and the columns that it lacks to be a table of VMs
// or hosts.
func (s *sheet) describe() string {
	if s.found != "" {
		return s.found
	}
	form := "a table with "
	if strings.HasSuffix(strings.ToLower(s.name), ".json") {
		form = "JSON whose objects have "
	}
	lacks := "no column names a VM or a host"
	if vmTable.fits(s.header) && hostTable.fits(s.header) {
		return form + listed(s.header) + "; they do not tell whether its rows are VMs or hosts: call the column of the names VM or Host"
	}
	if vmTable.identifies(s.header) || hostTable.identifies(s.header) {
		lacks = "no column states vCPUs or memory of VMs, or sockets or cores of hosts, beside a column VM or Host"
	}
	return form + listed(s.header) + "; " + lacks
}

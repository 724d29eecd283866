package hostcmd

import (
	"bytes"
	"slices"
	"strings"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// commands are the commands recognised after a bare prompt.
var commands = []string{"sched-stats", "esxtop", "memstats", "vsish", "esxcli", "localcli", "vmware", "uname", "vmdumper", "df"}

// starts are the first lines of outputs, or lines unique to them. The first match decides.
var starts = []struct {
	format string
	line   *pattern.Pattern
	// many reports that the line occurs more than once in one output.
	many bool
}{
	{NUMAClients, pattern.Of(`(?i)^groupName\s+groupID\s+clientID\s+homeNode\b`), false},
	{NUMACNode, pattern.Of(`(?i)^groupName\s+groupID\s+clientID\s+nodeID\b`), false},
	{NUMAPNode, pattern.Of(`(?i)^nodeID\s+used\s+idle\b`), false},
	{NCPUs, pattern.Of(`^\d+ (?:PCPUs?|packages?|NUMA nodes?)$`), true},
	{NUMAMigration, pattern.Of(`^(?:group\w*\s.*)?\b(?:balanceMig|localityMig|loadMigration|longTermFairnessMig)\b`), true},
	{EsxtopMemory, pattern.Of(`\bup\b.* worlds,.*MEM overcommit avg`), false},
	{EsxtopMemory, pattern.Of(`^(?:COSMEM|PMEM|VMKMEM|NUMA|PSHARE|SWAP|ZIP|MEMCTL)\s*/MB:`), false},
	{EsxtopMemory, pattern.Of(`^(?:\w+ )*NAME\s.*\bNHN\s+NMIG\b`), false},
	{Memstats, pattern.Of(`^[A-Z][A-Z ]+ STATS: \w+ \w+ +\d+ `), false},
	{Vsish, pattern.Of(`^(?:CPU global information|Memory information|NUMA (?:node|client)[\w ]*|[\w ]*[Ss]tats) \{$`), false},
	{CPUGlobal, pattern.Of(`^CPU Packages: \d+$`), false},
	{HardwareMem, pattern.Of(`^Physical Memory: \d+(?: Bytes)?$`), false},
	{PCIList, pattern.Of(`^(?:Address: )?[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`), true},
	{Platform, pattern.Of(`^Platform Information$`), false},
	{VersionGet, pattern.Of(`^Product: VMware ESX`), false},
	{CoredumpFiles, pattern.Of(`^Path\s+Active\s+Configured\s+Size$`), false},
	{CoredumpGet, pattern.Of(`^(?:Active|Configured): /vmfs/.*\.dumpfile$`), true},
	{Vmdumper, pattern.Of(`^wid=\d+\s.*\bcfgFile="`), true},
	{Volumes, pattern.Of(`^Filesystem\s+Size\s+Used\s+Available\s+Use%\s+Mounted on$`), false},
	{AdvancedList, pattern.Of(`^Path: /[A-Za-z]\w*/\w+$`), true},
	{KernelList, pattern.Of(`^Name\s+Type\s+(?:Description\s+)?Configured\s+Runtime\s+Default\b`), false},
	{VMwareVersion, pattern.Of(`^VMware ESXi? \d+\.\d+\.\d+ build-\d+`), false},
	{Uname, pattern.Of(`^VMkernel \S+ \d+\.\d+\.\d+ #\d+ `), false},
}

// formOf returns the format that may begin with a line, or empty; many reports that the line occurs
// more than once in one output.
func formOf(l string) (format string, many bool) {
	for _, s := range starts {
		if s.line.MatchString(l) {
			return s.format, s.many
		}
	}
	return "", false
}

// vsishPath is the path of a vsish command.
var vsishPath = pattern.Of(`^/\S*`)

// formatOfCommand returns the output format of a command, or empty when the lines must decide:
// uname runs on other systems too.
func formatOfCommand(p text.Prompt) string {
	words := strings.Fields(p.Command)
	switch p.Name() {
	case "sched-stats":
		for _, kind := range []string{NUMAClients, NUMAPNode, NUMACNode, NCPUs, NUMAMigration} {
			if slices.Contains(words, kind[len("sched-stats -t "):]) {
				return kind
			}
		}
	case "vsish":
		if slices.ContainsFunc(words, vsishPath.MatchString) {
			return Vsish
		}
	case "memstats":
		return Memstats
	case "esxtop":
		return EsxtopMemory
	case "esxcli", "localcli":
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") })
		said := strings.Join(words, " ")
		for _, kind := range []string{CPUGlobal, HardwareMem, PCIList, Platform, VersionGet, CoredumpFiles, CoredumpGet, AdvancedList, KernelList} {
			if strings.HasPrefix(said, kind[len("esxcli "):]) {
				return kind
			}
		}
	}
	return ""
}

// jsonForms distinguish the outputs of esxcli --formatter=json by their keys.
var jsonForms = []struct {
	format string
	keys   []string // in normal form
}{
	{CPUGlobal, []string{"cpupackages", "cputhreads"}},
	{HardwareMem, []string{"physicalmemory", "numanodecount"}},
	{PCIList, []string{"address", "vendorname", "devicename"}},
	{CoredumpFiles, []string{"path", "active", "configured", "size"}},
	{AdvancedList, []string{"path", "defaultintvalue"}},
	{KernelList, []string{"name", "configured", "runtime"}},
	{VersionGet, []string{"product", "version", "build"}},
	{CoredumpGet, []string{"active", "configured"}},
}

// normal normalises a name for comparing keys: no blanks, lower case, no percent sign.
func normal(s string) string {
	return strings.ToLower(strings.TrimSuffix(strings.Join(strings.Fields(s), ""), "%"))
}

// jsonKey is a key of a JSON object.
var jsonKey = pattern.Of(`"([A-Za-z][\w ]*)"\s*:`)

// jsonFormat returns the format of JSON text, determined by its keys.
func jsonFormat(s []byte) string {
	seen := map[string]bool{}
	for _, m := range jsonKey.Regexp().FindAllSubmatch(s, 400) {
		seen[normal(string(m[1]))] = true
	}
	for _, f := range jsonForms {
		if !slices.ContainsFunc(f.keys, func(k string) bool { return !seen[k] }) {
			return f.format
		}
	}
	return ""
}

// Detect returns the format of the first output in the start of a file, which is decoded text of up to 64 KiB.
func Detect(head []byte) (format string, ok bool) {
	for raw := range bytes.Lines(head) {
		line := strings.TrimRight(string(raw), "\r\n")
		if p, ok := text.CutPrompt(line, commands...); ok {
			if format := formatOfCommand(p); format != "" && format != EsxtopMemory {
				return format, true
			}
			continue
		}
		if format, _ := formOf(text.Trim(1, line).Text); format != "" {
			return format, true
		}
	}
	if body := bytes.TrimLeft(head, " \t\r\n"); len(body) > 0 && (body[0] == '{' || body[0] == '[') {
		format = jsonFormat(body)
	}
	return format, format != ""
}

// Finds reports whether an output of one of the formats begins in the start of a file, which is decoded text.
func Finds(head []byte, formats ...string) bool {
	for raw := range bytes.Lines(head) {
		line := strings.TrimRight(string(raw), "\r\n")
		if len(line) > longLine {
			continue
		}
		format, _ := formOf(text.Trim(1, line).Text)
		if slices.Contains(formats, format) {
			return true
		}
	}
	return false
}

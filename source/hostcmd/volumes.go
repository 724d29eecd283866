package hostcmd

import (
	"strconv"
	"strings"

	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// dumperField is one of the values of a VM in vmdumper -l: wid=2106141, cfgFile="…".
var dumperField = pattern.Of(`(\w+)=("[^"]*"|\S+)`)

// dumperNames are their names as facts.
var dumperNames = map[string]string{"wid": "world", "cfgFile": "configuration file", "uuid": "UUID", "displayName": "name", "vmxCartelID": "cartel"}

// readVmdumper parses a line for each running VM. Its cartel is the number after vm. in
// sched-stats, which does not name VMs.
func (o *Output) readVmdumper(lines []text.Line) {
	for _, l := range lines {
		if l.Text == "" {
			continue
		}
		fields := dumperField.Regexp().FindAllStringSubmatchIndex(l.Text, -1)
		value := func(at []int) text.Line {
			v := l.Part(at[4], at[5])
			if strings.HasPrefix(v.Text, `"`) {
				v = v.Part(1, len(v.Text)-1)
			}
			return v
		}
		subject := ""
		for _, at := range fields {
			if l.Text[at[2]:at[3]] == "displayName" {
				subject = "VM " + value(at).Text
			}
		}
		if subject == "" {
			o.strange(l)
			continue
		}
		for _, at := range fields {
			if name := dumperNames[l.Text[at[2]:at[3]]]; name != "" {
				v := value(at)
				o.file.Add(v.N, v.Col, subject, name, v.Text, "")
			}
		}
	}
}

var (
	volumeRow  = pattern.Of(`^(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\d+%|-)\s+(/.*)$`)
	volumeSize = pattern.Of(`^([\d.]+)([KMGTP]?)$`)
)

// readVolumes parses df -h, in which sizes are rounded and binary.
func (o *Output) readVolumes(lines []text.Line) {
	for _, l := range lines {
		v := l.Match(volumeRow)
		switch {
		case v == nil && (l.Text == "" || strings.HasPrefix(l.Text, "Filesystem")):
		case v == nil:
			o.strange(l)
		default:
			subject := "volume " + v[6].Text
			o.file.Add(v[1].N, v[1].Col, subject, "file system", v[1].Text, "")
			for i, name := range []string{"size", "used", "available"} {
				o.volumeSize(v[i+2], subject, name)
			}
		}
	}
}

func (o *Output) volumeSize(l text.Line, subject, name string) {
	m := volumeSize.FindStringSubmatch(l.Text)
	if m != nil {
		if n, err := strconv.ParseFloat(m[1], 64); err == nil {
			unit := "B"
			if m[2] != "" {
				unit = m[2] + "iB"
			}
			o.file.Add(l.N, l.Col, subject, name, n, unit)
			return
		}
	}
	o.file.Warn(l.N, l.Col, "%s of %s: found %q, want a size such as 119.8G", name, subject, text.Short(l.Text))
}

package hostcmd

import (
	"strconv"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

var (
	buildLine   = pattern.Of(`^VMware ESXi? (\d+\.\d+\.\d+) build-(\d+)`)
	productLine = pattern.Of(`^VMware ESXi? (\d+\.\d+(?:\.\d+)?(?: Update \d+)?)(?: GA)?$`)
	unameLine   = pattern.Of(`^VMkernel (\S+) (\d+\.\d+\.\d+) #\d+ .*\bbuild-(\d+)`)
)

// readVersion parses vmware -v, one line with the build, and -vl, where a second line names the
// update that the first may lack: up to 6.7 it always prints 6.7.0.
func (o *Output) readVersion(lines []text.Line) {
	for _, l := range lines {
		if m := buildLine.FindStringSubmatchIndex(l.Text); m != nil {
			o.release(l.Part(m[2], m[3]))
			o.build(l.Part(m[4], m[5]))
		} else if m := productLine.FindStringSubmatchIndex(l.Text); m != nil {
			o.release(l.Part(m[2], m[3]))
		} else if l.Text != "" {
			o.strange(l)
		}
	}
}

func (o *Output) readUname(lines []text.Line) {
	for _, l := range lines {
		m := unameLine.FindStringSubmatchIndex(l.Text)
		if m == nil {
			if l.Text != "" {
				o.strange(l)
			}
			continue
		}
		name := l.Part(m[2], m[3])
		o.Host.Name = name.Text
		o.file.Add(name.N, name.Col, "host", "name", name.Text, "")
		o.release(l.Part(m[4], m[5]))
		o.build(l.Part(m[6], m[7]))
	}
}

// release stores a release that is more precise than the previous one.
func (o *Output) release(l text.Line) {
	r, err := numa.ParseRelease(l.Text)
	if err != nil {
		o.file.Warn(l.N, l.Col, "release: %v", err)
		return
	}
	o.file.Add(l.N, l.Col, "host", "release", l.Text, "")
	if !o.Host.Release.Known() || r > o.Host.Release.Value {
		o.Host.Release = numa.ReadAt(r, text.Where(l.N, l.Col))
	}
}

func (o *Output) build(l text.Line) {
	n, err := strconv.Atoi(l.Text)
	if err != nil || n > 1<<30 {
		o.file.Warn(l.N, l.Col, "build: found %q, want a number", text.Short(l.Text))
		return
	}
	o.file.Add(l.N, l.Col, "host", "build", n, "")
	o.Host.Build = numa.ReadAt(n, text.Where(l.N, l.Col))
	if o.Host.Release.Known() {
		o.Host.Release.Value = o.Host.Release.Value.WithBuild(n)
	}
}

// Package dump answers how large a core dump becomes and which boot device holds it.
package dump

import (
	"fmt"
	"strings"

	"homenode/numa"
	"homenode/numa/unit"
	"homenode/output/answer"
	"homenode/output/size"
	"homenode/size/dump"
)

// Answer returns the answer how large the core dump file of a host is and what it leaves on
// the boot device. given names the flags that the user gave.
func Answer(q dump.Question, r *dump.Result, given map[string]bool) *answer.Answer {
	a := &answer.Answer{Command: "size dump", Question: question(q), Result: r}
	if r.Partition {
		a.Verdict = []string{fmt.Sprintf("ESXi %s keeps a core dump in a partition, not in a file: there is no file to size.", r.Release)}
		a.Note(partitionNotes(fmt.Sprintf("a host with %s of RAM", dump.Size(r.RAM)))...)
		if q.Boot != 0 {
			a.Note("What else is on --boot is not looked at: before 7.0 it is divided otherwise.")
		}
		a.NoDrawing = "there is no file to size before 7.0"
		a.Next = []string{fmt.Sprintf("homenode size dump --ram %s --release 8.0 --boot 32GB", flag(r.RAM))}
		return a
	}
	a.Assumed = assumed(q, r, given)
	a.Verdict = verdict(r)
	if r.Plan != nil {
		a.Tables = append(a.Tables, parts(r.Plan))
	}
	for i := range r.If {
		a.Changes = append(a.Changes, change(r, &r.If[i]))
	}
	a.Note(r.Notes...)
	size.AddCharts(a, charts(r)...)
	return a
}

// partitionNotes say what is known of releases before 7.0. The host is in words.
func partitionNotes(host string) []string {
	return []string{
		"Partitions before 7.0 are fixed: 110 MB, and 2.5 GB on devices above 3.4 GB (" + manual + ").",
		"Whether they hold the dump of " + host + " is not in the record. With 7.0 and 8.0 dumps took 111 to 4,710 MB (b-psods).",
	}
}

// manual is where VMware describes boot devices.
const manual = "VMware manual, ESXi System Storage"

// flag writes RAM as a flag takes it.
func flag(b numa.Bytes) string { return strings.ReplaceAll(b.String(), " ", "") }

func question(q dump.Question) string {
	s := fmt.Sprintf("size dump: a host with %s of RAM", dump.Size(q.RAM))
	if q.Release != 0 {
		s += ", ESXi " + q.Release.String()
	}
	if q.Boot != 0 {
		s += ", that boots from " + q.Boot.String()
	}
	return s
}

func assumed(q dump.Question, r *dump.Result, given map[string]bool) []answer.Assumption {
	f := &r.File
	file := answer.Figure("core dump file", f.Size, dump.Size.String)
	switch {
	case f.Size.Origin == unit.Measured:
		file.Note = "measured on " + strings.Join(f.From, ", ")
	case f.How == dump.Measured:
		file.Note = "one host, " + host(f.From[0]).Release.String()
	case f.How == dump.Interpolated:
		file.Note = between(host(f.From[0]), host(f.From[1]))
	default:
		file.Note = "extrapolated from " + where(f.From[0])
	}
	if f.OtherRelease {
		file.Note += fmt.Sprintf("; %s not measured", f.Release)
	}
	out := []answer.Assumption{file}
	if q.Release == 0 {
		out = append(out, answer.Assumption{What: "release", Value: "7.0 or later", Origin: unit.Assumed, Source: "no --release"})
	}
	if r.Plan != nil {
		l := &r.Plan.Layout
		out = append(out, answer.Assumption{What: "boot loader and banks", Value: fmt.Sprintf("101 MiB + 2 × %s", l.Bank), Origin: unit.Published, Source: "b-osdata; " + manual})
	}
	return append(out, needs(q.Needs, given)...)
}

// needs are the wishes that were given or are those of the published design.
func needs(n dump.Needs, given map[string]bool) []answer.Assumption {
	need := func(what, value, flag string) answer.Assumption {
		if given[flag] {
			return answer.Assumption{What: what, Value: value, Origin: unit.Given, Source: "--" + flag}
		}
		return answer.Assumption{What: what, Value: value, Origin: unit.Published, Source: "b-osdata"}
	}
	out := []answer.Assumption{need("kept free", n.Reserve.String()+" of ESX-OSData", "keep-free"), need("wanted for logs", n.Logs.String(), "logs")}
	if given["media"] {
		out = append(out, answer.Assumption{What: "systemMediaSize", Value: string(n.Media), Origin: unit.Given, Source: "--media, VMware KB 81166"})
	}
	return out
}

// where names a measured host by its RAM and release.
func where(name string) string {
	h := host(name)
	return fmt.Sprintf("%s (%s)", dump.Size(h.RAM), h.Release)
}

// between names two measured hosts, and their release once when it is the same.
func between(a, b *dump.Host) string {
	low := strings.TrimSuffix(dump.Size(a.RAM).String(), " GiB")
	if a.Release != b.Release {
		low += fmt.Sprintf(" (%s)", a.Release)
	}
	return fmt.Sprintf("%s to %s", low, where(b.Name))
}

// host returns a measured host by its name.
func host(name string) *dump.Host {
	for i := range dump.Hosts {
		if dump.Hosts[i].Name == name {
			return &dump.Hosts[i]
		}
	}
	panic("no measured host " + name)
}

// ranged writes a size with its range, if it has one.
func ranged(f unit.Figure[dump.Size]) string {
	if f.Low == f.High {
		return f.Value.String()
	}
	return fmt.Sprintf("%s (%s to %s)", f.Value, strings.TrimSuffix(f.Low.String(), " GiB"), f.High)
}

func verdict(r *dump.Result) []string {
	size := r.File.Size
	file := fmt.Sprintf("%s (%s decimal)", size.Value, size.Value.Decimal())
	if size.Low != size.High {
		file = "about " + ranged(size)
	}
	var out []string
	if p := r.Plan; p == nil {
		out = append(out, fmt.Sprintf("The core dump file takes %s.", file))
	} else {
		out = append(out, fmt.Sprintf("%s on %s: the core dump file takes %s.", title(p.Verdict), p.Layout.Boot, file), left(p))
	}
	need := "No boot device is large enough with this systemMediaSize."
	if r.LeastBoot != nil {
		need = fmt.Sprintf("A boot device of %s (%s decimal) is enough.", *r.LeastBoot, r.LeastBoot.Decimal())
	}
	if r.MostRAM != nil {
		need += fmt.Sprintf(" %s are enough for hosts of up to %s of RAM.", r.Plan.Layout.Boot, dump.Size(*r.MostRAM))
	}
	return append(out, need)
}

// title begins a sentence with the verdict.
func title(v dump.Verdict) string { return strings.ToUpper(string(v[:1])) + string(v[1:]) }

// left says what is left, or missing.
func left(p *dump.Plan) string {
	switch p.Verdict {
	case dump.DoesNotFit:
		return fmt.Sprintf("%s are missing: %s are usable.", -p.Left.Value, p.Usable)
	case dump.ShortLogs:
		return fmt.Sprintf("It leaves %s for logs and traces, less than the %s wanted.", p.Left.Value, p.Needs.Logs)
	}
	return fmt.Sprintf("It leaves %s for logs and traces.", ranged(p.Left))
}

// parts lists what is on the boot device.
func parts(p *dump.Plan) answer.Table {
	t := answer.Table{Name: "parts", Columns: size.Columns("part", ">size", ">of the device", "what")}
	l := &p.Layout
	row := func(name string, s dump.Size, what string) {
		share := "–"
		if s >= 0 {
			share = unit.Share(s / l.Boot).String()
		}
		t.Add(name, s.String(), share, what)
	}
	row("boot loader", l.Loader, "")
	row("boot banks", 2*l.Bank, "2 × "+l.Bank.String())
	row("ESX-OSData", l.OSData, "of it:")
	row("  core dump file", p.File.Size.Value, p.File.How)
	row("  kept free", p.Reserve, p.Needs.Reserve.String())
	row("  logs and traces", p.Left.Value, string(p.Verdict))
	if l.Rest > 0 {
		what := "not used: too small for a datastore"
		if l.Datastore() {
			what = "VMFS datastore"
		}
		row("rest", l.Rest, what)
	}
	return t
}

func change(r *dump.Result, o *dump.Otherwise) answer.Change {
	c := answer.Change{If: o.What, Result: "file " + ranged(o.File.Size)}
	if o.Plan == nil {
		c.Change = signed(o.File.Size.Value - r.File.Size.Value)
		return c
	}
	c.Result = fmt.Sprintf("file %s, left %s: %s", o.File.Size.Value, o.Plan.Left.Value, o.Plan.Verdict)
	c.Change = signed(o.Plan.Left.Value - r.Plan.Left.Value)
	return c
}

func signed(s dump.Size) string {
	if s > 0 {
		return "+" + s.String()
	}
	return s.String()
}

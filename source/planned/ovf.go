package planned

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/numa"
	"example.org/homenode/source/jsontree"
	"example.org/homenode/source/text"
)

// isOVF reports whether a file begins as a descriptor of the Open Virtualization Format.
func isOVF(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte("<")) && bytes.Contains(head, []byte("Envelope")) && bytes.Contains(head, []byte("schemas.dmtf.org/ovf/envelope"))
}

// isOVA reports whether a file begins as an archive whose first file is a descriptor.
func isOVA(head []byte) bool {
	name, _, _ := bytes.Cut(head[:min(len(head), 100)], []byte{0})
	return len(head) > 262 && bytes.HasPrefix(head[257:], []byte("ustar")) && bytes.HasSuffix(bytes.ToLower(name), []byte(".ovf"))
}

// readOVA reads the descriptor in an archive; the disks behind it are not read.
func readOVA(path string) (*numa.Fleet, error) {
	f, err := bounded.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := tar.NewReader(f)
	h, err := in.Next()
	if err == nil && h.Size > mostManifest {
		err = fmt.Errorf("%s has %d bytes, want %d at most", h.Name, h.Size, mostManifest)
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(bounded.Reader(in, mostManifest))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !isOVF(text.Decoded(data)) {
		return nil, fmt.Errorf("%s: found no descriptor in %s", path, h.Name)
	}
	return ReadBytes(path+"/"+filepath.Base(h.Name), data)
}

// ovfForm is a virtual system. The names are those of its items and of the extensions of VMware (the namespace vmw).
var ovfForm = &form{name: "OVF", whole: true, attributes: []attribute{
	{word: "vcpus", path: "VirtualQuantity of the processors"}, {word: "coresPerSocket", path: "CoresPerSocket"}, {word: "memory", path: "VirtualQuantity of the memory"},
	{word: "memoryReservation", path: "Reservation of the memory"}, {word: "cpuReservation", path: "Reservation of the processors"}, {word: "cpuLimit", path: "Limit of the processors"},
	{word: "memoryLimit", path: "Limit of the memory"},
	{word: "hw", path: "VirtualSystemType"}, {word: "hotAdd", path: "cpuHotAddEnabled"}, {word: "memoryHotAdd", path: "memoryHotAddEnabled"},
	{word: "firmware", path: "firmware"}, {word: "iommu", path: "flags.vvtdEnabled"}, {word: "guest", path: "osType"}, {word: wordSettings, path: "ExtraConfig"},
}}

// The parts of a descriptor that are read.
type (
	envelope struct {
		Options []struct {
			ID string `xml:"id,attr"`
		} `xml:"DeploymentOptionSection>Configuration"`
		Systems []system `xml:"VirtualSystem"`
		Within  []struct {
			Systems []system `xml:"VirtualSystem"`
		} `xml:"VirtualSystemCollection"`
	}
	system struct {
		ID string `xml:"id,attr"`
		OS struct {
			Type string `xml:"osType,attr"`
		} `xml:"OperatingSystemSection"`
		Hardware struct {
			Type   cell   `xml:"System>VirtualSystemType"`
			Items  []item `xml:"Item"`
			Config []pair `xml:"Config"`
			Extra  []pair `xml:"ExtraConfig"`
		} `xml:"VirtualHardwareSection"`
		Name      cell `xml:"Name"`
		line, col int
	}
	item struct {
		In             string `xml:"configuration,attr"` // names of deployment options; "" for all
		Type           cell   `xml:"ResourceType"`
		ID             cell   `xml:"InstanceID"`
		Units          cell   `xml:"AllocationUnits"`
		Quantity       cell   `xml:"VirtualQuantity"`
		Reservation    cell   `xml:"Reservation"`
		Limit          cell   `xml:"Limit"`
		CoresPerSocket cell   `xml:"CoresPerSocket"`
	}
	cell struct {
		Text      string
		line, col int
	}
	pair struct {
		Key       string `xml:"key,attr"`
		Value     string `xml:"value,attr"`
		line, col int
	}
)

// UnmarshalXML keeps where the text begins.
func (c *cell) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	c.line, c.col = d.InputPos()
	err := d.DecodeElement(&c.Text, &start)
	c.Text = strings.TrimSpace(c.Text)
	return err
}

// UnmarshalXML keeps where the element ends.
func (p *pair) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	type plain pair
	p.line, p.col = d.InputPos()
	return d.DecodeElement((*plain)(p), &start)
}

// UnmarshalXML keeps where the system begins.
func (s *system) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	type plain system
	s.line, s.col = d.InputPos()
	return d.DecodeElement((*plain)(s), &start)
}

// ovf reads a descriptor: each virtual system, once for each deployment option.
func (r *reader) ovf(data []byte) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(label string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("found the encoding %s, want UTF-8", text.Short(label))
	}
	var e envelope
	if err := d.Decode(&e); err != nil {
		line, col := d.InputPos()
		if bad, ok := errors.AsType[*xml.SyntaxError](err); ok {
			err = errors.New(bad.Msg)
		}
		return r.errorf(line, col, "%v", err)
	}
	systems := slices.Clone(e.Systems)
	for _, c := range e.Within {
		systems = append(systems, c.Systems...)
	}
	options := []string{""}
	if len(e.Options) > 0 {
		options = nil
		for _, o := range e.Options {
			options = append(options, o.ID)
		}
	}
	for i := range systems {
		for _, option := range options {
			if err := r.system(&systems[i], option); err != nil {
				return err
			}
		}
	}
	return nil
}

// system reads a virtual system in a deployment option.
func (r *reader) system(s *system, option string) error {
	name := cmp.Or(s.Name.Text, s.ID)
	if option != "" {
		name += " (" + option + ")"
	}
	v := r.newVM(ovfForm, name, s.line, s.col)
	processors, memory := s.item("3", option), s.item("4", option)
	take := func(path string, c cell) error {
		a := ovfForm.attributes[slices.IndexFunc(ovfForm.attributes, func(a attribute) bool { return a.path == path })]
		kind := jsontree.String
		if c.Text == "" {
			kind = jsontree.Null
		}
		return v.take(a, &jsontree.Value{Kind: kind, Text: c.Text, Line: c.line, Col: c.col})
	}
	size, err := r.size(memory)
	reserved, most := cell{}, cell{}
	if err == nil {
		reserved, err = r.share(memory.Reservation, memory)
	}
	if err == nil {
		most, err = r.share(memory.Limit, memory)
	}
	errs := []error{err, take("VirtualQuantity of the processors", processors.Quantity), take("CoresPerSocket", processors.CoresPerSocket),
		take("VirtualQuantity of the memory", size), take("Reservation of the processors", processors.mhz(processors.Reservation)), take("Limit of the processors", processors.mhz(processors.Limit)), take("Reservation of the memory", reserved), take("Limit of the memory", most)}
	// Of several versions, which older tools wrote, vSphere takes one that the host runs: unknown.
	versions := strings.FieldsFunc(s.Hardware.Type.Text, func(r rune) bool { return r == ' ' || r == ',' })
	if len(versions) == 1 && strings.HasPrefix(versions[0], "vmx-") {
		errs = append(errs, take("VirtualSystemType", s.Hardware.Type))
	}
	for _, p := range s.Hardware.Config {
		if slices.Contains([]string{"cpuHotAddEnabled", "memoryHotAddEnabled", "firmware", "flags.vvtdEnabled"}, p.Key) {
			errs = append(errs, take(p.Key, cell{p.Value, p.line, p.col}))
		}
	}
	if s.OS.Type != "" {
		v.GuestOS = numa.ReadAt(strings.TrimPrefix(s.OS.Type, "*"), "osType")
	}
	v.extra(s.Hardware.Extra)
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	v.done(cmp.Or(name, "VirtualSystem"))
	return nil
}

// extra takes the advanced settings.
func (v *vm) extra(list []pair) {
	for _, p := range list {
		if numa.KeepSetting(p.Key) {
			v.Settings = numa.ReadAt(v.Settings.Value.With(p.Key, p.Value), "ExtraConfig")
			v.site.values[p.Key] = &jsontree.Value{Kind: jsontree.String, Text: p.Value, Line: p.line, Col: p.col}
		}
	}
}

// item returns the item of a type of resource in a deployment option: one of the option wins over one of all.
func (s *system) item(kind, option string) (found item) {
	for _, i := range s.Hardware.Items {
		switch own := slices.Contains(strings.Fields(i.In), option); {
		case i.Type.Text != kind:
		case own, i.In == "" && found.In == "":
			found = i
		}
	}
	return found
}

// mhz returns a share of the processors in MHz: its unit is that of the item, hertz * 10^6 or 10^9. Of another unit it is unknown.
func (i *item) mhz(c cell) cell {
	n, err := strconv.Atoi(c.Text)
	switch unit := strings.ToLower(strings.ReplaceAll(i.Units.Text, " ", "")); {
	case err != nil || n < 0 || n > math.MaxInt32/1000:
		return cell{}
	case unit == "hertz*10^9":
		return cell{strconv.Itoa(1000 * n), c.line, c.col}
	case unit == "hertz*10^6" || unit == "megahertz" || unit == "":
		return c
	}
	return cell{}
}

// units are those of memory, in bytes (DSP0243: "byte * 2^20"; MegaBytes is what older tools write).
var units = map[string]numa.Bytes{"": numa.MiB, "byte": 1, "byte*2^10": numa.KiB, "byte*2^20": numa.MiB, "byte*2^30": numa.GiB, "byte*2^40": numa.TiB,
	"kilobytes": numa.KiB, "megabytes": numa.MiB, "gigabytes": numa.GiB, "mb": numa.MiB, "gb": numa.GiB}

// size returns the memory of an item as a quantity of Kubernetes.
func (r *reader) size(i item) (cell, error) { return r.bytes(i.Quantity, i.Units) }

// share returns a reservation or limit of the memory; none for 0 and, of a limit, -1.
func (r *reader) share(c cell, i item) (cell, error) {
	if c.Text == "0" || c.Text == "-1" {
		return cell{}, nil
	}
	return r.bytes(c, i.Units)
}

func (r *reader) bytes(c, of cell) (cell, error) {
	if c.Text == "" || open(c.Text) {
		return c, nil
	}
	unit, ok := units[strings.ToLower(strings.ReplaceAll(of.Text, " ", ""))]
	n, err := strconv.Atoi(c.Text)
	switch {
	case !ok:
		return c, r.errorf(of.line, of.col, "AllocationUnits: found %q, want such as byte * 2^20", text.Short(of.Text))
	case err != nil || n < 1 || numa.Bytes(n) > numa.MaxVMMemory/unit:
		return c, r.errorf(c.line, c.col, "found %q, want a number of %s, %s at most", text.Short(c.Text), cmp.Or(of.Text, "MB"), numa.MaxVMMemory)
	}
	return cell{fmt.Sprintf("%dKi", numa.Bytes(n)*unit/numa.KiB), c.line, c.col}, nil
}

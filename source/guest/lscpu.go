package guest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/text"
)

// lscpu reads the text form of lscpu: "Key: value" lines, since util-linux 2.37 indented by
// group. The indent is ignored: every key is unique.
type lscpu struct {
	v      *View
	seen   map[string]bool
	last   string       // key of the previous line
	online map[int]bool // nil if the list is not stated
}

// germanAndFrench are the keys that util-linux translates to these languages (po/de.po, po/fr.po of its 2.27 to 2.40), in English.
var germanAndFrench = map[string]string{
	"Architektur": "Architecture", "CPU Operationsmodus": opModes, "Anbieterkennung": "Vendor ID", "Markierungen": "Flags", "Drapaux": "Flags", "Drapeaux": "Flags", "Modellname": "Model name", "Hypervisor-Anbieter": "Hypervisor vendor",
	"Liste der Online-CPU(s)": "On-line CPU(s) list", "Liste der Offline-CPU(s)": "Off-line CPU(s) list", "Maske der Online-CPU(s)": "On-line CPU(s) mask",
	"Thread(s) pro Kern": "Thread(s) per core", "Kern(e) pro Socket": "Core(s) per socket", "Kern(e) pro Sockel": "Core(s) per socket", "Sockel": "Socket(s)", "NUMA-Knoten": "NUMA node(s)",
	"Mode(s) opératoire(s) des processeurs": opModes, "Processeur(s)": "CPU(s)", "Identifiant constructeur": "Vendor ID", "Nom de modèle": "Model name",
	"Constructeur d'hyperviseur": "Hypervisor vendor", "Constructeur d’hyperviseur": "Hypervisor vendor",
	"Liste de processeur(s) en ligne": "On-line CPU(s) list", "Liste de processeur(s) hors ligne": "Off-line CPU(s) list", "Masque de processeur(s) en ligne": "On-line CPU(s) mask",
	"Thread(s) par cœur": "Thread(s) per core", "Cœur(s) par socket": "Core(s) per socket", "Nœud(s) NUMA": "NUMA node(s)",
}

// opModes is the key of modes, whose values are the same in each language.
const opModes = "CPU op-mode(s)"

// english returns the English form of a key of lscpu.
func english(key string) string {
	key = strings.TrimSpace(key)
	if m := nodeKey.FindStringSubmatch(key); m != nil {
		return "NUMA node" + m[1] + " CPU(s)"
	}
	return cmp.Or(germanAndFrench[key], key)
}

// heading is a group title of lscpu 2.37 and later, without a value.
var heading = pattern.Of(`^(?:Virtualization features|Caches \(sum of all\)|NUMA|Vulnerabilities)$`)

// nodeKey is the key of the CPU list of a node.
var nodeKey = pattern.Of(`^(?:NUMA node|NUMA-Knoten|Nœud NUMA )(\d+) (?:CPU\(s\)|de processeur\(s\))$`)

func (s *lscpu) take(l text.Line) bool {
	if l.Text == "" {
		return true
	}
	key, _, ok := strings.Cut(l.Text, ":")
	if !ok || len(key) > 80 {
		// Terminals and people wrap the flags of a processor.
		return s.last == "Flags"
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[key], s.last = true, english(key)
	s.field(key, uncommented(l.After(strings.IndexByte(l.Text, ':')+1)))
	return true
}

// uncommented removes a comment that somebody added behind a value.
func uncommented(l text.Line) text.Line {
	for _, mark := range []string{" #", "\t#"} {
		if i := strings.Index(l.Text, mark); i >= 0 {
			l.Text = l.Text[:i]
		}
	}
	return l.After(0)
}

func (s *lscpu) again(l text.Line) bool {
	key, _, _ := strings.Cut(l.Text, ":")
	return s.seen[key]
}

// modes are the values of opModes.
var modes = pattern.Of(`^32-bit(?:, 64-bit)?$`)

// field reads one key and its value, from the text or the JSON form.
func (s *lscpu) field(key string, l text.Line) {
	v := s.v
	key = english(key)
	switch {
	case key != opModes && modes.MatchString(l.Text):
		v.file.Warn(l.N, 0, "found lscpu in another language than English, German or French: record LC_ALL=C lscpu")
	case heading.MatchString(key) && l.Text == "":
	case key == "CPU(s)":
		v.count(&v.CPUCount, l, "CPUs", maxCPU)
	case key == "Socket(s)":
		v.count(&v.Sockets, l, "sockets", maxCPU)
	case key == "Core(s) per socket":
		v.count(&v.CoresPerSocket, l, "cores per socket", maxCPU)
	case key == "Thread(s) per core":
		v.count(&v.ThreadsPerCore, l, "threads per core", maxCPU)
	case key == "NUMA node(s)":
		v.count(&v.NodeCount, l, "NUMA nodes", maxNode)
	case strings.HasPrefix(key, "On-line CPU(s) "):
		s.listOnline(l)
	case strings.HasPrefix(key, "Off-line CPU(s) "):
		s.listOffline(l)
	case nodeKey.MatchString(key):
		s.node(nodeKey.FindStringSubmatch(key)[1], l)
	default:
		s.word(key, l)
	}
}

func (s *lscpu) word(key string, l text.Line) {
	name := key
	switch key {
	case "Hypervisor vendor", "Hypervisor":
		name = "hypervisor"
		s.v.Hypervisor = numa.ReadAt(l.Text, text.Where(l.N, l.Col))
	case "Architecture":
		s.v.Arch = strings.TrimSpace(l.Text)
	case "Model name":
		name = "processor model"
		s.v.Model = numa.ReadAt(l.Text, text.Where(l.N, l.Col))
	}
	s.v.file.Add(l.N, l.Col, "guest", name, l.Text, "")
}

func (s *lscpu) listOnline(l text.Line) {
	cpus, ok := s.v.list(l, "guest", "online CPUs")
	if !ok {
		return
	}
	s.online = map[int]bool{}
	for _, c := range cpus {
		s.online[c] = true
		s.v.cpu(c)
	}
}

func (s *lscpu) listOffline(l text.Line) {
	cpus, _ := s.v.list(l, "guest", "offline CPUs")
	for _, c := range cpus {
		s.v.cpu(c).Offline = true
	}
}

func (s *lscpu) node(number string, l text.Line) {
	id, err := strconv.Atoi(number)
	if err != nil || id >= maxNode {
		s.v.file.Warn(l.N, 0, "node %s: want a number below %d", text.Short(number), maxNode)
		return
	}
	if cpus, ok := s.v.list(l, fmt.Sprintf("node %d", id), "CPUs"); ok {
		s.v.place(l, id, cpus)
	}
}

// list parses a list of CPUs and adds it as a fact.
func (v *View) list(l text.Line, subject, name string) (cpus []int, ok bool) {
	cpus, err := cpuList(l.Text)
	if err == nil && len(cpus) > *v.room {
		err = fmt.Errorf("the lists of this file name more than %d CPUs", maxList)
	}
	if err != nil {
		v.file.Warn(l.N, l.Col, "%s of %s: %v", name, subject, err)
		return nil, false
	}
	*v.room -= len(cpus)
	v.file.Add(l.N, l.Col, subject, name, l.Text, "")
	return cpus, true
}

func (s *lscpu) end() {
	v := s.v
	placed := 0
	for i := range v.CPUs {
		c := &v.CPUs[i]
		if s.online != nil && !s.online[c.Number] {
			c.Offline = true
		}
		if c.Node >= 0 {
			placed++
		}
	}
	if s.online != nil && placed > 0 && placed < len(s.online) {
		v.file.Warn(v.Line, 0, "%d CPUs are online but the nodes list %d", len(s.online), placed)
	}
	if n := len(v.Nodes); v.NodeCount.Known() && n > 0 && v.NodeCount.Value != n {
		v.file.Warn(v.Line, 0, "%d NUMA nodes are announced and %d are listed", v.NodeCount.Value, n)
	}
	if product := v.Sockets.Value * v.CoresPerSocket.Value * v.ThreadsPerCore.Value; product > 0 && s.online != nil && product != len(s.online) {
		v.file.Warn(v.Line, 0, "%d sockets × %d cores × %d threads are not the %d CPUs that are online",
			v.Sockets.Value, v.CoresPerSocket.Value, v.ThreadsPerCore.Value, len(s.online))
	}
}

package experiment

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/pattern"
	"example.org/homenode/source/story"
	"example.org/homenode/source/word"
)

// Combinations is the number of random combinations of all assumed numbers to simulate.
const Combinations = 50

// A World is a case in which some facts that its source does not state are changed.
type World struct {
	Name string
	runs []Run
	// pace stretches the time of the story and of figures; 1 means unchanged.
	pace float64
}

// A knob is a number in the stories of a case, named by its line and word, such as "load cli
// cpu". Stories with the same value share a knob.
type knob struct{ name, value string }

// knobsLine returns the name of a line that can have knobs, and its words after the name.
func knobsLine(ws []word.Word) (name string, rest []word.Word) {
	switch kind := ws[0].Key; {
	case kind == "run":
		return "run", ws[1:]
	case kind == "at" && len(ws) > 3 && !ws[2].HasValue: // at 2m load cli cpu=5%
		return strings.Join([]string{"at", ws[1].Key, ws[2].Key, ws[3].Key}, " "), ws[4:]
	case len(ws) > 2 && kind == "talk":
		return "talk " + ws[1].Key, ws[3:]
	case len(ws) > 3 && kind == "used":
		return "used " + ws[1].Key + " " + ws[2].Key + "=" + ws[2].Value, ws[3:]
	case len(ws) > 2 && slices.Contains([]string{"host", "vm", "load"}, kind):
		return kind + " " + ws[1].Key, ws[2:]
	}
	return "", nil
}

// varied are the words whose numbers are varied; the times of events are varied by the pace.
var varied = []string{"nodes", "cores", "threads", "memory", "nodeMemory", "vcpus", "coresPerSocket", "cpu", "noise", "over",
	"active", "zero", "common", "asksLarge", "rate", "seed"}

// each calls f with the name and value of every knob of a story, and returns the story with the
// values that f returns. The knob of threads is the number of threads per core.
func each(text string, f func(name, value string) string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		ws, err := word.Split(strings.TrimRight(line, "\r\n"))
		if err != nil || len(ws) == 0 {
			out.WriteString(line)
			continue
		}
		name, rest := knobsLine(ws)
		values := make([]string, len(rest))
		cores, changed := 0, 0
		for i, w := range rest {
			values[i] = w.Value
			n, _ := strconv.Atoi(w.Value)
			switch {
			case !w.HasValue || !slices.Contains(varied, w.Key):
			case w.Key == "threads" && cores > 0:
				perCore, _ := strconv.Atoi(f(name+" threads", strconv.Itoa(n/cores)))
				values[i] = strconv.Itoa(perCore * changed)
			default:
				values[i] = f(name+" "+w.Key, w.Value)
				if w.Key == "cores" {
					cores = n
					changed, _ = strconv.Atoi(values[i])
				}
			}
		}
		for i, w := range slices.Backward(rest) { // from the right, so that columns stay valid
			if at := w.Col + len(w.Key); w.HasValue && values[i] != w.Value {
				line = line[:at] + values[i] + line[at+len(w.Value):]
			}
		}
		out.WriteString(line)
	}
	return out.String()
}

// knobs returns every number of the stories, in their order.
func (c *Case) knobs() (out []knob) {
	for i := range c.Runs {
		each(c.Runs[i].text, func(name, value string) string {
			if k := (knob{name, value}); !slices.Contains(out, k) {
				out = append(out, k)
			}
			return value
		})
	}
	slices.SortStableFunc(out, func(a, b knob) int { return cmp.Compare(a.name, b.name) })
	return out
}

// states reports whether the source states the number with this name.
func (c *Case) states(name string) bool {
	return slices.ContainsFunc(c.Stated, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
}

// unknownName returns a name or pattern in Stated and Ranges that matches no number.
func (c *Case) unknownName() string {
	all := c.knobs()
	for _, pattern := range slices.Concat(c.Stated, slices.Sorted(maps.Keys(c.Ranges))) {
		named := func(k knob) bool { ok, _ := path.Match(pattern, k.name); return ok }
		if !slices.ContainsFunc(all, named) && pattern != "pace" && pattern != "processor" {
			return pattern
		}
	}
	return ""
}

// assumed returns the numbers of the stories that the source does not state.
func (c *Case) assumed() []knob {
	return slices.DeleteFunc(c.knobs(), func(k knob) bool { return c.states(k.name) })
}

// Varied lists the varied numbers, with their ranges if they have one.
func (c *Case) Varied() string {
	var out []string
	for _, k := range c.assumed() {
		if len(c.edges(k)) == 0 {
			continue // not a number
		}
		s := k.name + " " + k.value
		if r, ok := c.Ranges[k.name]; ok {
			s += " (" + r[0] + " to " + r[1] + ")"
		}
		out = append(out, s)
	}
	return cmp.Or(strings.Join(out, ", "), "nothing")
}

var numberForm = pattern.Of(`^([0-9.]+?)(?:\.\.([0-9.]+))?([A-Z]B|%|s|m)?$`)

// times returns the value multiplied by a factor; "" if there is no such value, or it is
// unchanged.
func (k knob) times(factor float64) string {
	if k.value == "all" {
		if factor >= 1 {
			return ""
		}
		return decimal(100*factor) + "%"
	}
	m := numberForm.FindStringSubmatch(k.value)
	if m == nil {
		return ""
	}
	one := func(s string) string {
		x, _ := strconv.ParseFloat(s, 64)
		switch x *= factor; m[3] {
		case "%":
			return decimal(min(x, 100))
		case "s", "m":
			return strconv.FormatFloat(max(1, math.Round(x)), 'f', 0, 64)
		case "":
			return strconv.FormatFloat(max(1, math.Round(x)), 'f', 0, 64)
		}
		return decimal(x)
	}
	value := one(m[1])
	if m[2] != "" {
		value += ".." + one(m[2])
	}
	value += m[3]
	if d, err := time.ParseDuration(value); err == nil && (m[3] == "s" || m[3] == "m") {
		value = words.Short(d.Round(numa.Step))
	}
	if value == k.value {
		return ""
	}
	return value
}

// decimal formats at most two digits after the point.
func decimal(x float64) string {
	return strconv.FormatFloat(math.Round(100*x)/100, 'f', -1, 64)
}

// Worlds returns the variations of the case to simulate: each number that its source does not
// state halved, doubled and at both ends of its range; random combinations of all of them; the
// pace of events; and disturbances of every host. impossible counts those that cannot be
// expressed as a story, such as a VM with more memory touched than it has.
func (c *Case) Worlds() (out []World, impossible int) {
	add := func(w World, ok bool) {
		if ok {
			out = append(out, w)
		} else {
			impossible++
		}
	}
	assumed := c.assumed()
	for _, k := range assumed {
		for _, value := range c.edges(k) {
			w, ok := c.world(fmt.Sprintf("%s=%s for %s", k.name, value, k.value), map[knob]string{k: value})
			add(w, ok)
		}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.ID))
	random := rand.New(rand.NewPCG(h.Sum64(), 1))
	const tries = 40
	for n, try := 0, 0; n < Combinations && try < tries*Combinations && len(assumed) > 0; try++ {
		change := map[knob]string{}
		for _, k := range assumed {
			if value := c.draw(k, random); value != "" {
				change[k] = value
			}
		}
		if w, ok := c.world(fmt.Sprintf("combination %d", n+1), change); ok {
			out, n = append(out, w), n+1
		}
	}
	for _, pace := range []float64{0.5, 2} {
		if !c.states("pace") {
			w, ok := c.paced(pace)
			add(w, ok)
		}
	}
	return append(out, c.disturbed()...), impossible
}

// edges returns the values of a knob when it is varied alone.
func (c *Case) edges(k knob) []string {
	out := []string{k.times(0.5), k.times(2)}
	if k.threads() {
		out = []string{"1", "2"}
	}
	if r, ok := c.Ranges[k.name]; ok { // values outside contradict the source
		out = slices.DeleteFunc(out, func(s string) bool { return base(s) < base(r[0]) || base(s) > base(r[1]) })
		out = append(out, r[0], r[1])
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(s string) bool { return s == "" || s == k.value })
}

// threads reports whether the knob is the number of threads per core.
func (k knob) threads() bool { return strings.HasSuffix(k.name, " threads") }

// draw returns a random value between half and double, or in the range of the knob.
func (c *Case) draw(k knob, random *rand.Rand) string {
	low, high := 0.5, 2.0
	if k.threads() {
		return []string{"1", "2"}[random.IntN(2)]
	}
	if r, ok := c.Ranges[k.name]; ok {
		if of := base(k.value); of > 0 {
			low, high = max(base(r[0])/of, 1e-3), max(base(r[1])/of, 1e-3)
		} else {
			return r[random.IntN(2)]
		}
	}
	return k.times(low * math.Pow(high/low, random.Float64()))
}

// base returns the number of a value in its smallest unit.
func base(value string) float64 {
	m := numberForm.FindStringSubmatch(value)
	if m == nil {
		return 0
	}
	x, _ := strconv.ParseFloat(m[1], 64)
	return x * map[string]float64{"KB": 1, "MB": 1 << 10, "GB": 1 << 20, "TB": 1 << 30, "m": 60, "s": 1, "%": 1, "": 1}[m[3]]
}

// world returns the case with changed knobs.
func (c *Case) world(name string, change map[knob]string) (World, bool) {
	return c.told(World{Name: name, pace: 1}, func(text string) string {
		return each(text, func(name, value string) string {
			return cmp.Or(change[knob{name, value}], value)
		})
	})
}

var paceForms = pattern.Of(`(?m)^(run +|at +)([0-9hms]+)\b|(\bevery=)([0-9hms]+)`)

// paced returns the case with the times of all its events multiplied by pace.
func (c *Case) paced(pace float64) (World, bool) {
	return c.told(World{Name: fmt.Sprintf("all times × %g", pace), pace: pace}, func(text string) string {
		return paceForms.Regexp().ReplaceAllStringFunc(text, func(s string) string {
			m := paceForms.FindStringSubmatch(s)
			d, err := time.ParseDuration(m[2] + m[4])
			if err != nil {
				return s
			}
			return m[1] + m[3] + words.Short(time.Duration(float64(d)*pace))
		})
	})
}

// told parses the changed stories of the case; false if one is invalid.
func (c *Case) told(w World, change func(text string) string) (World, bool) {
	for i := range c.Runs {
		st, err := story.Read(c.File, []byte(change(c.Runs[i].text)))
		if err != nil {
			return w, false
		}
		w.runs = append(w.runs, Run{Name: c.Runs[i].Name, Story: st})
	}
	return w, true
}

// Disturbances that no case declares, but that are on most hosts.
const (
	vclsMemory    = numa.GiB
	vmkernelShare = 50 // divisor of the memory
)

// processors are other generations, for figures of the cost model.
var processors = []string{"Intel Xeon E5-2690 v4", "Intel Xeon Gold 6148", "AMD EPYC 7601"}

// disturbed returns the case with disturbances of its hosts.
func (c *Case) disturbed() (out []World) {
	add := func(name string, change func(s *numa.Story)) {
		w, ok := c.told(World{Name: name, pace: 1}, func(text string) string { return text })
		for i := range w.runs {
			change(w.runs[i].Story)
		}
		if ok && !slices.ContainsFunc(w.runs, func(r Run) bool { return r.Story.Check() != nil }) {
			out = append(out, w)
		}
	}
	use := func(s *numa.Story, each func(h *numa.Host, i int) numa.Bytes) {
		for h := range s.Fleet.Hosts {
			host := &s.Fleet.Hosts[h]
			for i, n := range host.Nodes.Value {
				at := slices.IndexFunc(s.Used, func(u numa.NodeUse) bool { return u.Host == host.ID && u.Node == n.ID })
				if at < 0 {
					at = len(s.Used)
					s.Used = append(s.Used, numa.NodeUse{Host: host.ID, Node: n.ID})
				}
				s.Used[at].Memory = min(s.Used[at].Memory+each(host, i), n.Memory.Value)
			}
		}
	}
	for _, node := range []int{0, 1} {
		add(fmt.Sprintf("1 GB of vCLS on node %d", node), func(s *numa.Story) {
			use(s, func(_ *numa.Host, i int) numa.Bytes {
				if i == node {
					return vclsMemory
				}
				return 0
			})
		})
	}
	add("the VMkernel on 2 % of each node", func(s *numa.Story) {
		use(s, func(h *numa.Host, i int) numa.Bytes { return h.Nodes.Value[i].Memory.Value / vmkernelShare })
	})
	if c.asks("speed") && !c.states("processor") {
		for _, cpu := range processors {
			add("the processor is "+cpu, func(s *numa.Story) {
				for i := range s.Fleet.Hosts {
					s.Fleet.Hosts[i].CPUModel = numa.AssumedFor(cpu, "varied")
				}
			})
		}
	}
	return out
}

// asks reports whether a figure is about the quantity.
func (c *Case) asks(quantity string) bool {
	for i := range c.Figures {
		for j := range c.Figures[i].Wants {
			for _, t := range c.Figures[i].Wants[j].terms() {
				if t.quantity != nil && t.quantity.name == quantity {
					return true
				}
			}
		}
	}
	return false
}

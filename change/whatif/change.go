// Package whatif applies the changes of a "what if" to a fleet: other settings, other releases, removed and
// added hosts. The original fleet is not modified; the changed one is assessed like any other.
//
//	vm=sql* hotAdd=off coresPerSocket=16
//	host=esx* nodesPerSocket=2
//	cluster=prod release=8.0U3 hw=21
//	lose-host=esx01
//	add-host=esx01 count=2
//
// The words are those of scenarios, in any case of letters.
package whatif

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"example.org/homenode/numa"
	"example.org/homenode/rules/condition"
	"example.org/homenode/source/word"
)

// A Change is one change by the user.
type Change struct {
	// Text is the user's text with its flag, --what-if 'hw=20': the origin of every fact that the change sets.
	Text string

	file string
	line int
	op   op

	vms, hosts, clusters *namePattern // nil for all
	vmWords, hostWords   []word.Word
	home                 *namePattern // the host that VMs move to; nil if they do not move
	where                *condition.Condition

	names   []string // of added hosts
	cluster string   // of added hosts; "" for that of the host they are copied from

	shape *numa.Host // description of added hosts that are not copied from a host of the fleet
}

type op uint8

const (
	set op = iota
	lose
	add
)

// The words of changes that remove and add hosts.
const loseHost, addHost = "lose-host", "add-host"

// Parse parses a change such as "vm=db01 vcpus=24 hotAdd=off". The position --what-if:1:9 in an error is the
// ninth byte.
func Parse(text string) (Change, error) { return ParseAt("--what-if", 1, text) }

// ParseAt is Parse for a line of a file, or for the flag with that number.
func ParseAt(file string, line int, text string) (Change, error) {
	c := Change{Text: fmt.Sprintf("--what-if '%s'", strings.TrimSpace(text)), file: file, line: line}
	return c, c.located(c.parse(text))
}

// located adds the file and the line to an error of a word.
func (c *Change) located(err error) error { return word.Located(err, c.file, c.line) }

func (c *Change) parse(text string) error {
	if key, name, _ := strings.Cut(strings.TrimSpace(text), "="); strings.EqualFold(key, loseHost) { // their VMs are restarted on the other hosts of the cluster
		c.Text, c.op = strings.TrimSpace(text), lose
		var err error
		c.hosts, err = newPattern(word.Word{Key: "host", Value: strings.Trim(name, `"`), HasValue: true, Col: 1})
		return err
	}
	ws, err := word.Split(text)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(ws, func(w word.Word) bool { return strings.EqualFold(w.Key, addHost) }) {
		c.Text, c.op = strings.TrimSpace(text), add
		return c.parseAdd(ws)
	}
	rest, err := c.selectors(ws)
	if err != nil {
		return err
	}
	for _, w := range rest {
		if err := c.take(w); err != nil {
			return err
		}
	}
	if len(c.vmWords)+len(c.hostWords) == 0 && c.home == nil {
		return word.Errorf(1, "found %q, which changes nothing: want [vm=NAME|host=NAME] [cluster=NAME] WORD=VALUE …", word.Short(strings.TrimSpace(text)))
	}
	return c.try()
}

// selectors parses the words that select the objects, in any position. With vm=, host= is the destination of the
// VM, as in a scenario.
func (c *Change) selectors(ws []word.Word) (rest []word.Word, err error) {
	var host *namePattern
	for _, w := range ws {
		key := strings.ToLower(w.Key)
		switch {
		case !w.HasValue:
			return nil, w.NoValue()
		case w.Value == "" && !strings.Contains(w.Key, ".") && !slices.Contains([]string{"stored", "cpuaffinity", "memoryaffinity", "pci"}, key): // a setting may be removed
			return nil, word.Errorf(w.Col, "found %s= without a value", word.Short(w.Key))
		}
		var to **namePattern
		switch key {
		case "vm":
			to = &c.vms
		case "host":
			to = &host
		case "cluster":
			to = &c.clusters
		case "where":
			if c.where, err = condition.Compile(w.Value); err != nil {
				return nil, word.Errorf(w.Col, "where=%v", err)
			}
			continue
		default:
			rest = append(rest, w)
			continue
		}
		if *to, err = newPattern(w); err != nil {
			return nil, err
		}
	}
	if c.where != nil && c.vms == nil { // the objects that a condition is about
		if c.vms, err = newPattern(word.Word{Key: "vm", Value: "*", HasValue: true, Col: 1}); err != nil {
			return nil, err
		}
	}
	if c.vms != nil {
		c.home = host
	} else {
		c.hosts = host
	}
	return rest, nil
}

// take adds a word to those of VMs or hosts.
func (c *Change) take(w word.Word) error {
	vm, host := vmWord(w), hostWord(w)
	if c.vms != nil {
		host = word.Word{}
	}
	if c.hosts != nil {
		vm = word.Word{}
	}
	switch {
	case vm.Key != "" && host.Key != "" && strings.Contains(w.Key, "."):
		// In vSphere, host options begin with a capital letter: Numa.PreferHT.
		if unicode.IsUpper(rune(w.Key[0])) {
			c.hostWords = append(c.hostWords, host)
		} else {
			c.vmWords = append(c.vmWords, vm)
		}
	case vm.Key != "" && host.Key != "":
		return word.Errorf(w.Col, "found %s=%s for VMs or hosts: say which, with vm=* or host=*", word.Short(w.Key), word.Short(w.Value))
	case vm.Key != "":
		c.vmWords = append(c.vmWords, vm)
	case host.Key != "":
		c.hostWords = append(c.hostWords, host)
	default:
		if near, ok := word.Meant(w.Key, c.known()); ok && vmWord(w).Key == "" {
			return word.Errorf(w.Col, "found %q; is %s meant? want %s", word.Short(w.Key), near, c.wanted())
		}
		return word.Errorf(w.Col, "found %q, want %s", word.Short(w.Key), c.wanted())
	}
	return nil
}

// known are the words that the change can contain.
func (c *Change) known() []string {
	switch {
	case c.vms != nil:
		return vmKeys
	case c.hosts != nil:
		return hostKeys
	}
	return slices.Concat(vmKeys, hostKeys)
}

// wanted lists the words that the change can contain.
func (c *Change) wanted() string {
	vm := "for VMs " + strings.Join(vmKeys, ", ") + " or a setting such as numa.vcpu.preferHT"
	host := "for hosts " + strings.Join(hostKeys, ", ") + " or an option such as Numa.PreferHT"
	switch {
	case c.vms != nil:
		return vm
	case c.hosts != nil:
		return host
	}
	return vm + ", " + host
}

var (
	vmKeys   = append([]string{"stored"}, word.VMKeys...)
	hostKeys = append(append([]string{"nodesPerSocket"}, word.NodeKeys...), word.HostKeys...)
)

// Knows reports whether changes have words with this key.
func Knows(key string) bool {
	w := word.Word{Key: key}
	return slices.Contains([]string{"vm", "host", "cluster", loseHost, addHost}, strings.ToLower(key)) || vmWord(w).Key != "" || hostWord(w).Key != ""
}

// vmWord returns w in the spelling of package word, or no word if VMs do not have it.
func vmWord(w word.Word) word.Word {
	return spelt(w, vmKeys, numa.KeepSetting)
}

// hostWord is vmWord for hosts.
func hostWord(w word.Word) word.Word {
	return spelt(w, hostKeys, numa.KeepOption)
}

func spelt(w word.Word, keys []string, keep func(string) bool) word.Word {
	for _, key := range keys {
		if strings.EqualFold(key, w.Key) {
			w.Key = key
			return w
		}
	}
	if !keep(w.Key) {
		return word.Word{}
	}
	return w
}

// try parses every word once, so that a malformed value is reported before a fleet is read.
func (c *Change) try() error {
	for _, w := range c.vmWords {
		if err := setVM(&numa.VM{}, w, c.Text); err != nil {
			return err
		}
	}
	// A word for the stored size needs the vCPUs of another word.
	if i := slices.IndexFunc(c.vmWords, func(w word.Word) bool { return w.Key == "stored" }); i >= 0 {
		stored := c.vmWords[i]
		c.vmWords = append(slices.Delete(c.vmWords, i, i+1), stored)
	}
	_, err := c.describe(&numa.Host{})
	return err
}

// AddShapeAt parses a change that adds hosts of a described kind. shape is the user's text; text contains the
// other words: count=, name=, cluster= and release=.
func AddShapeAt(file string, line int, shape string, h numa.Host, text string) (Change, error) {
	h.Release = numa.Fact[numa.Release]{}
	c := Change{Text: strings.TrimSpace("add-host=" + shape + " " + strings.TrimSpace(text)), file: file, line: line, op: add, shape: &h}
	ws, err := word.Split(text)
	if err == nil {
		err = c.parseAdd(ws)
	}
	return c, c.located(err)
}

// mostAdded is the maximum number of hosts of one add-host=: as many as a cluster of 8.0 has.
const mostAdded = 96

// parseAdd parses the words for added hosts: add-host=esx01 to copy a host, count= for several, name=esx30 or
// name=esx[30-31] to name them, and cluster=test to place them elsewhere (cluster=none for a standalone host).
func (c *Change) parseAdd(ws []word.Word) (err error) {
	count, name, like := 0, word.Word{}, "host"
	want := "add-host=HOST, and count=, name= or cluster="
	if c.shape != nil {
		want = "count=, name=, cluster= or release="
	}
	for _, w := range ws {
		if !w.HasValue || w.Value == "" {
			return w.NoValue()
		}
		w.Key = strings.ToLower(w.Key)
		switch {
		case w.Key == addHost && c.shape == nil:
			c.hosts, err = newPattern(w)
			like = w.Value
		case w.Key == "release" && c.shape != nil:
			err = word.Host(c.shape, w, c.Text)
		case w.Key == "count":
			count, err = w.Number(1, mostAdded)
		case w.Key == "name":
			name = w
			c.names, err = word.Expand(w.Value, w.Col)
		case w.Key == "cluster":
			c.cluster = w.Value
		default:
			err = word.Errorf(w.Col, "found %q, want %s", word.Short(w.Key), want)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case len(c.names) > mostAdded:
		return word.Errorf(name.Col, "found %d names, want at most %d", len(c.names), mostAdded)
	case len(c.names) > 1 && count > 0 && count != len(c.names):
		return word.Errorf(name.Col, "found %d names for count=%d", len(c.names), count)
	case count > len(c.names):
		c.names = numbered(name.Value, like, count)
	case c.names == nil:
		c.names = numbered("", like, 1)
	}
	return nil
}

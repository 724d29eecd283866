package filter

import (
	"fmt"
	"slices"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"homenode/numa"
)

// A Condition is an expression about a VM, such as `vcpus == 2 && release < 7.0`. nil holds
// for every VM.
type Condition struct {
	program *vm.Program
	words   []string // that it uses
	missing int      // VMs of which a value that the condition needs is unknown
}

// zero has every word of a condition with its type: what the words mean is said in
// docs/checks.md.
var zero = values(&numa.VM{}, "", nil, true)

// Compile reads a condition. Its words are vcpus, coresPerSocket, memory (in GB), hw,
// release (7.0), update (3 of 7.0 U3), hotAdd, memoryHotAdd, power, name, cluster, host,
// folder, guest, tags and attributes (`attributes["owner"]`); the language is that of github.com/expr-lang/expr.
func Compile(text string) (*Condition, error) {
	program, err := expr.Compile(text, expr.Env(zero), expr.AsBool())
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	c := &Condition{program: program}
	root := program.Node()
	ast.Walk(&root, c)
	return c, nil
}

// Visit collects the words that the condition uses.
func (c *Condition) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.IdentifierNode); ok {
		if _, ok := zero[n.Value]; ok { // no variable of the condition itself
			c.words = append(c.words, n.Value)
		}
	}
}

// reset forgets which VMs could not be told.
func (c *Condition) reset() {
	if c != nil {
		c.missing = 0
	}
}

// unknown says of how many VMs it cannot be told whether the condition holds; "" of none.
func (c *Condition) unknown() string {
	switch {
	case c == nil || c.missing == 0:
		return ""
	case c.missing == 1:
		return ": 1 VM is left out, a value that the condition needs is unknown of it"
	}
	return fmt.Sprintf(": %d VMs are left out, a value that the condition needs is unknown of them", c.missing)
}

// Holds reports whether the condition holds for the VM. It does not when a value that it
// needs is unknown: unknown is neither zero nor false.
func (c *Condition) Holds(v *numa.VM, cluster string, on *numa.Host) bool {
	if c == nil {
		return true
	}
	env := values(v, cluster, on, false)
	if slices.ContainsFunc(c.words, func(word string) bool { return env[word] == nil }) {
		c.missing++
		return false
	}
	out, err := expr.Run(c.program, env)
	yes, _ := out.(bool)
	return err == nil && yes
}

// values returns the words of a condition for a VM; unknown ones are nil, unless all are
// wanted for their types.
func values(v *numa.VM, cluster string, on *numa.Host, all bool) map[string]any {
	out := map[string]any{"name": v.Name, "cluster": cluster, "folder": v.Folder, "tags": append([]string{}, v.Tags...), "host": ""}
	attributes := map[string]string{}
	for _, a := range v.Attributes {
		attributes[a.Name] = a.Value
	}
	out["attributes"] = attributes
	put(out, all, "vcpus", v.VCPUs, func(n int) any { return n })
	put(out, all, "coresPerSocket", v.CoresPerSocket, func(n int) any { return n })
	put(out, all, "memory", v.Memory, func(b numa.Bytes) any { return float64(b) / float64(numa.GiB) })
	put(out, all, "hw", v.Hardware, func(n int) any { return n })
	put(out, all, "hotAdd", v.CPUHotAdd, func(b bool) any { return b })
	put(out, all, "memoryHotAdd", v.MemoryHotAdd, func(b bool) any { return b })
	put(out, all, "power", v.Power, func(p numa.PowerState) any { return string(p) })
	put(out, all, "guest", v.GuestOS, func(s string) any { return s })
	release := numa.Fact[numa.Release]{}
	if on != nil {
		out["host"], release = on.Name, on.Release
	}
	put(out, all, "release", release, func(r numa.Release) any { return float64(10*int(r>>16)+int(r>>8&0xff)) / 10 })
	put(out, all, "update", release, func(r numa.Release) any { return int(r & 0xff) })
	return out
}

func put[T any](out map[string]any, all bool, name string, f numa.Fact[T], value func(T) any) {
	out[name] = nil
	if all || f.Known() {
		out[name] = value(f.Value)
	}
}

// Package condition evaluates expressions about VMs, such as `vcpus == 2 && release < 7.0`: selections of users, and expectations of owners.
package condition

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"example.org/homenode/numa"
)

// A Condition is an expression about a VM, such as `vcpus == 2 && release < 7.0`. nil is true for every VM.
type Condition struct {
	program *vm.Program
	known   map[string]any // every allowed word, with a value of its type
	words   []string       // used words
	missing int            // number of VMs for which a required value is unknown
	failed  error          // for the first VM with an evaluation error
}

// Limits for conditions, which may be from untrusted users: a condition is evaluated for each VM of a fleet.
const (
	longestCondition = 2000 // bytes
	mostNodes        = 300  // of its syntax tree
)

// functions are those that a condition may call: none returns a value that is larger than its arguments.
var functions = []string{"all", "none", "any", "one", "count", "filter", "len", "lower", "upper", "trim", "hasPrefix", "hasSuffix", "indexOf", "abs", "int", "float", "string", "first", "last", "min", "max"}

// A bound rejects conditions that may need much time or memory: ranges, nested loops, and values that grow.
type bound struct{ err error }

// Visit checks a node before it is compiled.
func (b *bound) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		switch {
		case n.Operator == "..":
			b.err = errors.New("found a range, want words of a VM and values")
		case n.Operator == "+" && !isNumber(n.Left) && !isNumber(n.Right):
			b.err = errors.New("found + between texts, want it between numbers")
		}
	case *ast.PredicateNode:
		inner := loops(0)
		ast.Walk(&n.Node, &inner)
		if inner > 0 {
			b.err = errors.New("found a loop in a loop, want one over tags or attributes")
		}
	case *ast.BuiltinNode:
		if !slices.Contains(functions, n.Name) {
			b.err = fmt.Errorf("found %s(), want one of %s", n.Name, strings.Join(functions, ", "))
		}
	case *ast.VariableDeclaratorNode:
		if isList(n.Value) {
			b.err = errors.New("found a list with a name, want a number, a text, true or false")
		}
	case *ast.ArrayNode:
		if slices.ContainsFunc(n.Nodes, isList) {
			b.err = errors.New("found a list in a list, want numbers or texts")
		}
	case *ast.MapNode:
		b.err = errors.New("found a map, want words of a VM and values")
	}
}

func isNumber(n ast.Node) bool {
	k := kindOf(n)
	return k >= reflect.Int && k <= reflect.Float64
}

func isList(n ast.Node) bool {
	k := kindOf(n)
	return !(k == reflect.Bool || k == reflect.String || isNumber(n))
}

func kindOf(n ast.Node) reflect.Kind {
	if n.Type() == nil {
		return reflect.Invalid
	}
	return n.Type().Kind()
}

// loops counts the predicates of a syntax tree.
type loops int

// Visit counts a predicate.
func (l *loops) Visit(node *ast.Node) {
	if _, ok := (*node).(*ast.PredicateNode); ok {
		*l++
	}
}

// zero has every word of a condition with its type: the words are documented in docs/checks.md.
var zero = values(&numa.VM{}, "", nil, true)

// Compile compiles a condition. Its words are those of numa.VMFacts (memory in GB), and name, cluster, host, folder, tags, attributes
// (`attributes["owner"]`), and for its host release (7.0), update (3 of 7.0 U3) and those of numa.HostFacts after "host", as in hostMemory. The
// language is that of github.com/expr-lang/expr, without expensive constructs: ranges, nested loops, and functions that create values.
func Compile(text string) (*Condition, error) { return CompileWith(text, nil) }

// CompileWith compiles a condition with additional words, each with a value of its type.
func CompileWith(text string, more map[string]any) (*Condition, error) {
	if len(text) > longestCondition {
		return nil, fmt.Errorf("found %d bytes, want a condition of at most %d", len(text), longestCondition)
	}
	if err := boundPatterns(text); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	var b bound
	all := maps.Clone(zero)
	maps.Copy(all, more)
	options := []expr.Option{expr.Env(all), expr.AsBool(), expr.MaxNodes(mostNodes), expr.Patch(&b), expr.DisableAllBuiltins()}
	for _, name := range functions {
		options = append(options, expr.EnableBuiltin(name))
	}
	program, err := expr.Compile(text, options...)
	if b.err != nil {
		err = b.err
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	c := &Condition{program: program, known: all}
	root := program.Node()
	ast.Walk(&root, c)
	return c, nil
}

// Visit collects the words that the condition uses.
func (c *Condition) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.IdentifierNode); ok {
		if _, ok := c.known[n.Value]; ok { // not a variable of the condition itself
			c.words = append(c.words, n.Value)
		}
	}
}

// Reset clears the number of VMs with an unknown result.
func (c *Condition) Reset() {
	if c != nil {
		c.missing, c.failed = 0, nil
	}
}

// Err returns the error of evaluating the condition for a VM. The condition is then neither true nor false, and its selection must not be used.
func (c *Condition) Err() error {
	if c == nil {
		return nil
	}
	return c.failed
}

// Unknown reports the number of VMs for which the condition cannot be evaluated; "" for none.
func (c *Condition) Unknown() string {
	switch {
	case c == nil || c.missing == 0:
		return ""
	case c.missing == 1:
		return ": 1 VM is left out: the condition needs a value that is unknown"
	}
	return fmt.Sprintf(": %d VMs are left out: the condition needs a value that is unknown", c.missing)
}

// Holds reports whether the condition is true for the VM. It is not if a required value is unknown: unknown is neither zero nor false. Err returns an
// evaluation error.
func (c *Condition) Holds(v *numa.VM, cluster string, on *numa.Host) bool {
	if c == nil {
		return true
	}
	yes, lacks, err := c.Evaluate(v, cluster, on, nil)
	switch {
	case lacks != nil:
		c.missing++
	case err != nil && c.failed == nil:
		c.failed = fmt.Errorf("VM %s: %w", v.Name, err)
	}
	return yes
}

// Evaluate reports whether the condition is true for the VM, with the values of the additional words. lacks names the required words with unknown
// values: the condition is then neither true nor false.
func (c *Condition) Evaluate(v *numa.VM, cluster string, on *numa.Host, more map[string]any) (yes bool, lacks []string, err error) {
	env := values(v, cluster, on, false)
	maps.Copy(env, more)
	for _, word := range c.words {
		if env[word] == nil && !slices.Contains(lacks, word) {
			lacks = append(lacks, word)
		}
	}
	if lacks != nil {
		return false, lacks, nil
	}
	out, err := expr.Run(c.program, env)
	yes, _ = out.(bool)
	return err == nil && yes, nil, err
}

// values returns the words of a condition for a VM. Unknown ones are nil, unless all are needed for their types.
func values(v *numa.VM, cluster string, on *numa.Host, all bool) map[string]any {
	out := map[string]any{"name": v.Name, "cluster": cluster, "folder": v.Folder, "tags": append([]string{}, v.Tags...)}
	attributes := map[string]string{}
	for _, a := range v.Attributes {
		attributes[a.Name] = a.Value
	}
	out["attributes"] = attributes
	facts(out, all, numa.VMFacts, &v.Config, func(word string) string { return word })
	if on == nil {
		on = &numa.Host{}
	}
	out["host"] = on.Name
	facts(out, all, numa.HostFacts, on, func(word string) string { return "host" + strings.ToUpper(word[:1]) + word[1:] })
	put(out, all, "release", on.Release, func(r numa.Release) any { return float64(10*int(r>>16)+int(r>>8&0xff)) / 10 })
	put(out, all, "update", on.Release, func(r numa.Release) any { return int(r & 0xff) })
	return out
}

// facts adds the properties of a VM or host under their names; memory is in GB. Properties with several parts are omitted, and the release has words
// of its own.
func facts[T any](out map[string]any, all bool, list []numa.Property[T], of *T, name func(word string) string) {
	for i := range list {
		p := &list[i]
		word := name(p.Word)
		switch f := p.Fact(of).(type) {
		case *numa.Fact[int]:
			put(out, all, word, *f, func(n int) any { return n })
		case *numa.Fact[bool]:
			put(out, all, word, *f, func(b bool) any { return b })
		case *numa.Fact[numa.Bytes]:
			put(out, all, word, *f, func(b numa.Bytes) any {
				if b < 0 { // no limit
					return float64(b)
				}
				return float64(b) / float64(numa.GiB)
			})
		case *numa.Fact[string]:
			put(out, all, word, *f, func(s string) any { return s })
		case *numa.Fact[numa.PowerState]:
			put(out, all, word, *f, func(s numa.PowerState) any { return string(s) })
		case *numa.Fact[[]int]:
			put(out, all, word, *f, func(list []int) any { return append([]int{}, list...) })
		case *numa.Fact[[]numa.Node]:
			put(out, all, word, *f, func(nodes []numa.Node) any { return len(nodes) })
		}
	}
}

func put[T any](out map[string]any, all bool, name string, f numa.Fact[T], value func(T) any) {
	out[name] = nil
	if all || f.Known() {
		out[name] = value(f.Value)
	}
}

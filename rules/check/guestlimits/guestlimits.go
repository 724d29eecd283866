// Package guestlimits finds VMs whose guest software cannot use all the sockets, vCPUs or nodes
// that it sees.
package guestlimits

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"example.org/homenode/esxi/product"
	"example.org/homenode/esxi/vnuma"
	"example.org/homenode/internal/outside"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules/finding"
	"example.org/homenode/rules/rule"
)

//go:embed guestlimits.md
var page string

// Rule is N033.
var Rule = rule.New(page, rule.Rule{Severity: finding.High, VMs: true, Beside: true, Check: check})

func check(p *rule.Pass) {
	products := p.VM.Products()
	system := p.VM.GuestOS.Value + " " + p.VM.Software().Value
	for i := range products {
		if why := products[i].Misplaced(system); why != "" {
			report(p, &products[i], finding.Finding{
				Severity: finding.Medium, Topic: "system", Message: why + ": what runs in the guest or the guest system of the VM's settings is stated wrongly, and limits of the product are not judged",
				Ways:     []numa.Way{numa.ByHand("correct the guest system of the VM's settings, or what is said to run in it")},
				Evidence: []finding.Evidence{finding.Of("guest OS", p.VM.GuestOS, p.VM.At)},
			}, &p.VM.On[0])
			continue
		}
		nodes(p, &products[i], slices.ContainsFunc(products, func(o product.Product) bool { return o.SplitsNodes() }))
		idle(p, &products[i])
		hosts(p, &products[i])
		memory(p, &products[i])
		if products[i].HANA() {
			hana(p)
		}
	}
	if p.VM.MayRunSQL() {
		unknown(p)
	}
}

// nodes finds virtual nodes with more processors than the product supports. splits: the Windows
// version in the guest divides them.
func nodes(p *rule.Pass, one *product.Product, splits bool) {
	if one.Node() == 0 || one.Windows() { // Windows divides the node: see N015
		return
	}
	on, others, ok := p.Worst(func(o *rule.On) bool { return o.Layout.VPDs.Max() > one.Node() })
	if !ok {
		return
	}
	f := finding.Finding{Severity: finding.Medium, Topic: "nodes"}
	what := "is not supported with"
	if one.Refuses() && !splits {
		f.Severity, what = finding.High, "does not start with"
		if from := one.RefusesFrom(); from != "" {
			what = "from " + from + " on (its update is not stated) " + what
		}
	}
	f.Message = fmt.Sprintf("%s %s more than %d processors in a NUMA node: the guest sees a node of %d%s", one, what, one.Node(), on.Layout.VPDs.Max(), p.Where(others))
	if splits {
		f.Message += "; its Windows divides the node (N015), and whether that is enough is not stated"
	}
	f.Ways, f.Notice = p.PlanWays()
	report(p, one, f, on)
}

// unknown describes the effect of a node with more than 64 processors on SQL Server, if the
// guest's software is unknown.
func unknown(p *rule.Pass) {
	on, others, ok := p.Worst(func(o *rule.On) bool { return o.Layout.VPDs.Max() > product.GroupSize })
	if !ok {
		return
	}
	report(p, &product.Of("SQL Server")[0], finding.Finding{
		Severity: finding.Info, Topic: "nodes",
		Message: fmt.Sprintf("the guest sees a NUMA node of %d processors%s: it depends on what runs in it, SQL Server 2022 from CU11 on does not start with more than %d",
			on.Layout.VPDs.Max(), p.Where(others), product.GroupSize),
		Ways: []numa.Way{numa.ByHand("say what runs in the guest: --product, or a custom attribute product")},
	}, on)
}

// idle finds vCPUs that the product cannot use.
func idle(p *rule.Pass, one *product.Product) {
	v, on := p.VM, &p.VM.On[0]
	n := int(v.Guest.VCPUs)
	sockets, cores := on.Layout.VSockets.Len(), on.Layout.CoresPerSocket
	fewest, uses := one.Usable(n, sockets, cores)
	if fewest == n {
		return
	}
	unstated := on.Layout.Assumes&vnuma.AssumedCPS != 0
	if unstated { // on the best sockets
		_, uses = one.Usable(n, 1, n)
	}
	f := finding.Finding{Severity: finding.Medium, Topic: "processors"}
	switch {
	case unstated && uses == n:
		f.Severity = finding.Info
		f.Message = fmt.Sprintf("not known: cores per socket, which decide how many of %d vCPUs %s uses (%s): %d with %s per socket", n, one, limits(one.Rows), fewest, words.Plural(cores, "core"))
		f.Ways = []numa.Way{numa.ByHand("state the cores per socket (RVTools has them in its sheet vCPU)")}
		report(p, one, f, on)
		return
	case one.Rows[0].Supported:
		f.Severity = finding.Low
		f.Message = fmt.Sprintf("%s is supported with at most %d processors, and the VM has %d", one, uses, n)
	case uses == n:
		f.Severity = finding.Info
		f.Message = fmt.Sprintf("it depends on the %s of %s, not stated: of %d vCPUs (%s of %s) it may use only %d", one.Missing(), one, n, words.Plural(sockets, "socket"), words.Plural(cores, "core"), fewest)
	case unstated:
		f.Severity = idles(n, uses)
		f.Message = fmt.Sprintf("%s uses at most %d of %d vCPUs: %s; not known: cores per socket, with which it may use fewer", one, uses, n, limits(one.Rows))
	default:
		f.Severity = idles(n, uses)
		f.Message = fmt.Sprintf("%s uses %s of %d vCPUs: %s, and the guest sees %s of %s", one, span(fewest, uses), n, limits(one.Rows), words.Plural(sockets, "socket"), words.Plural(cores, "core"))
		if one.PerCore() {
			f.Message += fmt.Sprintf("; licensed by core, it pays for %d and uses %d", max(4, n), uses)
		}
	}
	cure(p, &f, one, uses)
	report(p, one, f, on)
}

// idles returns the severity of a product that uses so many of n vCPUs, but not all.
func idles(n, uses int) finding.Severity {
	if 2*uses <= n {
		return finding.High
	}
	return finding.Medium
}

// cure adds the ways to use more of the vCPUs: other sockets, or fewer vCPUs.
func cure(p *rule.Pass, f *finding.Finding, one *product.Product, uses int) {
	n := int(p.VM.Guest.VCPUs)
	plan := p.Plan()
	after := &plan.After[0]
	_, then := one.Usable(n, after.VSockets.Len(), after.CoresPerSocket)
	better := plan.Better && then > uses && (then == n || idles(n, then) < f.Severity)
	if _, most := one.Usable(n, 1, n); !better && most < n { // with the sockets of a smaller VM
		then = most
	}
	limit, most := limited(p)
	other := numa.ByHand("take an edition that uses more")
	switch {
	case then == n && uses == n:
		f.Ways = []numa.Way{numa.ByHand("say which " + one.Missing() + " it is (--product)")}
	case limit != nil && (then < n || !better):
		f.Ways = append(both(p, limit, most), other)
	case better:
		f.Ways, f.Notice = p.PlanWays()
		if then < n {
			f.Besides = fmt.Sprintf("With all %d vCPUs it uses %d of them: take an edition that uses more", n, then)
			f.Ways = append(f.Ways, p.AtMostVCPUs(then, ""))
		}
	case one.Rows[0].Supported:
		f.Ways = []numa.Way{p.AtMostVCPUs(then, ", and another VM for more")}
	default:
		f.Ways = []numa.Way{p.AtMostVCPUs(then, ""), other}
	}
}

// memory finds VMs with more memory than the product uses: its largest buffer pool is less than the part of the memory that it is advised to take.
// Low is only what columnstore segments and memory-optimised tables, which have a quarter of the pool each beside it (limits.md, S1), cannot use either:
// more than twice the pool, and 8 GB for the guest system.
func memory(p *rule.Pass, one *product.Product) {
	v, pool := p.VM, one.BufferPool()
	other := func(o product.Product) bool { return o.Family != one.Family && !o.Windows() } // it may use the rest
	if pool == 0 || float64(pool) >= p.Threshold("poolShare")*float64(v.Memory.Value) || slices.ContainsFunc(v.Products(), other) {
		return
	}
	f := finding.Finding{Severity: finding.Info, Topic: "memory",
		Message:  fmt.Sprintf("an instance of %s has a buffer pool of at most %s, and the VM has %s", one, pool, v.Memory.Value),
		When:     "Unless columnstore or memory-optimised tables, or other programs, use the rest",
		Ways:     []numa.Way{numa.ByHand("give the VM less memory"), numa.ByHand("take an edition that uses more")},
		Evidence: []finding.Evidence{v.MemoryEvidence()}}
	on, others, ok := p.Worst(func(o *rule.On) bool {
		return v.Memory.Value > 2*pool+8*numa.GiB && o.Kind.Machine.MemoryKnown() && int64(v.Memory.Value) > o.Kind.Machine.NodeMemory
	})
	if ok {
		f.Severity = finding.Low
		f.Message += fmt.Sprintf(", more than a node%s holds", p.Where(others))
		f.Evidence = append(f.Evidence, on.Kind.NodesEvidence())
	} else {
		on = &v.On[0]
	}
	report(p, one, f, on)
}

// hosts finds hosts on which the licence of the product forbids it to run.
func hosts(p *rule.Pass, one *product.Product) {
	limit := one.HostSockets()
	on, others, ok := p.Worst(func(o *rule.On) bool { return limit > 0 && packages(o.Kind) > limit })
	if !ok {
		return
	}
	way := numa.ByHand("keep the VM on hosts that its licence covers with a DRS rule (must)")
	if others == 0 {
		way = numa.ByHand("move the VM to a cluster whose hosts its licence covers, or take an edition that covers these: no host of its cluster qualifies")
	}
	report(p, one, finding.Finding{
		Severity: finding.Medium, Topic: "hosts",
		Message: fmt.Sprintf("%s is licensed for servers of at most %s, and a host%s has %d", one, words.Plural(limit, "socket"), p.Where(others), packages(on.Kind)),
		Ways:    []numa.Way{way},
	}, on)
}

// packages returns the number of packages of the hosts of a kind; 0 if unknown.
func packages(k *rule.Kind) int {
	return slices.MaxFunc(k.Hosts, func(a, b *numa.Host) int { return a.Packages.Or(0) - b.Packages.Or(0) }).Packages.Or(0)
}

// span formats a range of numbers.
func span(fewest, most int) string {
	if fewest == most {
		return fmt.Sprint(most)
	}
	return fmt.Sprintf("%d to %d", fewest, most)
}

// limits formats the highest limits of the rows: "at most 4 sockets and 24 processors".
func limits(rows []*product.Row) string {
	one := product.Product{Rows: rows}
	var parts []string
	if k := one.Sockets(); k > 0 {
		parts = append(parts, words.Plural(k, "socket"))
	}
	if k := one.Most(func(r *product.Row) int { return r.Processors }); k > 0 {
		parts = append(parts, words.Plural(k, "processor"))
	}
	if parts == nil {
		return "its editions differ"
	}
	return "at most " + strings.Join(parts, " and ")
}

func report(p *rule.Pass, one *product.Product, f finding.Finding, on *rule.On) {
	v, fact := p.VM, outside.Of(one.Fact())
	f.Evidence = append(f.Evidence, v.SoftwareEvidence())
	if f.Topic != "memory" {
		f.Evidence = append(f.Evidence, v.VCPUsEvidence(), v.CPSEvidence(), on.Kind.NodesEvidence())
	}
	f.Topic += " of " + one.Family
	f.Evidence = append(f.Evidence,
		finding.Evidence{Name: "limits of " + fact.About, Value: fact.Version, Origin: "read: " + fact.Cite(p.Today)})
	p.Report(f, &on.Layout)
}

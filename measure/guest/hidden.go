package guest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/measure/guest/hidden"
	"example.org/homenode/measure/guest/pages"
	"example.org/homenode/source/measured"
)

// hiddenTasks returns the tasks that search for nodes that the guest does not see.
func hiddenTasks(p *Plan) []Task {
	scenes := p.scenes()
	if len(scenes) == 0 {
		if p.Options.asks(Hidden) {
			p.miss("hidden nodes", "none of the measured logical processors is on a measured node", "--cpus and --nodes that belong together")
		}
		return nil
	}
	d := 4 * time.Second
	if p.Options.quick() {
		d = 1400 * time.Millisecond
	}
	bytes := int64(tinyMemory)
	if !p.Memory.small() {
		bytes = int64(p.freshBlocks(len(scenes))) * int64(len(scenes)) * blockBytes
	}
	return []Task{{Part: Hidden, Name: "hidden nodes", CPUs: 1, Bytes: bytes, For: d, run: probeHidden}}
}

// freshBlocks returns the number of blocks of fresh memory for each scene.
func (p *Plan) freshBlocks(scenes int) int {
	return min(freshPages, int(p.Memory.Bytes/blockBytes)/scenes)
}

func probeHidden(ctx context.Context, r *run, d time.Duration) (err error) {
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	scenes := r.plan.scenes()
	defer func() {
		for _, s := range scenes {
			err = errors.Join(err, s.close())
		}
	}()
	started := time.Now()
	huge := r.plan.Options.Paging != PagingNone
	for i := 0; i < len(scenes); i++ {
		s := scenes[i]
		if r.plan.Memory.small() {
			if err := s.little(ctx, tinyMemory/len(scenes)); err != nil {
				return err
			}
		} else if err := s.take(ctx, r.plan.freshBlocks(len(scenes)), huge, r.step, rng); err != nil {
			if !huge || r.plan.Options.Paging == PagingHuge || ctx.Err() != nil {
				return err
			}
			// The system provides no huge pages: restart with small ones.
			huge, i = false, -1
			for _, s := range scenes {
				if err := s.close(); err != nil {
					return err
				}
				s.pages = nil
			}
			continue
		}
		s.cached()
	}
	rounds := hiddenRounds
	if r.plan.Options.quick() {
		rounds = quickRounds
	}
	probes, err := lookAt(ctx, scenes, rounds, max(leastLooking, d*9/10-time.Since(started)), rng)
	if err != nil {
		return err
	}
	for i, s := range scenes {
		r.seen = append(r.seen, seen{s.node, probes[i]})
	}
	return nil
}

// seen has the probes of one node of the guest.
type seen struct {
	node   int
	probes *hidden.Probes
}

// judgeHidden evaluates the probes, with the groups by cache lines if they are known.
func judgeHidden(all []seen, cores *measured.Cores) (whole *measured.Hidden, byNode []measured.Hidden) {
	var levels []measured.GroupLevel
	if cores != nil {
		levels = cores.Levels
	}
	for _, s := range all {
		h := hidden.Judge(s.probes, levelsOf(levels, s.probes.CPUs))
		if s.node == pages.Anywhere {
			return h, nil
		}
		h.Node = &s.node
		byNode = append(byNode, *h)
	}
	if len(byNode) == 0 {
		return nil, nil
	}
	return together(byNode, all), byNode
}

// levelsOf returns the levels restricted to some processors.
func levelsOf(levels []measured.GroupLevel, cpus []int) (out []measured.GroupLevel) {
	for _, l := range levels {
		of := l
		of.Groups = nil
		for _, g := range l.Groups {
			if g = slices.DeleteFunc(slices.Clone(g), func(c int) bool { return !slices.Contains(cpus, c) }); len(g) > 0 {
				of.Groups = append(of.Groups, g)
			}
		}
		if len(of.Groups) > 0 {
			out = append(out, of)
		}
	}
	return out
}

// together combines the answers of the guest's nodes into one: the worst. Groups are only included if a single node is split: which groups of two
// nodes of the guest share a node of the host was not examined. The accuracy of answers was only simulated for one node, so the probabilities are
// given per node.
func together(byNode []measured.Hidden, all []seen) *measured.Hidden {
	h := &measured.Hidden{Answer: measured.OneKind}
	rank := []measured.Answer{measured.OneKind, measured.NotKnown, measured.FarPages, measured.SeveralNodes}
	var says, why []string
	split := 0
	for i, n := range byNode {
		if slices.Index(rank, n.Answer) > slices.Index(rank, h.Answer) {
			h.Answer, h.Method, h.Delta = n.Answer, n.Method, n.Delta
		}
		if h.Method == "" {
			h.Method = n.Method
		}
		if n.Answer == measured.SeveralNodes {
			split++
			h.Groups = n.Groups
		}
		h.Pages, h.Blocks = h.Pages+n.Pages, h.Blocks+n.Blocks
		h.Unplaced = append(h.Unplaced, n.Unplaced...)
		for _, s := range n.Shares {
			if len(s.From) == 0 {
				s.From = all[i].probes.CPUs
			}
			h.Shares = append(h.Shares, s)
		}
		name := fmt.Sprintf("node %d", *n.Node)
		for _, c := range n.Checks {
			c.Name = name + ": " + c.Name
			h.Checks = append(h.Checks, c)
		}
		if n.Why != "" {
			why = append(why, name+": "+n.Why)
		}
		says = append(says, fmt.Sprintf("Node %d of the guest: %s", *n.Node, strings.TrimSuffix(n.Says, " "+hidden.Limits)))
	}
	if split > 1 {
		h.Groups = nil
	}
	h.Why = words.Join("; ", why...)
	h.Says = strings.Join(append(says, hidden.Limits), " ")
	return h
}

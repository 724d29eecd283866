package scheduler

import "fmt"

// check returns what the page says always holds, and does not.
func (h *plainHost) check() error {
	used := map[*plainNode]int64{}
	for _, n := range h.nodes {
		for _, u := range h.world.story.Used {
			if u.Host == h.host.ID && u.Node == n.ID {
				used[n] = min(n.mem, used[n]+pagesOf(u.Memory))
			}
		}
		for _, c := range h.clients() {
			used[n] += c.pages[n.index]
		}
		if used[n] != n.used {
			return fmt.Errorf("node %d: %d pages in use, want %d", n.ID, n.used, used[n])
		}
		if n.used > n.mem {
			return fmt.Errorf("node %d: %d pages in use of %d", n.ID, n.used, n.mem)
		}
	}
	for _, c := range h.clients() {
		if err := c.check(); err != nil {
			return fmt.Errorf("%s, client at %d: %w", c.vm.vm.Name, c.first, err)
		}
	}
	return nil
}

func (c *plainClient) check() error {
	if sum := c.all() + c.saved + c.ballooned + c.swapped; sum != c.touched {
		return fmt.Errorf("%d pages touched, %d accounted for", c.touched, sum)
	}
	for _, x := range []int64{c.saved, c.ballooned, c.swapped, c.hot, c.owed, c.demand, c.run, c.got - c.run, c.wanted - c.got} {
		if x < 0 {
			return fmt.Errorf("%+v has something negative", *c)
		}
	}
	allowed, home := map[*plainNode]bool{}, c.home == nil
	for _, n := range c.vm.canUse {
		allowed[n] = true
	}
	for _, n := range c.vm.canLive {
		home = home || n == c.home
	}
	if !home {
		return fmt.Errorf("at home on node %d", c.home.ID)
	}
	for _, n := range c.vm.host.nodes {
		if c.home != nil && c.pages[n.index] != 0 && !allowed[n] {
			return fmt.Errorf("%d pages on node %d", c.pages[n.index], n.ID)
		}
	}
	return nil
}

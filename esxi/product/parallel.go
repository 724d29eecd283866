package product

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Parallel returns the MAXDOP that Microsoft recommends for SQL Server where it sees nodes of so many processors, on sockets of cores each, and
// describes it with its conditions; 0 where these are not known, and "" for other products. From 2016 on SQL Server divides nodes of more than 8 cores
// into soft-NUMA nodes of 8 where it can, else of 5 to 9, and the recommendation is about these (Soft-NUMA, 2018-02-13; Configure max degree of
// parallelism, 2022-03-17; learn.microsoft.com/en-us/sql/database-engine/configure-windows). The fewest of at most 9 are assumed. Processors that the
// edition cannot use do not count, and the smallest node decides.
func (p *Product) Parallel(nodes []int, sockets, cores int) (most int, text string) {
	all := 0
	for _, n := range nodes {
		all += n
	}
	fewest, uses := p.Usable(all, sockets, cores)
	if p.Family != sqlServer || uses < 1 {
		return 0, ""
	}
	lie := taken(nodes, uses)
	used := slices.DeleteFunc(slices.Clone(lie), func(n int) bool { return n == 0 })
	early := min(8, slices.Min(used)) // of versions before 2016 too
	whole, soft := recommended(used)
	text = "MAXDOP at most "
	switch most = soft; {
	case p.Version != "" && p.Version < "2016":
		most = early
		text += strconv.Itoa(early)
	case p.Version == "" && early != soft:
		most = min(early, soft)
		text = fmt.Sprintf("to 2014 %s%d; from 2016 on %s%s", text, early, text, softly(whole, soft, used))
	default:
		text += softly(whole, soft, used)
	}
	source := "Microsoft, Configure max degree of parallelism, 2022-03-17"
	if fewest < uses {
		most = 0
		text += fmt.Sprintf(", if its %s, not stated, uses %d of %d processors", p.Missing(), uses, all)
	}
	if len(nodes) > 1 && uses < all {
		text += fmt.Sprintf(", if the %d processors that it uses lie %s on its nodes, which is assumed: sys.dm_os_schedulers lists them", uses, strings.Trim(strings.ReplaceAll(fmt.Sprint(lie), " ", " + "), "[]"))
		source += "; AWS, Avoid CPU core mismatches, 2020-06-08"
	}
	return most, fmt.Sprintf("%s: %s (%s)", p.Family, text, source)
}

// taken returns how many processors of each node are used where the product takes them node by node (the fact onlinenodes of package outside).
func taken(nodes []int, uses int) []int {
	lie := make([]int, len(nodes))
	for i, n := range nodes {
		lie[i] = min(n, uses)
		uses -= lie[i]
	}
	return lie
}

// recommended returns the MAXDOP that every node allows, without and with soft-NUMA.
func recommended(nodes []int) (whole, soft int) {
	whole, soft = slices.Max(nodes), slices.Max(nodes)
	for _, n := range nodes {
		most := n
		switch {
		case len(nodes) == 1:
			most = min(8, n)
		case n > 16:
			most = min(16, n/2)
		}
		whole = min(whole, most)
		if parts := (n + 8) / 9; parts > 1 {
			most = n / parts
		}
		soft = min(soft, most)
	}
	return whole, soft
}

// softly describes the MAXDOP with and without the soft-NUMA nodes that SQL Server makes of these nodes.
func softly(whole, soft int, nodes []int) string {
	switch {
	case slices.Max(nodes) <= 9: // it divides none
		return strconv.Itoa(whole)
	case whole == soft:
		return fmt.Sprintf("%d, with or without soft-NUMA", soft)
	}
	return fmt.Sprintf("%d with soft-NUMA, its default (sys.dm_os_nodes lists the nodes), and at most %d without", soft, whole)
}

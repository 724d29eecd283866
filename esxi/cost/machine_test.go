package cost

import (
	"math"
	"slices"
	"strings"
	"testing"

	"example.org/homenode/numa"
)

func TestForProcessor(t *testing.T) {
	for _, tt := range []struct {
		cpu, id string
		extra   bool
		why     string
	}{
		{"Intel(R) Xeon(R) CPU E5-2630 v4 @ 2.20GHz", "xeon-v4", false, `"Intel(R) Xeon(R) CPU E5-2630 v4 @ 2.20GHz" is a Xeon v4.`},
		{"Xeon E5-2680 v3", "xeon-v4", true, `"Xeon E5-2680 v3" is Haswell, which is not in the table; the nearest family is two Xeon E5 v4.`},
		{"Xeon E5-2697 v2", "xeon-v4", true, `"Xeon E5-2697 v2" is Ivy Bridge, which is not in the table; the nearest family is two Xeon E5 v4.`},
		{"Intel(R) Xeon(R) CPU E5-2620 0 @ 2.00GHz", "xeon-v4", true, `"Intel(R) Xeon(R) CPU E5-2620 0 @ 2.00GHz" is Sandy Bridge or older, which is not in the table; the nearest family is two Xeon E5 v4.`},
		{"Xeon X7542 (DL580 G7)", "xeon-v4", true, `"Xeon X7542 (DL580 G7)" is a Xeon before Sandy Bridge, which is not in the table; the nearest family is two Xeon E5 v4.`},
		{"Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz", "skylake", false, `"Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz" is Skylake.`},
		{"Intel(R) Xeon(R) Platinum 8180M CPU @ 2.50GHz", "skylake", false, `"Intel(R) Xeon(R) Platinum 8180M CPU @ 2.50GHz" is Skylake.`},
		{"Xeon Gold 5218R", "skylake", true, `"Xeon Gold 5218R" is Cascade Lake, which is not in the table; the nearest family is two Xeon Scalable of the first generation (Skylake).`},
		{"Xeon Gold 6354 (VxRail V670F)", "skylake", true, `"Xeon Gold 6354 (VxRail V670F)" is Ice Lake, which is not in the table; the nearest family is two Xeon Scalable of the first generation (Skylake).`},
		{"Intel(R) Xeon(R) Platinum 8380HL CPU", "skylake", true, `"Intel(R) Xeon(R) Platinum 8380HL CPU" is Cooper Lake, which is not in the table; the nearest family is two Xeon Scalable of the first generation (Skylake).`},
		{"Intel(R) Xeon(R) Gold 6430", "skylake", true, `"Intel(R) Xeon(R) Gold 6430" is Sapphire Rapids, which is not in the table; the nearest family is two Xeon Scalable of the first generation (Skylake).`},
		{"INTEL(R) XEON(R) GOLD 6544Y", "skylake", true, `"INTEL(R) XEON(R) GOLD 6544Y" is Emerald Rapids, which is not in the table; the nearest family is two Xeon Scalable of the first generation (Skylake).`},
		{"Intel(R) Xeon(R) 6787P", "skylake", true, `"Intel(R) Xeon(R) 6787P" is a Xeon 6, which is not in the table; the nearest family is two Xeon Scalable of the first generation (Skylake).`},
		{"Intel(R) Xeon(R) W-2145", "skylake", true, `"Intel(R) Xeon(R) W-2145" is a Xeon of unknown generation, which is not in the table; the nearest family is two Xeon Scalable of the first generation (Skylake).`},
		{"Xeon Gold", "skylake", true, `"Xeon Gold" is a Xeon of unknown generation, which is not in the table; the nearest family is two Xeon Scalable of the first generation (Skylake).`},
		{"AMD EPYC 7401 24-Core Processor", "epyc", true, `"AMD EPYC 7401 24-Core Processor" is an EPYC Naples; the published EPYC does not say which generation it is.`},
		{"EPYC 7302P", "epyc", true, `"EPYC 7302P" is an EPYC Rome; the published EPYC does not say which generation it is.`},
		{"AMD EPYC 9654 96-Core Processor", "epyc", true, `"AMD EPYC 9654 96-Core Processor" is an EPYC Genoa; the published EPYC does not say which generation it is.`},
		{"AMD EPYC 4564P", "epyc", true, `"AMD EPYC 4564P" is an EPYC of a generation that is not recognised; the published EPYC does not say which generation it is.`},
		{"AMD Opteron(tm) Processor 6174", "epyc", true, `"AMD Opteron(tm) Processor 6174" is not in the table; the nearest family is EPYC.`},
		{"Intel(R) Core(TM) i7-8559U", "skylake", true, `"Intel(R) Core(TM) i7-8559U" is of no family that is recognised: Skylake is assumed, and the interval covers the whole table.`},
		{"", "skylake", true, "The processor of the host is not known: Skylake is assumed, and the interval covers the whole table."},
	} {
		m := For(&numa.Host{CPUModel: numa.ReadAt(tt.cpu, "test"), Packages: numa.ReadAt(2, "test"), Cores: numa.ReadAt(20, "test")})
		why, _, _ := strings.Cut(m.Why[0], " Figures: ")
		if m.ID != tt.id || m.Extrapolated != tt.extra || why != tt.why {
			t.Errorf("For(%q) = %s, extrapolated %v, %s\nwant %s, %v, %s", tt.cpu, m.ID, m.Extrapolated, why, tt.id, tt.extra, tt.why)
		}
	}
}

func TestForNodes(t *testing.T) {
	node := func(id, pkg int) numa.Node { return numa.Node{ID: id, Package: pkg, Cores: 9} }
	host := func(cpu string, packages int, nodes ...numa.Node) *numa.Host {
		h := &numa.Host{CPUModel: numa.ReadAt(cpu, "test")}
		if packages > 0 {
			h.Packages, h.Cores = numa.ReadAt(packages, "test"), numa.ReadAt(packages*18, "test")
		}
		if nodes != nil {
			h.Nodes = numa.ReadAt(nodes, "test")
		}
		return h
	}
	for _, tt := range []struct {
		name  string
		host  *numa.Host
		id    string
		far   float64 // ns from node 0 to the last
		next  float64 // ns from node 0 to node 1
		share float64 // of the link, to four digits
		extra bool
		why   []string // but the first
	}{
		{"Skylake with SNC", host("Xeon Gold 6154", 2, node(0, 0), node(1, 0), node(2, 1), node(3, 1)), "skylake-snc", 138.25, 81.5, 0.5896, false, nil},
		{"SNC by order of nodes", host("Xeon Gold 6154", 2, node(0, -1), node(1, -1), node(2, -1), node(3, -1)), "skylake-snc", 138.25, 81.5, 0.5896, false,
			[]string{"Nodes are divided over the packages in their order (A-6)."}},
		{"packages unknown", host("Xeon Gold 6154", 0, node(0, -1), node(1, -1)), "skylake", 138.9, 138.9, 0.3101, false,
			[]string{"Which node is in which package is not known: all other nodes count as far."}},
		{"nodes unknown", host("Xeon Gold 6154", 4), "skylake", 138.9, 138.9, 0.3101, false,
			[]string{"The nodes of the host are not known: one for each package is assumed (A-3)."}},
		{"nothing known", host("Xeon Gold 6154", 0), "skylake", 138.9, 138.9, 0.3101, false,
			[]string{"The nodes of the host are not known: two packages of one node are assumed."}},
		// A link of 41 % of a package is 82 % of one of its two nodes; near 73 × 81.5/74.2.
		{"COD on Xeon v4", host("Xeon E5-2680 v4", 2, node(0, 0), node(1, 0), node(2, 1), node(3, 1)), "xeon-v4", 130, 80.18, 0.8172, true,
			[]string{"Near memory of this family is not published: it is taken to be slower than local by as much as on Skylake with SNC, and the interval reaches from local to far."}},
		{"EPYC", host("EPYC 7302", 2, node(0, 0), node(1, 1)), "epyc", 205, 205, 0.3101, true,
			[]string{"Bandwidth between packages is not published for this family: a link of 31% of a package's own bandwidth is assumed, as on Skylake."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := For(tt.host)
			far, next := m.Paths[m.Distance(0, len(m.Nodes)-1)], m.Paths[m.Distance(0, 1)].Nanoseconds.Value
			if m.ID != tt.id || far.Nanoseconds.Value != tt.far || round(next, 2) != tt.next || round(far.Share.Value, 4) != tt.share || m.Extrapolated != tt.extra {
				t.Errorf("got %s, far %v ns, next %v ns, link %v, extrapolated %v; want %s, %v, %v, %v, %v", m.ID, far.Nanoseconds.Value, next, far.Share.Value, m.Extrapolated,
					tt.id, tt.far, tt.next, tt.share, tt.extra)
			}
			if got, want := strings.Join(m.Why[1:], "\n"), strings.Join(tt.why, "\n"); got != want {
				t.Errorf("why:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func round(v float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(v*scale) / scale
}

// TestOrigins checks that every figure says where it is from, and only unknown ones do not.
func TestOrigins(t *testing.T) {
	kinds := map[string]string{}
	for _, m := range Table() {
		var b strings.Builder
		for d := range m.Paths {
			p := &m.Paths[d]
			b.WriteString(" " + p.Nanoseconds.Origin.Kind.String() + "/" + p.BytesPerSecond.Origin.Kind.String() + "/" + p.Share.Origin.Kind.String())
		}
		kinds[m.ID] = b.String()
	}
	for id, want := range map[string]string{
		"xeon-v4":      " read/derived/derived assumed/unknown/assumed read/derived/derived",
		"skylake":      " read/read/derived assumed/unknown/assumed read/read/derived",
		"skylake-snc":  " read/read/derived read/read/derived derived/read/derived",
		"skylake-2022": " read/unknown/derived assumed/unknown/assumed read/unknown/assumed",
		"skylake-csit": " derived/derived/derived assumed/unknown/assumed derived/derived/derived",
		"dram-2019":    " read/unknown/derived assumed/unknown/assumed read/unknown/assumed",
		"epyc":         " read/unknown/derived assumed/unknown/assumed read/unknown/assumed",
		"experiment-d": " derived/derived/derived assumed/unknown/assumed derived/derived/derived",
	} {
		if kinds[id] != want {
			t.Errorf("%s: origins%s\nwant%s", id, kinds[id], want)
		}
		delete(kinds, id)
	}
	if len(kinds) != 0 {
		t.Errorf("not expected: %v", kinds)
	}
}

func FuzzFor(f *testing.F) {
	for _, s := range []string{"Xeon Gold 6354", "Intel(R) Xeon(R) CPU E7-8890 v3", "EPYC 7", "xeon x", "Xeon Gold 61", "Xeon 6 6980P", "AMD", "Opteron"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, cpu string) {
		m := For(&numa.Host{CPUModel: numa.ReadAt(cpu, "fuzz")})
		if len(m.Why) == 0 || !(m.Paths[Local].Nanoseconds.Value > 0 && m.Paths[Far].Nanoseconds.Value > m.Paths[Local].Nanoseconds.Value) {
			t.Errorf("For(%q) = %+v", cpu, m)
		}
	})
}

// TestSpan checks what an interval covers, as ns near, ns far, near share and link.
func TestSpan(t *testing.T) {
	parted := []numa.Node{{ID: 0, Package: 0}, {ID: 1, Package: 0}, {ID: 2, Package: 1}, {ID: 3, Package: 1}}
	whole := []numa.Node{{ID: 0, Package: 0}, {ID: 1, Package: 1}}
	type row [4]float64
	// Links: 34451/111083 on Skylake, 50893.05/108065.55 at most, 28661.8/4 of 52926.8/2
	// at least. A package of two nodes has twice of it for each.
	const skl, most, least = 0.3101, 0.4709, 0.2708
	for _, tt := range []struct {
		cpu   string
		nodes []numa.Node
		want  []row
	}{
		{"Xeon E5-2630 v4", whole, []row{{80.2, 130, 1.0006, 0.4086}}},
		{"Xeon Gold 6154", whole, []row{{88.7, 138.9, 1.0006, skl}, {97.8, 139, 1.0006, least}, {97.8, 139, 1.0006, most}, {89.4, 131.1, 1.0006, most}}},
		{"Xeon Gold 6154", parted, []row{{81.5, 138.3, 1.0006, 0.5896}}},
		{"Xeon Gold 6354", parted, []row{{81.5, 138.3, 1.0006, 0.5896}, {74.2, 138.3, 1, 0.5896}, {138.3, 138.3, 0.5896, 0.5896}}},
		{"EPYC 7302", whole, []row{{141.7, 205, 1.0006, least}, {141.7, 205, 1.0006, most}}},
		{"EPYC 7302", parted, []row{
			{141.7, 205, 1.0006, 0.5415}, {129, 205, 1, 0.5415}, {205, 205, 0.5415, 0.5415},
			{141.7, 205, 1.0006, 0.9419}, {129, 205, 1, 0.9419}, {205, 205, 0.9419, 0.9419}}},
	} {
		m := For(&numa.Host{CPUModel: numa.ReadAt(tt.cpu, "test"), Nodes: numa.ReadAt(tt.nodes, "test")})
		var got []row
		for _, f := range m.span {
			got = append(got, row{round(f.ns[Near], 1), round(f.ns[Far], 1), round(f.share[Near], 4), round(f.share[Far], 4)})
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s with %d nodes: span %v\nwant %v", tt.cpu, len(tt.nodes), got, tt.want)
		}
	}
	for cpu, want := range map[string]int{"Xeon Gold 6354": 8, "": 10} { // two for each of the measurements without a link
		m := For(&numa.Host{CPUModel: numa.ReadAt(cpu, "test"), Nodes: numa.ReadAt(whole, "test")})
		if len(m.span) != want {
			t.Errorf("%q: an interval over %d figures, want %d", cpu, len(m.span), want)
		}
	}
}

package product_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"example.org/homenode/esxi/product"
	"example.org/homenode/numa"
)

// TestOf reads products as users, tags and vSphere name them.
func TestOf(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"SQL Server 2022 Standard", "SQL Server 2022 Standard"},
		{"Microsoft SQL Server 2019 Enterprise Edition (64-bit)", "SQL Server 2019 Enterprise"},
		{"SQL Server 2019 Enterprise Server+CAL", "SQL Server 2019 Enterprise CAL"},
		{"mssql 2017 std", "SQL Server 2017 Standard"},
		{"SQL2016 Express", "SQL Server 2016 Express"},
		{"SQL 2008 R2 Workgroup", "SQL Server 2008 R2 Workgroup"},
		{"SQL Server 2025 Standard Developer", "SQL Server 2025 Standard Developer"},
		{"SQL Server 2025 Developer", "SQL Server 2025 Developer (edition)"},
		{"SQL Server 2022 Developer", "SQL Server 2022 Developer"},
		{"SQL Server 2025 Web", ""},
		{"SQL Server 2005 Standard", ""},
		{"Windows Server 2019 Essentials", "Windows Server 2019 Essentials"},
		{"Windows Server 2012 R2 Foundation", "Windows Server 2012 R2 Foundation"},
		{"Windows Server 2022 Essentials", ""},
		{"SQL Server", "SQL Server (version and edition)"},
		{"SQL Server Standard", "SQL Server Standard (version)"},
		{"SQL Server 2022", "SQL Server 2022 (edition)"},
		{"SQL Server 2022 Standard on Windows Server 2019 Datacenter", "SQL Server 2022 Standard, Windows Server 2019 Datacenter"},
		{"Windows Server 2008 R2 Enterprise, SQL Server 2012 Standard", "Windows Server 2008 R2 Enterprise, SQL Server 2012 Standard"},
		{"SQL Server 2029 Standard", ""},
		{"MySQL 8.0", ""},
		{"PostgreSQL 16", ""},
		{"Oracle Database 19c SE2", "Oracle Database Standard Edition 2"},
		{"Oracle 12c Standard Edition", "Oracle Database Standard Edition"},
		{"Oracle Linux 8 (64-bit)", ""},
		{"oracleLinux8_64Guest", ""},
		{"SAP HANA SPS07", "SAP HANA"},
		{"SAP HANA 2.0", "SAP HANA"},
		{"Exchange 2019", "Exchange Server 2019"},
		{"Exchange SE", "Exchange Server SE"},
		{"Windows 11 Pro", "Windows 11 Pro"},
		{"Windows 10 Pro for Workstations", "Windows 10 Pro for Workstations"},
		{"Windows 10 Enterprise LTSC 2021", "Windows 10 Enterprise"},
		{"windows9_64Guest", "Windows 10 (edition)"},
		{"WINDOWS2019SRV_64GUEST", "Windows Server 2019"},
		{"windows2019srvNext_64Guest", "Windows Server 2022"},
		{"windows2019srv-64", "Windows Server 2019"},
		{"windows2019srvNext-64", "Windows Server 2022"},
		{"windows9srv-64", "Windows Server 2016"},
		{"windows8Server-64", "Windows Server 2012"},
		{"windows9-64", "Windows 10 (edition)"},
		{"windows9", ""},
		{"winNetEnterprise-64", ""},
		{"windows9Guest", ""},
		{"winNetEnterprise64Guest", ""},
		{"Microsoft Windows Server 2016 or later (64-bit)", "Windows Server 2016"},
		{"Microsoft Windows 10 (32-bit)", ""},
		{"Microsoft Windows 100 (64-bit)", ""},
		{"otherGuest64", ""},
		{"", ""},
	} {
		var got []string
		for _, p := range product.Of(tt.text) {
			text := p.String()
			if m := p.Missing(); m != "" {
				text += " (" + m + ")"
			}
			got = append(got, text)
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%q is %q, want %q", tt.text, s, tt.want)
		}
	}
}

// TestMisspelt finds a word where an edition is meant, and leaves remarks beside a stated edition.
func TestMisspelt(t *testing.T) {
	for text, want := range map[string]string{"SQL Server 2022 Standart": "standart", "billing: SQL Server 2022": "", "SQL Server 2022 Std, cluster": "", "SQL Server 2019 (64-bit)": "", "SAP HANA tenant": ""} {
		words, editions := product.Misspelt(text)
		if got := strings.Join(words, " "); got != want || (got != "") != (len(editions) > 0) {
			t.Errorf("%s: %q of %q, want %q", text, got, editions, want)
		}
	}
}

// TestUsable holds the limits against the sentences of the sources.
func TestUsable(t *testing.T) {
	for _, tt := range []struct {
		text                  string
		vcpus, sockets, cores int
		fewest, most          int
	}{
		{"SQL Server 2022 Standard", 24, 24, 1, 4, 4}, // the lesser of 4 sockets or 24 cores
		{"SQL Server 2022 Standard", 24, 4, 6, 24, 24},
		{"SQL Server 2022 Standard", 32, 2, 16, 24, 24},
		{"SQL Server 2025 Standard", 32, 2, 16, 32, 32}, // 32 cores
		{"SQL Server 2025 Standard", 48, 4, 12, 32, 32},
		{"SQL Server 2014 Standard", 24, 2, 12, 16, 16},
		{"SQL Server 2008 R2 Standard", 24, 8, 3, 12, 12},
		{"SQL Server 2008 Enterprise", 96, 2, 48, 64, 64},       // it knows no processor groups
		{"SQL Server 2008 R2 Enterprise", 320, 8, 40, 256, 256}, // the blog of S4
		{"Windows 7 Pro", 288, 2, 144, 256, 256},
		{"SQL Server 2019 Web", 32, 4, 8, 16, 16},
		{"SQL Server 2019 Express", 8, 4, 2, 2, 2}, // 1 socket or 4 cores
		{"SQL Server 2019 Enterprise", 128, 128, 1, 128, 128},
		{"SQL Server 2019 Enterprise CAL", 64, 4, 16, 20, 20},
		{"SQL Server", 24, 2, 12, 4, 24},
		{"SQL Server Standard", 32, 4, 8, 16, 32},
		{"Windows 11 Pro", 24, 24, 1, 2, 2},
		{"Windows 10 Home", 8, 2, 4, 4, 4},
		{"Windows 10", 8, 8, 1, 1, 4},
		{"Windows Server 2008 R2 Standard", 16, 16, 1, 4, 4},
		{"Windows Server 2008 R2", 16, 16, 1, 4, 16},
		{"Windows Server 2022", 24, 24, 1, 24, 24},
		{"Windows Server 2019", 96, 96, 1, 64, 64},
		{"Oracle Database 19c Standard Edition 2", 24, 2, 12, 16, 16},
		{"Oracle Database 19c Enterprise", 64, 64, 1, 64, 64},
		{"Exchange Server 2019", 64, 2, 32, 48, 48},
	} {
		p := product.Of(tt.text)[0]
		if fewest, most := p.Usable(tt.vcpus, tt.sockets, tt.cores); fewest != tt.fewest || most != tt.most {
			t.Errorf("%s uses %d to %d of %d × %d, want %d to %d", tt.text, fewest, most, tt.sockets, tt.cores, tt.fewest, tt.most)
		}
	}
}

// TestParallel holds the advice against Microsoft's tables for 2016 and later, and for 2008 to 2014. Processors that the edition does not use do not count.
func TestParallel(t *testing.T) {
	const microsoft, aws = "Microsoft, Configure max degree of parallelism, 2022-03-17", "; AWS, Avoid CPU core mismatches, 2020-06-08"
	soft := func(most, whole int) string {
		return fmt.Sprintf("%d with soft-NUMA, its default (sys.dm_os_nodes lists the nodes), and at most %d without", most, whole)
	}
	lie := func(text, uses, as string) string {
		return text + ", if the " + uses + " processors that it uses lie " + as + " on its nodes, which is assumed: sys.dm_os_schedulers lists them"
	}
	const either = ", with or without soft-NUMA"
	for _, tt := range []struct {
		text    string
		nodes   []int
		sockets int
		most    int
		want    string
	}{
		{"SQL Server 2019 Standard", []int{6}, 1, 6, "6"},
		{"SQL Server 2019 Standard", []int{8, 8, 8}, 3, 8, "8"},
		{"SQL Server 2022 Standard", []int{12, 12}, 2, 6, soft(6, 12)},
		{"SQL Server 2022 Enterprise", []int{9, 9}, 2, 9, "9"}, // 4 and 5 would be too small
		{"SQL Server 2022 Enterprise", []int{9}, 1, 8, "8"},
		{"SQL Server 2022 Enterprise", []int{17, 17}, 2, 8, "8" + either},
		{"SQL Server 2022 Enterprise", []int{24, 24}, 2, 8, soft(8, 12)}, // half, and at most 16
		{"SQL Server 2022 Enterprise", []int{64, 64}, 2, 8, soft(8, 16)},
		{"SQL Server 2022 Enterprise", []int{24}, 1, 8, "8" + either},
		{"SQL Server 2022 Express", []int{6, 6}, 2, 4, lie("4", "4", "4 + 0")},
		{"SQL Server 2022 Standard", []int{48}, 24, 8, "8"}, // it uses 4 × 2 processors, which no soft-NUMA divides
		{"SQL Server 2022 Standard", []int{16, 16}, 2, 8, lie("8"+either, "24", "16 + 8")},
		{"SQL Server 2022 Standard", []int{20, 20}, 2, 4, lie("4"+either, "24", "20 + 4")},
		{"SQL Server 2022 Standard", []int{24, 24}, 2, 8, lie("8"+either, "24", "24 + 0")}, // one node holds all that it uses
		{"SQL Server 2022 Standard", []int{12, 12, 12, 12}, 4, 6, lie(soft(6, 12), "24", "12 + 12 + 0 + 0")},
		{"SQL Server 2014 Enterprise", []int{12, 12}, 2, 8, "8"},
		{"SQL Server 2008 R2 Enterprise", []int{6, 6}, 2, 6, "6"},
		{"SQL Server Enterprise", []int{12, 12}, 2, 6, "to 2014 MAXDOP at most 8; from 2016 on MAXDOP at most " + soft(6, 12)},
		{"SQL Server 2022", []int{12, 12}, 2, 0, soft(6, 12) + ", if its edition, not stated, uses 24 of 24 processors"},
		{"Windows Server 2022", []int{12, 12}, 2, 0, ""},
		{"SQL Server 2022 Standard", nil, 0, 0, ""}, // does not power on
	} {
		want, all := tt.want, 0
		if want != "" {
			source := microsoft
			if strings.Contains(want, " lie ") {
				source += aws
			}
			if !strings.HasPrefix(want, "to ") {
				want = "MAXDOP at most " + want
			}
			want = "SQL Server: " + want + " (" + source + ")"
		}
		for _, n := range tt.nodes {
			all += n
		}
		if most, got := product.Of(tt.text)[0].Parallel(tt.nodes, tt.sockets, all/max(1, tt.sockets)); most != tt.most || got != want {
			t.Errorf("%s, %v: %d, %q, want %d, %q", tt.text, tt.nodes, most, got, tt.most, want)
		}
	}
}

// TestLimits holds the buffer pools, and the sockets over which every possible edition uses as many vCPUs as now, against the tables.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		text           string
		vcpus, sockets int
		keeps          int
		pool           numa.Bytes
	}{
		{"SQL Server 2022 Standard", 24, 2, 4, 128 * numa.GiB},
		{"SQL Server 2025 Standard", 48, 2, 6, 256 * numa.GiB}, // 32 of 4 × 8 as of 2 × 24
		{"SQL Server 2019 Express", 8, 2, 2, 1410 * numa.MiB},
		{"SQL Server 2022 Web", 16, 16, 16, 64 * numa.GiB},
		{"SQL Server 2022", 24, 2, 4, 0}, // Standard
		{"SQL Server", 24, 12, 12, 0},    // Express uses 2 of 1 × 2
		{"SQL Server 2012 Standard", 8, 1, 4, 64 * numa.GiB},
		{"Windows 10", 24, 2, 2, 0},
		{"Oracle Database 19c Enterprise", 24, 2, 0, 0},
	} {
		p := product.Of(tt.text)[0]
		if keeps, pool := p.SocketsFor(tt.vcpus, tt.sockets), p.BufferPool(); keeps != tt.keeps || pool != tt.pool {
			t.Errorf("%s: %d vCPUs on %d sockets keep to %d, buffer pool %s; want %d, %s", tt.text, tt.vcpus, tt.sockets, keeps, pool, tt.keeps, tt.pool)
		}
	}
}

// TestNode: what SQL Server and Windows make of a node of more than 64 processors.
func TestNode(t *testing.T) {
	for _, tt := range []struct {
		text            string
		node            int
		refuses, splits bool
		from            string
	}{
		{"SQL Server 2022 Standard", 64, true, false, "CU11"},
		{"SQL Server", 64, true, false, "2022 CU11"},
		{"SQL Server 2022 CU11 Enterprise", 64, true, false, ""},
		{"SQL Server 2022 CU10 Enterprise", 64, false, false, ""},
		{"SQL Server 2025 Enterprise", 64, true, false, ""},
		{"SQL Server 2019 Enterprise", 64, false, false, ""},
		{"Windows Server 2019", 64, false, true, ""},
		{"Windows Server 2022", 0, false, false, ""},
		{"Windows 11", 0, false, false, ""},
		{"Oracle Database 19c EE", 0, false, false, ""},
	} {
		p := product.Of(tt.text)[0]
		if p.Node() != tt.node || p.Refuses() != tt.refuses || p.SplitsNodes() != tt.splits || p.RefusesFrom() != tt.from {
			t.Errorf("%s: node %d, refuses %v from %q, splits %v; want %d, %v from %q, %v", tt.text, p.Node(), p.Refuses(), p.RefusesFrom(), p.SplitsNodes(), tt.node, tt.refuses, tt.from, tt.splits)
		}
	}
}

// TestSources: each row has a source with an address and a year.
func TestSources(t *testing.T) {
	dated := regexp.MustCompile(`\b20\d\d\b`)
	for line := range strings.Lines(product.Page) {
		cells := strings.Split(line, "|")
		if len(cells) != 13 || !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| product") {
			continue
		}
		_, source, _ := strings.Cut(product.Page, "\n- "+strings.TrimSpace(cells[11])+": ")
		source, _, _ = strings.Cut(source, "\n")
		if !strings.Contains(source, "https://") || !dated.MatchString(source) {
			t.Errorf("%s: source %q lacks an address or a date", strings.TrimSpace(line), source)
		}
	}
}

// TestHANASockets holds the sizes of production VMs against the sentence “no odd multiples of 0.5
// (half) sockets like 1.5 socket VMs, 2.5 socket VMs”, on sockets of 28 cores.
func TestHANASockets(t *testing.T) {
	for _, tt := range []struct {
		vcpus      int
		whole, odd bool
	}{{14, true, false}, {20, true, false}, {28, true, false}, {42, false, true}, {40, false, false}, {56, true, false}, {70, false, true}, {224, true, false}} {
		if whole, odd := product.HANASockets(tt.vcpus, 28); whole != tt.whole || odd != tt.odd {
			t.Errorf("%d vCPUs: whole %v, odd %v, want %v, %v", tt.vcpus, whole, odd, tt.whole, tt.odd)
		}
	}
	if whole, _ := product.HANASockets(42, 0); !whole {
		t.Error("where the packages are unknown a size is judged")
	}
}

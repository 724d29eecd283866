package size

import (
	"bytes"
	"fmt"
	"homenode/output/form"
	"slices"
	"strings"

	"homenode/numa/unit"
)

// An Experiment is one of the article whose figures are computed again.
type Experiment struct {
	ID, What string
	Command  string // that rests on it
	Why      string // no figure of it is computed; "" when some are
}

// ArticleExperiments are those of the article, as the record numbers them.
var ArticleExperiments = []Experiment{
	{"B-1", "Iometer on local NVMe: CPU per I/O", "size io", ""},
	{"B-2", "rule of thumb for local NVMe", "size io", ""},
	{"B-3", "CPU of the hosts and the cluster", "size io", ""},
	{"B-4", "CPU cost of TCP/IP", "size io", ""},
	{"B-5", "HCIBench on vSAN ESA, six hosts", "size io", ""},
	{"B-6", "vSAN ESA with and without its network", "size io", ""},
	{"B-7", "rule of thumb for vSAN ESA, sums for a cluster", "size io", ""},
	{"B-8", "IOPS limits", "size io", ""},
	{"B-9", "CPU cost of RAM", "size io", ""},
	{"B-10", "what RDMA saves", "size io", ""},
	{"B-11", "the rules beside each other", "size io", ""},
	{"B-12", "core dump files of four hosts", "size dump", ""},
	{"B-13", "14 core dumps in a row", "size dump", ""},
	{"B-14", "layouts of boot devices", "size dump", ""},
	{"B-15", "latency ladder of calls", "size latency", ""},
}

// A Contradiction is a point in which the article does not agree with itself.
type Contradiction struct {
	ID    string
	Where string // experiments
	Text  string // what it comes to
	Why   string // no figure shows it; "" when some do
}

// ArticleContradictions are those of the record that are about the article.
var ArticleContradictions = []Contradiction{
	{"I-5", "B-1", "The 64 KiB write has 146.93 MB/s in its heading and 149.93 MB/s in the sum below it: 0.4135 Hz per b/s with the first, 0.4052 with the second. Both round to the printed 0.41.", ""},
	{"I-6", "B-1, B-2", "Some quotients are cut off or rounded the wrong way; by their own inputs they are 0.38, 6.040, 198.0, 216.8, 439.8 and 348.9. The rule of 0.5 Hz per b/s is a mean of 0.405, rounded up.", ""},
	{"I-7", "B-4", "Send and receive cost 0.163 and 0.373, whose mean is 0.268 and not 0.25; 2.5 GHz are 0.69 cores of 3.6 GHz, not about 0.75. The Gb of the measurement has 2³⁰ bits, the Gb of the sums 10⁹. The 20 GB/s of the text are 22.5 in the table. The text says “send” for both directions and MHz for Hz.", ""},
	{"I-8", "B-6", "32 KiB are 262,144 bits and were taken for 256,000: costs per bit at 32 KiB are printed 2.4 % too high.", ""},
	{"I-9", "B-6", "For 1 MiB reads a host does 3,762 IOPS; 3,162 were used for the cost without network, which is 1.43 Hz per b/s and not 1.69. The cost of an I/O is printed as 15,683 and 15,640 kHz, the CPU as 59 and about 60 GHz.", ""},
	{"I-10", "B-6", "For 1 MiB writes the traffic of the read test and 2,259 IOPS were used instead of 31.2 Gb/s each way and 2,529. Without network a bit costs 1.99 Hz per b/s, not 2.37.", ""},
	{"I-11", "B-6", "What “goes to network” is the cost with network over that without, less 1: an overhead. As a share of the CPU it is 18.9, 23.8, 23.7 and 28.3 %, not 25, 31, 10 and 17. The tests of 1 MiB ran sequentially and are listed as random.", ""},
	{"I-12", "B-7", "17.2 GB/s are turned into IOPS as binary GB and into CPU as decimal GB: 524,902 IOPS of 32 KiB belong to the CPU. That CPU is 70 % of the cluster, what was measured 61 %; the text says 60 and 70. “Read throughput at 2 ms” is a mean that has writes and latencies of 6 to 8 ms in it.", ""},
	{"I-13", "B-10", "More IOPS and less CPU were added up as if they were one saving; per I/O RDMA saves 17.2, 20.5 and 23.3 %, not 21, 25 and 29. The CPU of 4 KiB reads rises by 0.05 and 0.8 %, printed with a minus; −1.4 and −5.3 % are printed as −1.5 and −6.", ""},
	{"I-14", "B-5, B-8", "MB/s of HCIBench are MiB/s: 22,540 are 23,636 MB/s. A disk of 6.4 TB is one of 5.82 TiB, nothing is lost. 22,574 and 15,171 are MB/s where the text has IOPS. The partitions of the “100 Gb” card sum up to 102. Hosts of one closed cluster cannot send 35.5 and receive 40 Gb/s on the average.", ""},
	{"I-15", "B-12", "Three configurations are announced and four shown; 1.5 GB of RAM are 1.5 TB. On that host other memory is printed as that of the VMkernel, 2,705 MB: 4,509 MB are missing in the sum, and other memory would have to be 7,214.", ""},
	{"I-16", "B-12", "Files of 2.27 and 3.6 GB are binary, those of 8.16 and 16.1 GB decimal: 7.60 and 15.0 GiB. The file of 512 GB of RAM is 2.10 times that of 256 GB, not 2.25 times.", ""},
	{"I-17", "B-14", "The decimal 16.1 GB are taken from a binary partition. It is 15.0 GiB, and 4.1 GiB are left for logs, not 3. A disk of 128 GB is called one of more than 128 GB.", ""},
}

// ArticlePage returns the page of all figures of the article that a sum reproduces, in
// Markdown: how many come out, each figure, and where the article contradicts itself.
// Checks of other articles are left out.
func ArticlePage(all []unit.Check) []byte {
	var checks []unit.Check
	for i := range all {
		if strings.HasPrefix(all[i].ID, "B-") {
			checks = append(checks, all[i])
		}
	}
	var b bytes.Buffer
	b.WriteString("# Published figures on capacity, computed again\n\n")
	reproduced, contradicted, missed := articleCount(checks)
	fmt.Fprintf(&b, "**%d of %d printed figures come out, %d contradict the article's own arithmetic, %d are missed.**\n", reproduced, len(checks), contradicted, missed)
	fmt.Fprintf(&b, "The article contradicts itself in %d points.\n\n", len(ArticleContradictions))
	b.WriteString(articleIntroduction)
	b.WriteString("\n| exp | what | figures | reproduced | contradicted | command |\n|---|---|--:|--:|--:|---|\n")
	for _, e := range ArticleExperiments {
		of := articleOf(checks, e.ID)
		r, c, _ := articleCount(of)
		link := fmt.Sprintf("[%s](#%s)", e.ID, strings.ToLower(e.ID))
		what := e.What
		if len(of) == 0 {
			link, what = e.ID, what+": "+e.Why
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | `homenode %s --published` |\n", link, form.Mark(what), len(of), r, c, e.Command)
	}
	articleContradictionsTable(&b, checks)
	for _, e := range ArticleExperiments {
		if of := articleOf(checks, e.ID); len(of) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\nexp %s: %s.\n\n", e.ID, e.ID, form.Mark(e.What))
			articleTable(&b, of)
		}
	}
	return b.Bytes()
}

const articleIntroduction = `The article is eight posts of 2022 to 2024 at [vcdx200.uw.cz](https://vcdx200.uw.cz/2024) about what I/O costs in CPU, core dumps
and latency. The ` + "`size`" + ` commands rest on its measurements. So the figures that it computes from them are computed again here,
by its own raw figures and formulas:

- **reproduced**: what comes out rounds to what is printed; “~” allows a whole unit of the last digit.
- **I-…**: it does not, because the article contradicts itself there; the [list](#where-the-article-contradicts-itself) says how. The
  commands use the computed figure; rules of thumb stay as printed, and are named so.
- **MISSED**: it does not, and nobody knows why. A test holds that there is none.

Figures that the article measures and computes nothing from are inputs and not counted, nor are its posts on downloads,
VMware Health Analyzer and IPv4.
`

// articleCount counts the verdicts.
func articleCount(checks []unit.Check) (reproduced, contradicted, missed int) {
	for i := range checks {
		switch p := &checks[i]; {
		case p.Reproduced():
			reproduced++
		case p.Inconsistency != "":
			contradicted++
		default:
			missed++
		}
	}
	return reproduced, contradicted, missed
}

// articleOf returns the checks of an experiment.
func articleOf(checks []unit.Check, id string) []unit.Check {
	var out []unit.Check
	for i := range checks {
		if checks[i].ID == id {
			out = append(out, checks[i])
		}
	}
	return out
}

func articleTable(b *bytes.Buffer, checks []unit.Check) {
	b.WriteString("| what | quantity | printed | computed | deviation | verdict | note |\n|---|---|--:|--:|--:|---|---|\n")
	for i := range checks {
		p := &checks[i]
		deviation := "–"
		if d, ok := p.Deviation(); ok {
			deviation = signedPercent(d)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", form.Mark(p.What), form.Mark(p.Quantity), form.Mark(p.Printed),
			unit.Digits(p.Computed, 5), deviation, p.Verdict(), form.Mark(p.Note))
	}
}

// articleContradictionsTable lists where the article contradicts itself, with the figures
// that show it.
func articleContradictionsTable(b *bytes.Buffer, checks []unit.Check) {
	b.WriteString("\n## Where the article contradicts itself\n\n| id | exp | what it comes to | printed → computed |\n|---|---|---|---|\n")
	for _, c := range ArticleContradictions {
		var shown []string
		for i := range checks {
			if p := &checks[i]; p.Inconsistency == c.ID && !p.Reproduced() {
				if s := fmt.Sprintf("%s: %s → %s", p.Quantity, p.Printed, unit.Digits(p.Computed, 5)); !slices.Contains(shown, s) {
					shown = append(shown, s)
				}
			}
		}
		text := strings.Join(shown, "; ")
		if text == "" {
			text = c.Why
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", c.ID, c.Where, form.Mark(c.Text), form.Mark(text))
	}
}

package measure

import (
	"fmt"
	"strconv"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/measure/guest"
	"example.org/homenode/output/answer"
)

// Planned returns the answer of homenode measure --dry-run: the planned measurement.
func Planned(p *guest.Plan) *answer.Answer {
	a := &answer.Answer{Command: "measure", Format: "homenode-measure-plan", Question: "what would homenode measure do here?", Result: p}
	a.Verdict = []string{fmt.Sprintf("It would measure for about %v on %s and touch up to %s of memory at once; nothing was measured.",
		p.Total().Round(time.Second/10), words.Plural(len(p.CPUs), "logical processor"), zeroText(p.Touched()))}
	a.Facts = []answer.Fact{{Name: "processors", Text: words.Ranges(p.CPUs)}, {Name: "nodes", Text: words.Ranges(p.Nodes)}, {Name: "memory", Text: "at most " + p.Memory.String()}}
	t := answer.Table{Name: "tasks", Columns: answer.Columns("part", "task", ">vCPUs at once", ">memory", ">for")}
	for _, task := range p.Tasks {
		t.Add(string(task.Part), task.Name, strconv.Itoa(task.CPUs), sizeText(task.Bytes), task.For.Round(time.Millisecond).String())
	}
	a.Tables = []answer.Table{t}
	m := answer.Table{Name: "missing", Title: "Not measured", Columns: answer.Columns("part", "why", "what helps")}
	addMissing(&m, p.Missing)
	if len(m.Rows) > 0 {
		a.Tables = append(a.Tables, m)
	}
	a.Note("Fresh memory that a guest touches is backed by the host for good, and may cause ballooning elsewhere.")
	return a
}

// zeroText is like sizeText, but returns a text for 0.
func zeroText(n int64) string {
	if n == 0 {
		return "no more than a few MiB"
	}
	return sizeText(n)
}

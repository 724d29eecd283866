package site

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/output/answer"
	"example.org/homenode/output/draw/chart"
	"example.org/homenode/output/draw/picture"
	"example.org/homenode/serve/keep"
)

// memoryOver is the period for the memory of many VMs.
const memoryOver = trendDays * 24 * time.Hour

// addMemory adds a chart of the memory states of VMs over time. labels select the series and shown the VMs; nil selects all. Without data it adds
// nothing.
func (l *Live) addMemory(ctx context.Context, a *answer.Answer, whose string, length time.Duration, now time.Time, shown func(id string) bool, labels ...string) error {
	if l == nil || l.Keeper == nil {
		return nil
	}
	steps, err := l.Keeper.Memory(ctx, now.Add(-length), now, l.limits().Gap, shown, labels...)
	if err != nil || len(steps) == 0 {
		return err
	}
	a.Drawings = append(slices.Clone(a.Drawings), memoryDrawing(steps, whose))
	return nil
}

// addMemoryOfMany does the same over memoryOver, with a short-lived cache.
func (x *request) addMemoryOfMany(a *answer.Answer, whose string, shown func(id string) bool, labels ...string) error {
	kept, err := x.site.recent.once(x, recentFor, "memory "+x.page.path+"?"+x.query.Encode(), func() (*answer.Answer, error) {
		one := &answer.Answer{}
		return one, x.site.Live.addMemory(x.Context(), one, whose, memoryOver, time.Now(), shown, labels...)
	})
	if err == nil {
		a.Drawings = append(slices.Clone(a.Drawings), kept.Drawings...)
	}
	return err
}

// memoryDrawing charts steps of memory. A state without data in a step is omitted from it.
func memoryDrawing(steps []keep.Memory, whose string) answer.Drawing {
	first, last := steps[0].From, steps[len(steps)-1].To
	c := &chart.Areas{X: clockAxis, Y: picture.Axis{Bytes: true, Text: func(v float64) string { return numa.Bytes(v).String() }}}
	for _, s := range steps[0].States {
		c.Names = append(c.Names, s.Name)
	}
	for i := range steps {
		s := &steps[i]
		step := chart.Step{From: picture.Seconds(s.From), To: picture.Seconds(s.To)}
		most := 0
		for _, one := range s.States {
			most = max(most, one.VMs)
		}
		texts := []string{words.Plural(most, "VM")}
		for _, one := range s.States {
			value, text := float64(one.Bytes), one.Name+" "+one.Bytes.String()
			switch {
			case one.VMs == 0:
				value, text = math.NaN(), one.Name+" unknown"
			case one.VMs < most:
				text += fmt.Sprintf(" (of %d)", one.VMs)
			}
			step.Values, texts = append(step.Values, value), append(texts, text)
		}
		step.Text = s.From.Format("2 Jan 15:04") + ": " + strings.Join(texts, ", ")
		c.Steps = append(c.Steps, step)
	}
	about := fmt.Sprintf("%s to %s UTC. Private, shared, ballooned and swapped are memory of the guest; compressed is what its compressed pages take of the host", first.Format("2 Jan 15:04"), last.Format("2 Jan 15:04"))
	return drawingOf("memory", about, chart.Chart{ID: "memory-states", Title: "Memory of " + whose + " by state", Figure: c})
}

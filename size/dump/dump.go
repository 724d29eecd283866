package dump

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/sheet"
)

// A Question is about one host, or all hosts of a fleet.
type Question struct {
	RAM     numa.Bytes
	Release numa.Release // 0: 7.0 or later
	Boot    numa.Bytes   // 0: not requested
	Logs    numa.Bytes   // space for logs and traces
	Reserve unit.Share   // share of ESX-OSData to keep free
	Media   string       // systemMediaSize
	Own     []Host       // measured by the user
	Given   map[string]bool
}

// Medias are the values of systemMediaSize (VMware KB 81166; 7.0 U1c and later).
var Medias = []string{"min", "small", "default", "max"}

// MostReserve is the largest accepted reserve.
const MostReserve unit.Share = 0.9

// CheckBoot returns the faults of a boot device.
func CheckBoot(boot numa.Bytes) error {
	switch {
	case boot < 8e9:
		return fmt.Errorf("found %s, want at least 7.5GB (8 decimal GB): boot banks and ESX-OSData do not fit", boot)
	case boot > 64*numa.TiB:
		return fmt.Errorf("found %s, want at most 64 TB", boot)
	}
	return nil
}

// Answer sizes the file and, if a boot device is named, the space left on it.
func Answer(q Question) (*sheet.Run, error) {
	_, err := q.file(q.RAM)
	var partition *PartitionError
	if err != nil && !errors.As(err, &partition) {
		return nil, err
	}
	values := q.values()
	values["ram"], values["partition"] = sheet.Plain(float64(q.RAM), "gib"), partition != nil
	values["release"] = ""
	if q.Release != 0 {
		values["release"] = q.Release.String()
	}
	return calculator.Run(sheet.Input{Values: values, Call: q.calls()}), nil
}

// values returns the inputs for each host.
func (q *Question) values() map[string]any {
	return map[string]any{
		"boot": sheet.Plain(float64(q.Boot), "gib"), "logs": sheet.Plain(float64(q.Logs), "gib"), "reserve": sheet.Plain(float64(q.Reserve), "share"),
		"media": q.Media, "keepGiven": q.Given["keep-free"], "logsGiven": q.Given["logs"], "mediaGiven": q.Given["media"],
	}
}

// calls are the functions that no formula expresses: the file by RAM, and the most RAM of a host whose file fits a size.
func (q *Question) calls() map[string]func([]any) any {
	of := func(args []any) (File, error) { return q.file(numa.Bytes(args[0].(sheet.Value).Value)) }
	return map[string]func([]any) any{
		"file": func(args []any) any {
			f, err := of(args)
			if err != nil {
				return nil
			}
			return sheet.Of(f.Size, "gib")
		},
		"how": func(args []any) any {
			f, _ := of(args)
			return f.How
		},
		"mostRAM": func(args []any) any {
			// The upper bound never falls with the RAM, so the first size that does not fit ends it.
			least, most := int(leastRAM/numa.GiB), int(numa.MaxHostMemory/numa.GiB)
			i := sort.Search(most-least+1, func(i int) bool {
				f, err := Of(numa.Bytes(least+i)*numa.GiB, 0)
				return err != nil || f.Size.High > args[0].(sheet.Value).Value
			})
			if i == 0 {
				return nil
			}
			return sheet.Plain(float64(numa.Bytes(least+i-1)*numa.GiB), "gib")
		},
	}
}

// A kind is the hosts of one RAM, rounded to GiB, and release.
type kind struct {
	gib     int64
	release numa.Release
	known   bool
}

// OfFleet sizes all hosts, grouped by kind. The requested release applies to hosts without one in the source.
func OfFleet(source string, all []numa.Host, q Question) *sheet.Run {
	kinds := map[kind][]string{}
	most := map[kind]numa.Bytes{}
	without := map[string][]string{} // hosts by reason for exclusion
	for i := range all {
		h := &all[i]
		if !h.Memory.Known() {
			without["its memory is not known"] = append(without["its memory is not known"], h.Name)
			continue
		}
		k := kind{int64(math.Round(float64(h.Memory.Value) / float64(numa.GiB))), h.Release.Or(q.Release), h.Release.Known()}
		kinds[k], most[k] = append(kinds[k], h.Name), max(most[k], h.Memory.Value)
	}
	var rows []map[string]any
	seen := map[string]float64{}
	for _, k := range slices.SortedFunc(maps.Keys(kinds), func(a, b kind) int {
		return cmp.Or(cmp.Compare(most[b], most[a]), cmp.Compare(b.release, a.release), slices.Compare(slices.Sorted(slices.Values(kinds[a])), slices.Sorted(slices.Values(kinds[b]))))
	}) {
		names := slices.Sorted(slices.Values(kinds[k]))
		one := q
		one.RAM, one.Release = most[k], k.release
		r, err := Answer(one)
		if err != nil {
			without[err.Error()] = append(without[err.Error()], names...)
			continue
		}
		row := maps.Clone(r.Values)
		name := fmt.Sprint(len(names), row["ram"], row["release"], k.known) // RAM that differs by some MiB prints the same
		seen[name]++
		maps.Copy(row, map[string]any{"hosts": names, "first": names[0], "n": sheet.Plain(float64(len(names)), "whole"), "assumed": !k.known, "number": sheet.Plain(seen[name], "whole")})
		for _, unknown := range []string{"file.size", "file.how", "leastBoot", "plan.left", "plan.verdict", "mostRAM"} {
			row[unknown] = r.Values[unknown]
		}
		rows = append(rows, row)
	}
	values := q.values()
	values["source"], values["leftOut"] = source, nil
	var left []string
	for _, why := range slices.Sorted(maps.Keys(without)) {
		left = append(left, fmt.Sprintf("Left out: %s: %s.", words.First(1, slices.Sorted(slices.Values(without[why]))), why))
	}
	if left != nil {
		values["leftOut"] = strings.Join(left, " ")
	}
	return ofFleet.Run(sheet.Input{Values: values, Rows: rows})
}

package filter

import (
	"fmt"
	"slices"

	"example.org/homenode/internal/alike"
	"example.org/homenode/internal/glob"
	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/rules"
)

// names are those of objects by their kind: for each first its name, then its ID and others.
type names map[string][][]string

// stranger returns an error for the first name or pattern of the user that no object has.
func (f *Filter) stranger(all func() names) error {
	var has names
	for _, kind := range f.named {
		for _, text := range kind.texts {
			if has == nil {
				has = all()
			}
			pattern := glob.Compile([]string{text}, kind.after)
			match := func(object []string) bool { return pattern.Named(object[0], object[1:]...) }
			switch {
			case slices.ContainsFunc(has[kind.noun], match):
			case kind.noun == "VM" && slices.ContainsFunc(has["host"], func(h []string) bool { return numa.SameHost(h[0], text) }):
				return fmt.Errorf("%s is a host: --host %s", text, text)
			default:
				known := words.Texts(has[kind.noun], func(object []string) string { return object[0] })
				return fmt.Errorf("no %s is named %s%s", kind.noun, text, alike.After(text, known))
			}
		}
	}
	return nil
}

// nothing is the error of a filter that matches nothing.
func nothing(matches string, strange error) error {
	if strange != nil {
		return fmt.Errorf("nothing is shown: %w", strange)
	}
	return fmt.Errorf("nothing is shown: %s", matches)
}

// namesOfChecks returns the IDs and names of the checks.
func namesOfChecks() names {
	out := names{}
	for _, r := range rules.All {
		out["check"] = append(out["check"], []string{r.ID}, []string{r.Name})
	}
	return out
}

// namesIn returns the names of a fleet that a filter can match.
func namesIn(r *rules.Result) names {
	out := names{}
	for _, c := range r.Clusters {
		out["cluster"] = append(out["cluster"], namesOf(c))
	}
	for i := range r.Fleet.Hosts {
		h := &r.Fleet.Hosts[i]
		out["host"] = append(out["host"], []string{h.Name, h.ID})
	}
	for i := range r.Fleet.VMs {
		v := &r.Fleet.VMs[i]
		above := r.Fleet.ClusterName(v.Cluster)
		if v.Stated != nil {
			above = v.Host
			out["cluster"] = append(out["cluster"], []string{above})
		}
		out["VM"] = append(out["VM"], []string{v.Name, v.ID, above + "/" + v.Name})
		if v.Folder != "" {
			out["folder"] = append(out["folder"], []string{v.Folder})
		}
		for _, label := range labels(v) {
			out["tag"] = append(out["tag"], []string{label})
		}
	}
	return out
}

// namesRecorded returns the names of recordings that a filter can match, and those of the inventory for its other kinds.
func namesRecorded(w *rules.Watched) names {
	out := names{}
	if w.Fleet != nil {
		out = namesIn(w.Fleet)
		out["VM"], out["host"] = nil, nil
	}
	for _, rec := range w.Recordings {
		out["host"] = append(out["host"], []string{rec.Host})
		for i := range rec.VMs {
			out["VM"] = append(out["VM"], recordedNames(rec, &rec.VMs[i]))
		}
	}
	return out
}

package cost

import (
	"fmt"
	"strings"
)

// A class is a processor family with the table entry that represents it.
type class struct {
	entry *entry
	alike []*entry // entries that the interval covers
	exact bool     // the entry was measured on this family
	why   string
}

// generations of Xeon Scalable, by the second digit of their number.
var generations = map[byte]string{'1': "Skylake", '2': "Cascade Lake", '3': "Ice Lake", '4': "Sapphire Rapids", '5': "Emerald Rapids"}

// ageing names the Xeons before Scalable by their version.
var ageing = map[string]string{"v4": "Broadwell", "v3": "Haswell", "v2": "Ivy Bridge", "": "Sandy Bridge or older"}

// epycs names generations by the last digit of the number: of the 7000 series, then of 8000 and 9000.
var epycs = [2]map[byte]string{
	{'1': "Naples", '2': "Rome", '3': "Milan"},
	{'4': "Genoa", '5': "Turin"},
}

// classify finds the table entry for a processor's brand string.
func classify(model string) class {
	clean := strings.NewReplacer("(R)", " ", "(r)", " ", "(TM)", " ", "(tm)", " ", "®", " ", "™", " ", ",", " ", "@", " ").Replace(model)
	words := strings.Fields(strings.ToLower(clean))
	for i, w := range words {
		switch w {
		case "xeon":
			return xeon(model, words[i+1:])
		case "epyc":
			name := "of a generation that is not recognised"
			if i+1 < len(words) {
				name = epycName(words[i+1])
			}
			return class{epyc, []*entry{epyc}, false, fmt.Sprintf("%q is an EPYC %s; the published EPYC does not say which generation it is.", model, name)}
		case "opteron", "amd":
			if w == "opteron" {
				return class{epyc, likeAny, false, fmt.Sprintf("%q is not in the table; the nearest family is EPYC.", model)}
			}
		}
	}
	if model == "" {
		return class{skylake, likeAny, false, "The processor of the host is not known: Skylake is assumed, and the interval covers the whole table."}
	}
	return class{skylake, likeAny, false, fmt.Sprintf("%q is of no family that is recognised: Skylake is assumed, and the interval covers the whole table.", model)}
}

// xeon classifies by the words after "Xeon".
func xeon(model string, words []string) class {
	nearest := func(e *entry, family string) class {
		return class{e, likeIntel, false, fmt.Sprintf("%q is %s, which is not in the table; the nearest family is %s.", model, family, e.name)}
	}
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case w == "bronze" || w == "silver" || w == "gold" || w == "platinum" || w == "max":
			if !startsWithDigits(next, 4) {
				continue
			}
			family := generations[next[1]]
			switch {
			case family == "Skylake":
				return class{skylake, likeSkylake, true, fmt.Sprintf("%q is Skylake.", model)}
			case next[1] == '3' && strings.HasPrefix(next[4:], "h"):
				family = "Cooper Lake"
			case family == "":
				family = "a Xeon Scalable of unknown generation"
			}
			return nearest(skylake, family)
		case strings.HasPrefix(w, "e5-") || strings.HasPrefix(w, "e7-"):
			version := ""
			for _, v := range words[i+1:] {
				if len(v) == 2 && v[0] == 'v' {
					version = v
				}
			}
			if version == "" && strings.HasSuffix(w, "v4") {
				version = "v4"
			}
			if version == "v4" {
				return class{xeonV4, []*entry{xeonV4}, true, fmt.Sprintf("%q is a Xeon v4.", model)}
			}
			family, ok := ageing[version]
			if !ok {
				family = "a Xeon of unknown version"
			}
			return nearest(xeonV4, family)
		case len(w) == 5 && strings.ContainsRune("xelw", rune(w[0])) && startsWithDigits(w[1:], 4):
			return nearest(xeonV4, "a Xeon before Sandy Bridge")
		case startsWithDigits(w, 4) && (strings.HasSuffix(w, "p") || strings.HasSuffix(w, "e")):
			return nearest(skylake, "a Xeon 6")
		}
	}
	return nearest(skylake, "a Xeon of unknown generation")
}

func epycName(number string) string {
	if !startsWithDigits(number, 3) || len(number) < 4 {
		return "of a generation that is not recognised"
	}
	series := 1
	if number[0] == '7' {
		series = 0
	}
	if name := epycs[series][number[3]]; name != "" && (series == 0 || number[0] == '9') {
		return name
	}
	return "of a generation that is not recognised"
}

// startsWithDigits reports whether the first n bytes of s are digits.
func startsWithDigits(s string, n int) bool {
	if len(s) < n {
		return false
	}
	for i := range n {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

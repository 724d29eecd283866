package product

import (
	"slices"
	"strconv"
	"strings"

	"example.org/homenode/numa/pattern"
)

// guestIDs are the Windows systems by their guest ID of the vSphere API (VirtualMachineGuestOsIdentifier), without
// 64Guest. windows8 stands for 8.1 and 2012 R2 too, windows9 for Windows 10 and Server 2016 and, on older releases, for later versions.
var guestIDs = map[string]string{
	"windows7":           "Windows 7",
	"windows7server":     "Windows Server 2008 R2",
	"windows8":           "Windows 8",
	"windows8server":     "Windows Server 2012",
	"windows9":           "Windows 10",
	"windows9server":     "Windows Server 2016",
	"windows11":          "Windows 11",
	"windows2019srv":     "Windows Server 2019",
	"windows2019srvnext": "Windows Server 2022",
	"windows2022srvnext": "Windows Server 2025",
}

// osinfo are the Windows systems by the end of their ID in the database of libosinfo, which libvirt definitions contain.
var osinfo = map[string]string{
	"7": "7", "8": "8", "8.1": "8.1", "10": "10", "11": "11", "2k8": "Server 2008", "2k8r2": "Server 2008 R2", "2k12": "Server 2012", "2k12r2": "Server 2012 R2",
	"2k16": "Server 2016", "2k19": "Server 2019", "2k22": "Server 2022", "2k25": "Server 2025",
}

// keywords find the families in a text. Text before the first keyword belongs to no family.
var keywords = []struct {
	at       *pattern.Pattern
	families []string // nil for products that look like one and are none
}{
	{pattern.Of(`\b(ms|microsoft )?sql( ?server\b|\b)`), []string{sqlServer}},
	{pattern.Of(`\b(microsoft )?windows\b`), []string{windowsServer, windows}},
	{pattern.Of(`\boracle linux\b`), nil},
	{pattern.Of(`\boracle\b`), []string{oracle}},
	{pattern.Of(`\b(microsoft |ms )?exchange\b`), []string{exchange}},
	{pattern.Of(`\b(sap )?hana\b`), []string{sapHANA}},
}

// synonyms map common spellings to words of the table.
var synonyms = map[string]string{
	"std": "standard", "ent": "enterprise", "ee": "enterprise", "dev": "developer", "eval": "evaluation", "exp": "express", "bi": "business intelligence",
	"professional": "pro", "workstation": "workstations", "edu": "education", "dc": "datacenter", "datacentre": "datacenter",
	"se1": "standard edition one", "se2": "standard edition 2", "xe": "free", "ltsc": "enterprise", "iot": "enterprise",
}

var (
	word   = pattern.Of(`[a-z]+[0-9]*|[0-9]+(\.[0-9]+)?[a-z]*`)
	update = pattern.Of(`\bcu ?(\d{1,3})\b`)
	number = pattern.Of(`^\d+(\.\d+)?$`)
	joined = pattern.Of(`\b(mssql|sql|windows|exchange|server)(\d)`)
)

// parse returns the products in a text.
func parse(text string) (out []Product) {
	text = strings.ToLower(text)
	if name, wide, ok := guestID(text); ok {
		if text = ""; wide {
			text = strings.ToLower(guestIDs[name])
		}
	}
	if id, ok := strings.CutPrefix(text, "http://microsoft.com/win/"); ok {
		text = ""
		if name := osinfo[id]; name != "" {
			text = "windows " + strings.ToLower(name)
		}
	}
	text = joined.ReplaceAllString(text, "$1 $2") // SQL2019
	type part struct {
		at       int
		families []string
	}
	var parts []part
	for _, k := range keywords {
		for _, loc := range k.at.Regexp().FindAllStringIndex(text, -1) {
			if !slices.ContainsFunc(parts, func(p part) bool { return p.at == loc[0] }) { // Oracle Linux is not Oracle Database
				parts = append(parts, part{loc[0], k.families})
			}
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return a.at - b.at })
	for i, p := range parts {
		end := len(text)
		if i+1 < len(parts) {
			end = parts[i+1].at
		}
		if found, ok := one(text[p.at:end], p.families); ok {
			out = append(out, found)
		}
	}
	return out
}

// guestID returns the name of a Windows system from a guest ID, as the API writes it (windows9Server64Guest) or a .vmx
// file (windows9srv-64), and whether it is a 64-bit system.
func guestID(text string) (name string, wide, ok bool) {
	if id, ok := strings.CutSuffix(text, "guest"); ok {
		id, wide = strings.CutSuffix(id, "64")
		return strings.TrimSuffix(id, "_"), wide, true
	}
	id, wide := strings.CutSuffix(text, "-64")
	if !wide || !strings.HasPrefix(id, "windows") {
		return "", false, false
	}
	if version, ok := strings.CutSuffix(id, "srv"); ok && guestIDs[id] == "" {
		id = version + "server"
	}
	return id, true, true
}

// one parses one part of a text, which names these families, and returns its product.
func one(text string, families []string) (p Product, ok bool) {
	if strings.Contains(text, "(32-bit)") { // no processor groups, and at most 32 processors
		return p, false
	}
	if families == nil {
		return p, false
	}
	words := word.Regexp().FindAllString(text, -1)
	for i, w := range words {
		if s := synonyms[w]; s != "" {
			words[i] = s
		}
	}
	words = strings.Fields(strings.Join(words, " "))
	if m := update.FindStringSubmatch(text); m != nil {
		p.Update, _ = strconv.Atoi(m[1])
	}
	p.Version = longest(words, families, func(r *Row) []string { return r.Versions })
	p.Edition = longest(words, families, func(r *Row) []string { return r.Editions })
	strange := func(w string) bool { return number.MatchString(w) && w != "64" }
	if p.Version == "" && versioned(families) && slices.ContainsFunc(words, strange) {
		return p, false // a version that the table does not have
	}
	if slices.Contains(words, "server") && slices.Contains(families, windowsServer) {
		families = []string{windowsServer}
	}
	for _, named := range []func([]string, string) bool{means, endsIn} {
		for i := range rows() {
			r := &rows()[i]
			small := p.Edition == "" && slices.ContainsFunc(r.Editions, func(e string) bool { return slices.Contains(stated, e) })
			if slices.Contains(families, r.Family) && means(r.Versions, p.Version) && named(r.Editions, p.Edition) && !small {
				p.Rows = append(p.Rows, r)
				p.Family = r.Family
			}
		}
		if p.Rows != nil {
			break
		}
	}
	return p, p.Rows != nil
}

// versioned reports whether the table distinguishes versions of the families.
func versioned(families []string) bool {
	return slices.ContainsFunc(rows(), func(r Row) bool { return slices.Contains(families, r.Family) && r.Versions != nil })
}

// means reports whether the stated name can mean a row with these names.
func means(names []string, stated string) bool {
	return names == nil || stated == "" || slices.Contains(names, stated)
}

// stated are rare editions, assumed only where the owner states them.
var stated = []string{"Essentials", "Foundation"}

// endsIn reports whether the stated text is the end of a name: SQL Server 2025 Developer is one of the editions Standard
// Developer and Enterprise Developer.
func endsIn(names []string, said string) bool {
	return said != "" && slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, " "+said) })
}

// longest returns the longest row name of the families whose words are all among the given words: "2008 R2" before "2008".
func longest(words, families []string, names func(*Row) []string) (found string) {
	for i := range rows() {
		if !slices.Contains(families, rows()[i].Family) {
			continue
		}
		for _, name := range names(&rows()[i]) {
			missing := slices.ContainsFunc(strings.Fields(strings.ToLower(name)), func(w string) bool { return !slices.Contains(words, w) })
			if !missing && len(name) > len(found) {
				found = name
			}
		}
	}
	return found
}

// Public reports whether a text names only a known product, such as "SQL Server 2022 Std", and so no owner.
func Public(text string) bool { return parse(text) != nil && len(strange(text)) == 0 }

// Misspelt returns the words that may be a misspelt edition of a product in the text, which states no other edition, and the editions of that product;
// nil without one.
func Misspelt(text string) (words, editions []string) {
	for _, p := range Of(text) {
		if p.Edition != "" {
			continue
		}
		for _, r := range rows() {
			for _, e := range r.Editions {
				if r.Family == p.Family && means(r.Versions, p.Version) && !slices.Contains(editions, e) {
					editions = append(editions, e)
				}
			}
		}
		first := len(text)
		for _, k := range keywords {
			if loc := k.at.Regexp().FindStringIndex(strings.ToLower(text)); loc != nil {
				first = min(first, loc[0])
			}
		}
		if words = slices.DeleteFunc(strange(text[first:]), func(w string) bool { return len(w) < 5 }); editions != nil && len(words) > 0 {
			return words, editions
		}
	}
	return nil, nil
}

// strange returns the words of a text that occur in no name of a known product.
func strange(text string) []string {
	known := map[string]bool{"ms": true, "microsoft": true, "sap": true, "sql": true, "server": true, "edition": true, "mssql": true, "cu": true, "bit": true, "windows": true}
	learn := func(texts ...string) {
		for _, t := range texts {
			for _, w := range word.Regexp().FindAllString(strings.ToLower(t), -1) {
				known[w] = true
			}
		}
	}
	for i := range rows() {
		learn(rows()[i].Family)
		learn(rows()[i].Versions...)
		learn(rows()[i].Editions...)
	}
	for short, long := range synonyms {
		learn(short, long)
	}
	text = strings.ToLower(text)
	unknown := func(w string) bool {
		return !known[w] && !update.MatchString(w) && !(len(w) <= 4 && number.MatchString(w))
	}
	return slices.DeleteFunc(word.Regexp().FindAllString(joined.ReplaceAllString(text, "$1 $2"), -1), func(w string) bool { return !unknown(w) })
}

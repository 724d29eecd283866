package tables

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// parseInt parses a whole number in a cell: 2048, 2048.0, 1.2E3, or with the thousands separators of a locale, 261.797,
// 261,797, 261 797, 261'797. decimal is the decimal point of the sheet: a number with one of those and three digits may be a
// fraction and is rejected.
func parseInt(s string, decimal byte) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err == nil {
		return n, true
	}
	if digits, sep, ok := ungroup(s); ok {
		if sep == rune(decimal) && strings.Count(s, string(sep)) == 1 {
			return 0, false
		}
		if n, err = strconv.ParseInt(digits, 10, 64); err != nil {
			return 0, false
		}
		return n, true
	}
	if decimal == ',' {
		if strings.Contains(s, ".") {
			return 0, false
		}
		s = strings.Replace(s, ",", ".", 1)
	}
	for i := range len(s) {
		// ParseFloat also accepts "inf", "0x1p4" and "1_000".
		if c := s[i]; (c < '0' || c > '9') && !strings.ContainsRune("+-.eE", rune(c)) {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// parseFloat parses a number in a cell, possibly with a fraction: 15.5, 15,5, 1.024,5. numberAt handles ambiguous numbers.
func parseFloat(s string, decimal byte) (float64, bool) {
	if n, ok := parseInt(s, decimal); ok {
		return float64(n), true
	}
	if i := strings.LastIndexAny(s, ".,"); i > 0 {
		if whole, sep, ok := ungroup(s[:i]); ok && sep != ',' && sep != '.' { // 16 384,5
			s = whole + s[i:]
		}
	}
	comma, point := strings.LastIndexByte(s, ','), strings.LastIndexByte(s, '.')
	if comma >= 0 && point >= 0 { // the last one is the decimal point
		group := ","
		if comma > point {
			group = "."
		}
		s = strings.ReplaceAll(s, group, "")
	}
	s = strings.Replace(s, ",", ".", 1)
	if strings.Trim(s, "+-.0123456789") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && math.Abs(f) <= 1<<53
}

// ungroup returns the digits of a number in groups of three, such as 1.261.797, or in Indian groups, 12,61,797, and the
// separator.
func ungroup(s string) (digits string, sep rune, ok bool) {
	if len(s) == 0 || s[0] < '1' || s[0] > '9' {
		return "", 0, false // 0.125 has no thousands
	}
	i := strings.IndexAny(s, ".,'’ \u00a0\u202f")
	if i < 0 {
		return "", 0, false
	}
	sep, _ = utf8.DecodeRuneInString(s[i:])
	groups := strings.Split(s, string(sep))
	inner := 3
	if sep == ',' && len(groups) > 2 && len(groups[1]) == 2 {
		inner = 2
	}
	for i, group := range groups {
		want := inner
		if i == len(groups)-1 {
			want = 3
		}
		if strings.Trim(group, "0123456789") != "" || i > 0 && len(group) != want || len(group) > want || len(group) == 0 {
			return "", 0, false
		}
	}
	return strings.Join(groups, ""), sep, true
}

// booleans are the words for true and false in the languages of RVTools exports, and the forms of spreadsheet programs.
var booleans = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"true": true, "false": false, "1": true, "0": false,
		"yes": true, "no": false, "on": true, "off": false, "enabled": true, "disabled": false,
		"ja": true, "nein": false, "oui": true, "non": false,
		"wahr": true, "falsch": false, "aktiviert": true, "deaktiviert": false, // German
		"vrai": true, "faux": false, "activé": true, "désactivé": false, // French
		"verdadero": true, "falso": false, // Spanish; falso is also Italian and Portuguese
		"vero":       true,                  // Italian
		"verdadeiro": true,                  // Portuguese
		"waar":       true, "onwaar": false, // Dutch
		"prawda": true, "fałsz": false, "tak": true, "nie": false, // Polish
		"pravda": true, "nepravda": false, "ano": true, // Czech and Slovak
		"sand": true, "falsk": false, // Danish
		"sant": true, "falskt": false, "sann": true, "usann": false, "nej": false, "nei": false, // Swedish and Norwegian
		"tosi": true, "epätosi": false, "kyllä": true, "ei": false, // Finnish
		"igaz": true, "hamis": false, "igen": true, "nem": false, // Hungarian
		"doğru": true, "yanlış": false, "yanliş": false, "evet": true, "hayır": false, "hayir": false, // Turkish, also in lower case made of capitals
		"истина": true, "ложь": false, "да": true, "нет": false, // Russian
		"sí": true, "sì": true, "sim": true, "não": false, // Spanish, Italian, Portuguese
		"adevărat": true, "fals": false, // Romanian
		"真": true, "假": false, "是": true, "否": false, "偽": false, "はい": true, "いいえ": false, "예": true, "아니요": false, // Chinese, Japanese, Korean
	}
})

func parseBool(s string) (v, ok bool) {
	v, ok = booleans()[strings.ToLower(s)]
	return v, ok
}

// quote quotes the content of a cell for a message, shortened if necessary.
func quote(s string) string {
	const most = 60 // characters; a line of a report has about 120
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s[:min(len(s), most*utf8.UTFMax)])[:most]) + "…"
	}
	return strconv.Quote(s)
}

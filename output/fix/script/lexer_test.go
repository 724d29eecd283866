package script

import (
	"bytes"
	encoding "encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

func base64(s string) string { return encoding.StdEncoding.EncodeToString([]byte(s)) }

func commented(s string) string {
	var b bytes.Buffer
	comment(&b, "", s)
	return b.String()
}

// The kinds of tokens of PowerShell that lex tells apart.
const (
	word    = iota // code
	text           // in single quotes: nothing is expanded
	expands        // in double quotes
	char           // [char]::ConvertFromUtf32(0x…)
	remark
)

type token struct {
	kind int
	text string
}

// lex reads PowerShell as far as quoting goes (about_Quoting_Rules): single quotes, which typographic ones are too, double quotes with
// the escape `, and comments. Here-strings and block comments are not in what is printed: they are errors.
func lex(code string) (out []token, err error) {
	isSingle := func(r rune) bool { return strings.ContainsRune("'\u2018\u2019\u201a\u201b", r) }
	isDouble := func(r rune) bool { return strings.ContainsRune("\"\u201c\u201d\u201e", r) }
	runes := []rune(code)
	for i := 0; i < len(runes); {
		r := runes[i]
		rest := string(runes[i:min(len(runes), i+40)])
		switch {
		case strings.HasPrefix(rest, "@'") || strings.HasPrefix(rest, `@"`) || strings.HasPrefix(rest, "<#"):
			return nil, fmt.Errorf("found %q", rest[:2])
		case strings.HasPrefix(rest, "[char]::ConvertFromUtf32(0x"):
			hex, _, ok := strings.Cut(strings.TrimPrefix(rest, "[char]::ConvertFromUtf32(0x"), ")")
			n, bad := strconv.ParseInt(hex, 16, 32)
			if !ok || bad != nil {
				return nil, fmt.Errorf("found %q", rest)
			}
			out = append(out, token{char, string(rune(n))})
			i += len("[char]::ConvertFromUtf32(0x") + len(hex) + 1
		case isSingle(r) || isDouble(r):
			var b strings.Builder
			same, kind := isSingle, text
			if isDouble(r) {
				same, kind = isDouble, expands
			}
			for i++; ; i++ {
				if i >= len(runes) {
					return nil, errors.New("a quote stays open")
				}
				if kind == expands && runes[i] == '`' && i+1 < len(runes) {
					i++
				} else if same(runes[i]) {
					if i+1 >= len(runes) || !same(runes[i+1]) {
						i++
						break
					}
					i++
				}
				b.WriteRune(runes[i])
			}
			out = append(out, token{kind, b.String()})
		case r == '#':
			end := strings.IndexAny(string(runes[i:]), "\r\n")
			line := string(runes[i:])
			if end >= 0 {
				line = line[:end]
			}
			out = append(out, token{remark, line})
			i += len([]rune(line))
		case strings.ContainsRune(" \t\r\n", r):
			i++
		default:
			if r > '~' {
				return nil, fmt.Errorf("found %q in code", r)
			}
			j := i
			for j < len(runes) && !strings.ContainsRune(" \t\r\n#()[]{};,", runes[j]) && !isSingle(runes[j]) && !isDouble(runes[j]) {
				j++
			}
			j = max(j, i+1)
			out = append(out, token{word, string(runes[i:j])})
			i = j
		}
	}
	return out, nil
}

package words

import (
	"fmt"
	"strings"
	"unicode"
)

// Command returns the words as one line of a POSIX shell, quoted where necessary.
func Command(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, " ")
}

func quote(s string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-./:@%+,=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// PowerShell returns a PowerShell expression for the text, in ASCII: versions differ in how they read a file without a byte
// order mark, and PowerShell treats typographic quotes as quotes.
func PowerShell(s string) string {
	var parts []string
	plain := func(r rune) bool { return r >= ' ' && r <= '~' }
	for s != "" {
		n := strings.IndexFunc(s, func(r rune) bool { return !plain(r) })
		if n < 0 {
			n = len(s)
		}
		if n > 0 {
			parts = append(parts, "'"+strings.ReplaceAll(s[:n], "'", "''")+"'")
			s = s[n:]
			continue
		}
		for _, r := range s {
			parts = append(parts, fmt.Sprintf("[char]::ConvertFromUtf32(0x%x)", r))
			s = s[len(string(r)):]
			break
		}
	}
	switch len(parts) {
	case 0:
		return "''"
	case 1:
		if parts[0][0] == '\'' {
			return parts[0]
		}
	}
	return "('' + " + strings.Join(parts, " + ") + ")"
}

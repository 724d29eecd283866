package vcenter

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"example.org/homenode/internal/bounded"
	"example.org/homenode/internal/owned"
)

// A credential is one line of a credentials file.
type credential struct {
	host     string // as in a URL, in lower case, with or without a port; * matches every other host
	user     string
	password string
}

// readCredentials reads a credentials file that only its owner can read.
func readCredentials(path string) ([]credential, error) {
	b, err := ReadSecret(path)
	if err != nil {
		return nil, err
	}
	return parseCredentials(path, b)
}

// ReadSecret reads a file with a password that only its owner can read, or, if it belongs to root, also the group of this process.
func ReadSecret(path string) ([]byte, error) {
	return bounded.FileIf(path, bounded.Secret, func(info os.FileInfo) error {
		if !owned.Secret(info) {
			return fmt.Errorf("%s: others may read it (mode %04o): chmod 600 it", path, info.Mode().Perm())
		}
		return nil
	})
}

// parseCredentials parses lines of host, user and password. A word that starts with a quote
// ends at the next one, with \" and \\ inside; any other word is used literally, up to the next
// blank. Lines that are empty or start with # are skipped. Errors never contain text of a line.
func parseCredentials(name string, b []byte) ([]credential, error) {
	var list []credential
	seen := make(map[[2]string]int)
	number := 0
	for line := range strings.Lines(string(bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF")))) {
		number++
		words, err := splitWords(line)
		if err == nil && len(words) > 0 && len(words) != 3 {
			err = fmt.Errorf("found %d words, want a host, a user and a password (quote a word with blanks)", len(words))
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if len(words) == 0 {
			continue
		}
		c := credential{strings.ToLower(words[0]), words[1], words[2]}
		if c.host == "" || c.user == "" || strings.Contains(c.host, "/") {
			return nil, fmt.Errorf("%s:%d: want a host as in its URL, without https://, and a user", name, number)
		}
		if first := seen[[2]string{c.host, c.user}]; first > 0 {
			return nil, fmt.Errorf("%s:%d: the host and user of line %d again", name, number, first)
		}
		seen[[2]string{c.host, c.user}] = number
		list = append(list, c)
	}
	return list, nil
}

// splitWords splits a line of a credentials file; nil for a comment.
func splitWords(line string) ([]string, error) {
	const blanks = " \t\r\n"
	var words []string
	for line = strings.Trim(line, blanks); line != ""; line = strings.TrimLeft(line, blanks) {
		if len(words) == 0 && line[0] == '#' {
			return nil, nil
		}
		if line[0] != '"' {
			end := strings.IndexAny(line, blanks)
			if end < 0 {
				end = len(line)
			}
			words, line = append(words, line[:end]), line[end:]
			continue
		}
		word, rest, err := quotedWord(line[1:])
		if err != nil {
			return nil, err
		}
		words, line = append(words, word), rest
	}
	return words, nil
}

// quotedWord returns the word up to the closing quote and the rest.
func quotedWord(s string) (word, rest string, err error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			rest = s[i+1:]
			if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				return "", "", errors.New(`found no blank after a closing quote; a quote inside is written \"`)
			}
			return b.String(), rest, nil
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", errors.New("found no closing quote")
}

// findCredential returns the line for a host. An entry with its port takes precedence over one
// without, and both over *. If the URL contains a user, that of the line must be the same.
func findCredential(list []credential, host, user string) (credential, bool) {
	host = strings.ToLower(host)
	bare := host
	if h, port, err := net.SplitHostPort(host); err == nil {
		bare, host = h, net.JoinHostPort(h, port)
	}
	bare = strings.Trim(bare, "[]")
	for _, want := range []string{host, bare, "*"} {
		for _, c := range list {
			if c.host == want && cmp.Or(user, c.user) == c.user {
				return c, true
			}
		}
	}
	return credential{}, false
}

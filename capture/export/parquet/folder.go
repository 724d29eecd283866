package parquet

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxName is the longest file name on Linux, Windows and macOS, in bytes.
const maxName = 255

// hostFolder returns the name of the folder of a host, in Hive's form key=value and in UTF-8.
// ASCII characters that a reader or file system may misinterpret become %XX. The name is always
// one folder below the lake: it contains no / and is never . or .. Characters beyond ASCII
// stay: Spark reads %C3 as one character.
func hostFolder(host string) (string, error) {
	if host == "" {
		return "host=__HIVE_DEFAULT_PARTITION__", nil // readers interpret it as NULL
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.WriteString("host=")
	for i, c := range []byte(host) {
		switch {
		// A name in Hive's own form would be NULL; Windows drops a trailing dot.
		case c < utf8.RuneSelf && !plain(c), c == '_' && i == 0, c == '.' && i == len(host)-1:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		default:
			b.WriteByte(c)
		}
	}
	if b.Len() > maxName {
		return "", fmt.Errorf("host %.40q…: found a name of %d bytes as a folder, want at most %d", host, b.Len(), maxName)
	}
	return b.String(), nil
}

// plain reports whether c stands for itself in names of files and folders.
func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_'
}

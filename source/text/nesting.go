package text

// Nesting counts the open brackets of JSON text, to find its end.
type Nesting struct {
	Depth    int
	inString bool
}

// Add counts the brackets of a line.
func (n *Nesting) Add(s string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case n.inString && c == '\\':
			i++
		case c == '"':
			n.inString = !n.inString
		case n.inString:
		case c == '{', c == '[':
			n.Depth++
		case c == '}', c == ']':
			n.Depth--
		}
	}
}

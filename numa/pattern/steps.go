package pattern

import "regexp/syntax"

// Steps returns the number of steps of a regular expression with its repetitions expanded: (a{100}){10} has 1,000. Compiling one takes memory for each
// step, so an expression of somebody else is bounded before it is compiled.
func Steps(text string) (int, error) {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return stepsOf(re), nil
}

func stepsOf(re *syntax.Regexp) int {
	n := max(1, len(re.Rune))
	if re.Op == syntax.OpCharClass {
		n = 1
	}
	for _, sub := range re.Sub {
		n += stepsOf(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return min(n, 1<<30)
}

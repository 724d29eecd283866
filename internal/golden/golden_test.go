package golden

import "testing"

func TestFirstDifference(t *testing.T) {
	for _, tt := range []struct {
		name, got, want string
		line            int
		g, w            string
	}{
		{"equal", "a\nb\n", "a\nb\n", 0, "", ""},
		{"second line", "a\nb\n", "a\nc\n", 2, "b\n", "c\n"},
		{"no newline at the end", "a\nb", "a\nb\n", 2, "b", "b\n"},
		{"longer", "a\nb\nc\n", "a\nb\n", 3, "c\n", ""},
		{"empty", "", "a\n", 1, "", "a\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			line, g, w, differ := firstDifference(tt.got, tt.want)
			if line != tt.line || g != tt.g || w != tt.w || differ != (tt.line > 0) {
				t.Errorf("firstDifference = %d, %q, %q, %v; want %d, %q, %q", line, g, w, differ, tt.line, tt.g, tt.w)
			}
		})
	}
}

package sheet

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.org/homenode/internal/words"
	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
)

// constants are the units of bytes and cycles.
var constants = map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "GB": 1e9, "MHz": 1e6, "GHz": 1e9}

// Units are the functions that format a number.
var Units = map[string]func(float64) string{
	"seconds": func(v float64) string { return unit.Seconds(v).String() },
	"hz":      func(v float64) string { return unit.Hz(v).String() },
	"share":   func(v float64) string { return unit.Share(v).String() },
	"cycles":  func(v float64) string { return unit.Cycles(v).String() },
	"si": func(v float64) string {
		return strings.TrimSpace(strings.TrimSuffix(unit.Cycles(v).String(), "cycles"))
	},
	"hours":     hours,
	"plain":     func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) },
	"whole":     func(v float64) string { return unit.Grouped(v, 0) },
	"memory":    func(v float64) string { return numa.Bytes(v).String() },
	"gib":       gib,
	"inGiB":     func(v float64) string { return unit.Digits(v/float64(numa.GiB), 3) },
	"flag":      func(v float64) string { return strings.ReplaceAll(numa.Bytes(v).String(), " ", "") },
	"decimal":   func(v float64) string { return unit.Grouped(v/1e9, 1) + " GB" },
	"gb":        gb,
	"signed":    func(v float64) string { return fmt.Sprintf("%+.0f %%", math.Round(v*100)+0) },
	"deviation": deviation,
	"times":     func(v float64) string { return unit.Digits(v, 2) },
	"three":     func(v float64) string { return unit.Digits(v, 3) },
	"block":     block,
	"perBit":    func(v float64) string { return short(v) + " Hz per b/s" },
	"short":     short,
	"percent":   func(v float64) string { return unit.Digits(100*v, 3) + " %" },
	"inGHz":     func(v float64) string { return unit.Digits(v/1e9, 3) },
	"bits":      func(v float64) string { return unit.BitRate(v).String() },
	"bytes":     func(v float64) string { return unit.BitRate(v).Bytes() },
	"iops":      func(v float64) string { return unit.IORate(v).String() },
}

// gib formats bytes as "15.0 GiB", with at least three digits: "119.9 GiB", "3.62 GiB", "0.10 GiB".
func gib(bytes float64) string {
	v := bytes / float64(numa.GiB)
	after := 1
	if v < 9.995 && v > -9.995 {
		after = 2
	}
	if v == math.Trunc(v) {
		after = 0
	}
	return unit.Grouped(v, after) + " GiB"
}

// block formats the size of an I/O: "32 KiB".
func block(bytes float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for i < len(units)-1 && bytes >= 1024 && math.Mod(bytes, 1024) == 0 {
		bytes /= 1024
		i++
	}
	return unit.Grouped(bytes, 0) + " " + units[i]
}

// short formats a small number, with two digits where it is only an estimate.
func short(v float64) string {
	if v < 0.01 {
		return unit.Digits(v, 2)
	}
	return unit.Digits(v, 3)
}

// hours formats a time in hours and minutes.
func hours(seconds float64) string {
	minutes := int(math.Round(seconds / 60))
	if minutes < 60 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %02d min", minutes/60, minutes%60)
}

// gb formats memory in GB with three significant digits.
func gb(bytes float64) string {
	if math.Abs(bytes) < float64(numa.GiB) && bytes != 0 {
		return unit.Digits(bytes/float64(numa.MiB), 3) + " MB"
	}
	return unit.Digits(bytes/float64(numa.GiB), 3) + " GB"
}

// deviation formats a deviation with its sign, "+2.4 %".
func deviation(v float64) string {
	text := unit.Share(v).String()
	switch {
	case strings.Trim(text, "-0. %") == "":
		return "0 %"
	case v > 0:
		return "+" + text
	}
	return text
}

// functions are the functions of numbers and texts.
var functions = map[string]func(args []any) any{
	"min":   func(args []any) any { return each(math.Min, args[0].(Value), args[1].(Value)) },
	"max":   func(args []any) any { return each(math.Max, args[0].(Value), args[1].(Value)) },
	"floor": of(math.Floor), "ceil": of(math.Ceil), "round": of(math.Round), "abs": of(math.Abs), "log10": of(math.Log10),
	"low":      part(func(v Value) any { return Plain(v.Low, v.Unit) }),
	"mid":      part(func(v Value) any { return Plain(v.Value, v.Unit) }),
	"high":     part(func(v Value) any { return Plain(v.High, v.Unit) }),
	"ranged":   part(func(v Value) any { return v.Low < v.High }),
	"full":     part(func(v Value) any { return v.full() }),
	"ends":     part(func(v Value) any { return ends(v, " to ") }),
	"dash":     part(func(v Value) any { return ends(v, "–") }),
	"source":   part(func(v Value) any { return v.Source }),
	"origin":   part(func(v Value) any { return string(v.Origin) }),
	"hardware": part(func(v Value) any { return v.Hardware }),
	"note":     part(func(v Value) any { return v.Note }),
	"rounded": func(args []any) any { // to three significant digits
		v := args[0].(Value)
		return Value{unit.Figure[float64]{Value: threeDigits(v.Value), Low: threeDigits(v.Low), High: threeDigits(v.High)}, v.Unit}
	},
	"inBytes": func(args []any) any { return Value{args[0].(Value).Figure, "bytes"} },
	"about": func(args []any) any { // the distance to the ends of the range
		v := args[0].(Value)
		return "±" + unit.Digits(100*max(v.High/v.Value-1, 1-v.Low/v.Value), 1) + " %"
	},
	"more": func(args []any) any { // with its sign
		if v := args[0].(Value); v.Value > 0 {
			return "+" + v.String()
		}
		return args[0]
	},
	"several": func(args []any) any { // "2 fit"; "" of none
		if v := args[0].(Value); v.Value > 0 {
			return v.String() + " " + args[1].(string)
		}
		return ""
	},
	"list": func(args []any) any {
		var all []string
		for _, a := range args {
			if text := written(a); text != "" {
				all = append(all, text)
			}
		}
		return strings.Join(all, ", ")
	},
	"plural": func(args []any) any { return words.Plural(int(args[0].(Value).Value), args[1].(string)) },
	"upper":  func(args []any) any { s := args[0].(string); return strings.ToUpper(s[:1]) + s[1:] },
}

// part makes a function of an attribute of a number, such as its range; unknown when the number is.
func part(f func(v Value) any) func(args []any) any {
	return func(args []any) any {
		if v, ok := args[0].(Value); ok {
			return f(v)
		}
		return nil
	}
}

// of converts a function of a number to one of its range.
func of(f func(float64) float64) func(args []any) any {
	return func(args []any) any {
		return each(func(a, _ float64) float64 { return f(a) }, args[0].(Value), Plain(0, ""))
	}
}

// ends formats the ends of a range, with their unit once; "" for a number without a range.
func ends(v Value, to string) string {
	if v.Low == v.High {
		return ""
	}
	low, high := Plain(v.Low, v.Unit).String(), Plain(v.High, v.Unit).String()
	if low == high {
		return ""
	}
	_, in, _ := strings.Cut(high, " ")
	if cut, same := strings.CutSuffix(low, " "+in); same || to == " to " {
		return cut + to + strings.TrimSuffix(high, " Hz per b/s") // the other value has the unit
	}
	return low + " " + to + " " + high
}

// Range formats the ends of a range; "" for a number without one.
func (v Value) Range() string { return ends(v, " to ") }

// full formats the number with its range, if it has one: "11.7 GiB (10 to 15 GiB)".
func (v Value) full() string {
	if between := v.Range(); between != "" {
		return v.String() + " (" + between + ")"
	}
	return v.String()
}

// threeDigits rounds a number to three significant digits.
func threeDigits(v float64) float64 {
	if !(v > 0) {
		return v
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	if unit < 1 {
		return v
	}
	return math.Round(v/unit) * unit
}

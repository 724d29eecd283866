package iocost

import (
	"fmt"
	"math"

	"example.org/homenode/numa"
	"example.org/homenode/numa/unit"
	"example.org/homenode/size/sheet"
)

// Size formats a block as "32 KiB".
func Size(b numa.Bytes) string { return sheet.Units["block"](float64(b)) }

// direction formats a read share as "read", "write" or "70/30".
func direction(read unit.Share) string {
	switch read {
	case 1:
		return "read"
	case 0:
		return "write"
	}
	return fmt.Sprintf("%s/%s", percent(read), percent(1-read))
}

// pattern formats a random share as "random", "sequential" or "40 % random".
func pattern(random unit.Share) string {
	switch random {
	case 1:
		return "random"
	case 0:
		return "sequential"
	}
	return percent(random) + " % random"
}

// percent formats a share in percent, to a tenth.
func percent(s unit.Share) string {
	return unit.Digits(math.Round(float64(s)*1000)/10, 4)
}

// String returns k as "vsan-esa 32 KiB 70/30 random".
func (k Kind) String() string {
	return fmt.Sprintf("%s %s %s %s", k.Path, Size(k.Block), direction(k.Read), pattern(k.Random))
}

package vmxlog

import "bytes"

// An envelope is the format of the prefix of a line, with time and thread. ESXi up to 7.0 U2
// writes
//
//	2017-04-14T07:33:29.270Z| vmx| I125: message
//
// later releases (KB 421608 has the grammar of 8.0, with an operation ID or "-" behind the
// thread)
//
//	2024-01-29T15:56:03.930Z In(05) vmx - message
//
// and the products before 2010 a time without a year and no level:
//
//	Aug 20 20:09:04.597: vmx| message
type envelope uint8

const (
	bare  envelope = iota // no envelope: excerpts, and the output of the vmdumper one-liner
	piped                 // with bars
	rfc                   // with a level such as In(05)
	rfcID                 // the same, optionally with an operation ID after the thread
)

// stampSize is the length of the longest time stamp: 2022-08-01T14:54:44.897123-07:00.
const stampSize = 40

// open splits a line into the time stamp and the message, both borrowed from it. It is called
// for every line of every log, so it examines few bytes.
func open(line []byte) (e envelope, stamp, message []byte) {
	head := line[:min(len(line), stampSize)]
	if len(head) < 16 {
		return bare, nil, line
	}
	if head[0] < '0' || head[0] > '9' {
		if head[3] == ' ' && head[9] == ':' {
			return openOldest(line, head)
		}
		return bare, nil, line
	}
	if head[4] != '-' || head[10] != 'T' {
		return bare, nil, line
	}
	for i := 19; i < len(head); i++ {
		switch head[i] {
		case '|':
			return openPiped(line, i)
		case ' ':
			return openRFC(line, i)
		}
	}
	return bare, nil, line
}

// openPiped parses "| vmx| I125: message" from at on; "I125+ " marks the continuation of the
// previous line.
func openPiped(line []byte, at int) (e envelope, stamp, message []byte) {
	rest := line[at+1:]
	bar := bytes.IndexByte(rest, '|')
	if bar < 0 || bar+1 >= len(rest) {
		return bare, nil, line
	}
	rest = rest[bar+1:]
	// " I125: "
	if len(rest) >= 7 && rest[0] == ' ' && 'A' <= rest[1] && rest[1] <= 'Z' && isDigit(rest[2]) && isDigit(rest[4]) && (rest[5] == ':' || rest[5] == '+') {
		return piped, line[:at], rest[7:]
	}
	if rest[0] == ' ' {
		rest = rest[1:]
	}
	return piped, line[:at], rest
}

// openRFC parses " In(05) vmx message" from at on.
func openRFC(line []byte, at int) (e envelope, stamp, message []byte) {
	rest := line[at+1:]
	if len(rest) < 8 || rest[2] != '(' {
		return bare, nil, line
	}
	closing := bytes.IndexByte(rest[:8], ')')
	if closing < 0 {
		return bare, nil, line
	}
	rest = rest[closing+1:]
	if len(rest) > 0 && rest[0] == '+' { // continuation of the previous line
		rest = rest[1:]
	}
	if len(rest) == 0 || rest[0] != ' ' {
		return bare, nil, line
	}
	rest = rest[1:]
	space := bytes.IndexByte(rest, ' ')
	if space < 0 {
		return rfc, line[:at], nil
	}
	rest = rest[space+1:]
	if len(rest) > 1 && rest[0] == '-' && rest[1] == ' ' {
		return rfc, line[:at], rest[2:]
	}
	return rfcID, line[:at], rest
}

// openOldest parses "Aug 20 20:09:04.597: vmx| message". The year is missing, so there is no
// time.
func openOldest(line, head []byte) (e envelope, stamp, message []byte) {
	colon := bytes.Index(head, []byte(": "))
	if colon < 0 {
		return bare, nil, line
	}
	bar := bytes.IndexByte(line[colon:], '|')
	if bar < 0 || bar > 32 {
		return bare, nil, line
	}
	rest := line[colon+bar+1:]
	if len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	return piped, nil, rest
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// skipID skips the operation ID that 8.0 may write after the thread; nil if the message does
// not begin with one.
func skipID(message []byte) []byte {
	space := bytes.IndexByte(message[:min(len(message), 64)], ' ')
	if space < 0 || bytes.IndexByte(message[:space], '-') < 0 {
		return nil
	}
	return message[space+1:]
}

package vmxlog

import (
	"bytes"
	"math"
)

// A kind is the subject of a message, determined by its first bytes.
type kind uint8

const (
	nothing   kind = iota
	dict           // DICT   numvcpus = "12"
	numaLine       // numa: … and numaHost: …
	numaUpper      // NUMA: …, NUMA and VCPU hot add …
	hostNode       // NUMA node 0: 15335MB, cpus … (hosted products on Linux)
	winNode        // HostWin32: WIN32 NUMA node 0, CPU mask …; Host: … up to Workstation 7
	configDB       // ConfigDB: Setting key = "value"
	logFor         // Log for VMware ESX pid=… version=…
	hostname       // Hostname=…
	hostInfo       // HOSTINFO: This machine has 2 physical CPUS, …
	hostCPUID      // hostCPUID name: …
	numVCPUs       // NumVCPUs 2
	noCookie       // The VM does not have NUMA size cookie.
	restoring      // CPT: Restoring checkpoint ….vmss
	arriving       // Migrate_Open: Restoring from <10.0.0.2> with migration id …
	llc            // llc: vLLC size: 1
)

// kinds are the prefixes of relevant messages; the first byte is tested before, so that a
// common line needs only one switch.
var kinds = [...]struct {
	prefix []byte
	kind   kind
}{
	{[]byte("DICT "), dict},
	{[]byte("numaHost: "), numaLine},
	{[]byte("numa: "), numaLine},
	{[]byte("NUMA: "), numaUpper},
	{[]byte("NUMA and "), numaUpper},
	{[]byte("NUMA node "), hostNode},
	{[]byte("HostWin32: WIN32 NUMA node "), winNode},
	{[]byte("Host: WIN32 NUMA node "), winNode},
	{[]byte("ConfigDB: Setting "), configDB},
	{[]byte("Log for VMware "), logFor},
	{[]byte("Hostname="), hostname},
	{[]byte("HOSTINFO: This machine has "), hostInfo},
	{[]byte("hostCPUID name: "), hostCPUID},
	{[]byte("hostCPUID   name: "), hostCPUID}, // Workstation 7
	{[]byte("NumVCPUs "), numVCPUs},
	{[]byte("The VM does not have NUMA size cookie"), noCookie},
	{[]byte("CPT: Restoring checkpoint "), restoring},
	{[]byte("Migrate_Open: Restoring from "), arriving},
	{[]byte("llc: "), llc},
}

// kindOf returns the kind of a message and the text after its prefix; for numaLine and
// numaUpper the whole message.
func kindOf(message []byte) (k kind, rest []byte) {
	if len(message) < 6 {
		return nothing, nil
	}
	switch message[0] {
	case 'D', 'n', 'N', 'H', 'h', 'C', 'L', 'T', 'M', 'l':
	default:
		return nothing, nil
	}
	for i := range kinds {
		p := kinds[i].prefix
		if message[0] == p[0] && bytes.HasPrefix(message, p) {
			if k := kinds[i].kind; k == numaLine || k == numaUpper || k == noCookie {
				return k, message
			}
			return kinds[i].kind, message[len(p):]
		}
	}
	return nothing, nil
}

// A cursor parses the words and numbers of one message, without regexps.
type cursor struct {
	b  []byte
	ok bool
}

func at(b []byte) *cursor { return &cursor{b, true} }

// lit skips s.
func (c *cursor) lit(s string) *cursor {
	if c.ok && len(c.b) >= len(s) && string(c.b[:len(s)]) == s {
		c.b = c.b[len(s):]
	} else {
		c.ok = false
	}
	return c
}

// opt skips s if present.
func (c *cursor) opt(s string) *cursor {
	if len(c.b) >= len(s) && string(c.b[:len(s)]) == s {
		c.b = c.b[len(s):]
	}
	return c
}

// num parses a decimal number below 2^31; blanks before it are skipped, because ESXi writes
// "consolidation= 1".
func (c *cursor) num(to *int) *cursor {
	b := bytes.TrimLeft(c.b, " ")
	n, i := int64(0), 0
	for i < len(b) && isDigit(b[i]) {
		if n = n*10 + int64(b[i]-'0'); n > math.MaxInt32 {
			c.ok = false
			return c
		}
		i++
	}
	if i == 0 {
		c.ok = false
	}
	*to, c.b = int(n), b[i:]
	return c
}

// hex parses a hexadecimal number below 2^64.
func (c *cursor) hex(to *uint64) *cursor {
	n, i := uint64(0), 0
	for i < len(c.b) {
		d, ok := digit(c.b[i])
		if !ok {
			break
		}
		if n >= 1<<60 {
			c.ok = false
			return c
		}
		n = n<<4 | uint64(d)
		i++
	}
	if i == 0 {
		c.ok = false
	}
	*to, c.b = n, c.b[i:]
	return c
}

func digit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// end reports whether everything matched and only blanks follow.
func (c *cursor) end() bool { return c.ok && len(bytes.TrimSpace(c.b)) == 0 }

package tables

import (
	"cmp"
	"strings"
)

// vcenters are the vCenters named in rows, by UUID, by address or by both: a sheet may lack one of the columns.
type vcenters struct {
	uuids   map[string]string // keys by UUID
	servers map[string]string // keys by address; "" if several vCenters have it
	names   map[string]string // addresses by key
}

func newVCenters() *vcenters {
	return &vcenters{map[string]string{}, map[string]string{}, map[string]string{}}
}

// key returns the same key for every row of a vCenter; "" for a row without one, or with an address that several share.
func (v *vcenters) key(uuid, address string) string {
	server := strings.ToLower(address)
	key, known := v.uuids[uuid]
	at, named := v.servers[server]
	switch {
	case uuid == "" && named:
		return at
	case uuid == "":
		key = server
	case known:
	case named && at != "" && !v.identified(at):
		key = at // earlier rows had only the address
	default:
		key = uuid
	}
	if uuid != "" {
		v.uuids[uuid] = key
	}
	if server != "" {
		if named && at != key {
			v.servers[server] = ""
		} else {
			v.servers[server] = key
		}
		v.names[key] = cmp.Or(v.names[key], address)
	}
	return key
}

// identified reports whether a UUID has the key.
func (v *vcenters) identified(key string) bool {
	for _, of := range v.uuids {
		if of == key {
			return true
		}
	}
	return false
}

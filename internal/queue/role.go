package queue

import (
	"encoding/hex"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// A Role is what somebody may do with a queue that has a token. Each has a token of its own,
// made of that of the queue: who has one cannot make another.
type Role string

// The roles.
const (
	Works       Role = "worker" // takes tasks, stores results
	Collects    Role = "client" // puts tasks into the queue, takes results out
	Administers Role = "admin"  // everything
)

// Roles are all of them.
var Roles = []Role{Works, Collects, Administers}

// Token returns the token of the role; token is that of the queue, or that of the role already.
func (r Role) Token(token string) string {
	if strings.HasPrefix(token, string(r)+"-") {
		return token
	}
	return string(r) + "-" + hex.EncodeToString(mac([]byte(token), "homenode "+string(r)))
}

// inbox is where answers to the role arrive: no other role sees them.
func (r Role) inbox() string { return "_INBOX_" + string(r) }

// permissions returns what the role may send and hear; nil is everything.
func (r Role) permissions() *server.Permissions {
	const api = "$JS.API."
	var send []string
	for _, stream := range []string{workStream, resultStream} {
		for _, call := range []string{"STREAM.INFO.", "STREAM.CREATE.", "STREAM.MSG.GET.", "DIRECT.GET."} {
			send = append(send, api+call+stream)
		}
		send = append(send, api+"DIRECT.GET."+stream+".>")
	}
	const consumer = workStream + "." + workConsumer
	send = append(send, api+"INFO", api+"CONSUMER.INFO."+consumer, api+"CONSUMER.CREATE."+consumer, api+"CONSUMER.DURABLE.CREATE."+consumer,
		"homenode.done.*.*", "homenode.part.*.*.*.*")
	switch r {
	case Works:
		send = append(send, "homenode.back.*.*", api+"CONSUMER.MSG.NEXT."+consumer, "$JS.ACK."+consumer+".>")
	case Collects:
		send = append(send, "homenode.work.*.*", api+"STREAM.PURGE."+workStream, api+"STREAM.PURGE."+resultStream)
	default:
		return nil
	}
	return &server.Permissions{
		Publish:   &server.SubjectPermission{Allow: send},
		Subscribe: &server.SubjectPermission{Allow: []string{r.inbox() + ".>"}},
	}
}

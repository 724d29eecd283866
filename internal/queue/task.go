package queue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// A Task is one piece of work. The queue does not look into it: Kind says what a worker
// does with Payload. Equal tasks have one ID.
type Task struct {
	Kind    string          `json:"kind"`
	ID      string          `json:"id"` // 32 hexadecimal digits
	Payload json.RawMessage `json:"payload"`
}

// NewTask returns the task of a kind with this payload, which is encoded as JSON.
func NewTask(kind string, payload any) (Task, error) {
	b, err := json.Marshal(payload)
	if err != nil {
		return Task{}, fmt.Errorf("task of kind %s: %w", kind, err)
	}
	h := sha256.New()
	h.Write([]byte(kind + "\n"))
	h.Write(b)
	return Task{Kind: kind, ID: short(h.Sum(nil)), Payload: b}, nil
}

// runOf names the run of these tasks. It depends on nothing but them, so that whoever
// asks for the same again finds what is done already.
func runOf(tasks []Task) string {
	h := sha256.New()
	for i := range tasks {
		h.Write([]byte(tasks[i].ID + "\n"))
	}
	return short(h.Sum(nil))
}

// packFrom is from how many bytes on a task is packed: one of thousands of files, whose names
// are much the same, would not fit into a message otherwise.
const packFrom = 16 << 10

// message returns the task as it is sent.
func (t *Task) message() ([]byte, error) {
	b, err := json.Marshal(t)
	if err != nil || len(b) < packFrom {
		return b, err
	}
	return Pack(b), nil
}

// taskOf reads what message returns.
func taskOf(message []byte) (t Task, err error) {
	if len(message) > 0 && message[0] != '{' {
		if message, err = Unpack(message); err != nil {
			return t, err
		}
	}
	err = json.Unmarshal(message, &t)
	return t, err
}

// short returns the first half of a SHA-256 sum: 128 bits tell as many tasks apart as
// anyone will ever have, and subjects stay readable.
func short(sum []byte) string { return hex.EncodeToString(sum[:sha256.Size/2]) }

// An Outcome is what became of a task: bytes, or why there are none.
type Outcome struct {
	Result []byte
	Failed string // empty when there is a Result
}

// A Refusal is the error of a worker that cannot do a task although another one might:
// the task goes back to the queue.
type Refusal struct {
	Reason string
	// Whatever the task is: without other workers there is no use in going on.
	Always bool
}

func (r *Refusal) Error() string { return r.Reason }

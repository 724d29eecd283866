package numa

import "time"

// A State is a VM at one moment, with the facts that determine whether it can be changed.
type State struct {
	VM            VM
	ChangeVersion string    // of the configuration; vCenter increments it with every change
	Boot          time.Time // time of the last power-on, by the clock of the server; zero if the VM is off or the time is unknown
	Tools         bool      // VMware Tools are running
	Snapshots     bool
	Question      string // pending question; "" for none
	Protected     bool   // by Fault Tolerance
	Manager       string // the extension that manages it: "vcDr"; "" for none
	Task          string // running task: "Destroy_Task"; "" for none
}

// RootFolder names the root folder of a vCenter in lists of objects with required privileges; a standalone host has none.
const RootFolder = "Folder root"

// UnnamedRun is the holder of a lock whose run has not written its name yet.
const UnnamedRun = "a run that has just begun"

// A Refusal is the reason why vSphere rejected a request. errors.Is matches it.
type Refusal string

// Error returns the reason.
func (r Refusal) Error() string { return string(r) }

// The refusals that callers distinguish.
const (
	ErrChanged   Refusal = "the configuration was changed by somebody else meanwhile" // ConcurrentAccess
	ErrBusy      Refusal = "another task of the VM runs"                              // TaskInProgress
	ErrPower     Refusal = "it is not possible in this power state"                   // InvalidPowerState
	ErrNoTools   Refusal = "VMware Tools do not run: the guest cannot be shut down"   // ToolsUnavailable
	ErrPrivilege Refusal = "a privilege is missing"                                   // NoPermission
	ErrGone      Refusal = "it is no longer in the inventory"                         // ManagedObjectNotFound
	ErrNoOption  Refusal = "the host has no such option"                              // InvalidName
	ErrExpired   Refusal = "the session expired"                                      // NotAuthenticated
	ErrLost      Refusal = "the connection ended before the answer: whether it was done is unknown"
)

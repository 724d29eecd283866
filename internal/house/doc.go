// Package house has no code of its own: its test holds the shape of the project, which
// room may import which.
package house

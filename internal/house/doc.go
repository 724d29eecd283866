// Package house has no code of its own: its tests check the structure of the project, such as which
// package may import which.
package house

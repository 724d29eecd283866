// Package manifests has no code of its own: its test builds deploy/kubernetes as kubectl does and holds the result against the types of Kubernetes.
package manifests

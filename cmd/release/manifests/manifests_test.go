package manifests

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// TestManifests builds the manifests with secrets of its own. Each object is read strictly: a field that its type does not have is an error.
func TestManifests(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../deploy/kubernetes")); err != nil {
		t.Fatal(err)
	}
	_ = os.Mkdir(filepath.Join(dir, "secret"), 0o700)
	for _, name := range []string{"accounts", "token", "tls.crt", "tls.key"} {
		if err := os.WriteFile(filepath.Join(dir, "secret", name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]func() any{
		"Namespace": func() any { return &core.Namespace{} }, "ConfigMap": func() any { return &core.ConfigMap{} }, "Secret": func() any { return &core.Secret{} },
		"Service": func() any { return &core.Service{} }, "PersistentVolumeClaim": func() any { return &core.PersistentVolumeClaim{} },
		"Deployment": func() any { return &apps.Deployment{} }, "NetworkPolicy": func() any { return &networking.NetworkPolicy{} },
	}
	all := map[string]any{}
	for _, r := range built.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		kind := kinds[r.GetKind()]
		if kind == nil {
			t.Fatalf("found a %s", r.GetKind())
		}
		one := kind()
		if err := yaml.UnmarshalStrict(text, one); err != nil {
			t.Errorf("%s %s: %v", r.GetKind(), r.GetName(), err)
		}
		if r.GetKind() != "Namespace" && r.GetNamespace() != "homenode" {
			t.Errorf("%s %s is in the namespace %q", r.GetKind(), r.GetName(), r.GetNamespace())
		}
		all[r.GetKind()] = one
	}
	if len(all) != len(kinds) {
		t.Errorf("found %d kinds of objects, want %d", len(all), len(kinds))
	}
	check(t, all["Deployment"].(*apps.Deployment), all["Secret"].(*core.Secret), all["ConfigMap"].(*core.ConfigMap), all["Service"].(*core.Service), all["NetworkPolicy"].(*networking.NetworkPolicy))
}

// check compares what the objects say of each other.
func check(t *testing.T, d *apps.Deployment, secret *core.Secret, settings *core.ConfigMap, service *core.Service, policy *networking.NetworkPolicy) {
	t.Helper()
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	if c.Image != "registry.example.com/homenode:0.1.0" {
		t.Errorf("the image is %s", c.Image)
	}
	for _, v := range pod.Volumes {
		if v.Secret != nil && v.Secret.SecretName != secret.Name {
			t.Errorf("the pod mounts the secret %s, which is %s", v.Secret.SecretName, secret.Name)
		}
	}
	if c.EnvFrom[0].ConfigMapRef.Name != settings.Name {
		t.Errorf("the pod reads %s, which is %s", c.EnvFrom[0].ConfigMapRef.Name, settings.Name)
	}
	for _, arg := range c.Args {
		_, value, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(arg, "$(") {
			value = arg
		}
		if name, ok := strings.CutPrefix(value, "$("); ok && settings.Data[strings.TrimSuffix(name, ")")] == "" {
			t.Errorf("%s is not in settings.env", arg)
		}
		if name, ok := strings.CutPrefix(value, "/secret/"); ok && secret.Data[name] == nil {
			t.Errorf("%s is not in the secret", arg)
		}
	}
	port := c.Ports[0]
	for _, p := range []*core.Probe{c.StartupProbe, c.ReadinessProbe, c.LivenessProbe} {
		if p == nil || p.HTTPGet == nil || p.HTTPGet.Path != "/healthz" || p.HTTPGet.Port.StrVal != port.Name || p.HTTPGet.Scheme != core.URISchemeHTTPS {
			t.Errorf("a probe is %v", p)
		}
	}
	if service.Spec.Ports[0].TargetPort.StrVal != port.Name || policy.Spec.Ingress[0].Ports[0].Port.IntVal != port.ContainerPort || !slices.Contains(c.Args, "--listen=0.0.0.0:9275") || port.ContainerPort != 9275 {
		t.Errorf("the port is %v", port)
	}
	for _, labels := range []map[string]string{service.Spec.Selector, policy.Spec.PodSelector.MatchLabels, d.Spec.Selector.MatchLabels} {
		if labels["app.kubernetes.io/name"] != d.Spec.Template.Labels["app.kubernetes.io/name"] {
			t.Errorf("%v selects no pod", labels)
		}
	}
	s := c.SecurityContext
	if !*pod.SecurityContext.RunAsNonRoot || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || len(s.Capabilities.Drop) == 0 {
		t.Errorf("the pod may do more than it needs: %v, %v", pod.SecurityContext, s)
	}
}

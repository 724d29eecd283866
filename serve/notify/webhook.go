package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"time"

	"example.org/homenode/serve/board"
	"example.org/homenode/serve/post"
)

// A Webhook receives messages in Alertmanager's format, version 4.
type Webhook struct {
	post.Address `yaml:",inline"`

	host, page string
}

// group is the body: Alertmanager's webhook data.
type group struct {
	Version           string            `json:"version"`
	GroupKey          string            `json:"groupKey"`
	TruncatedAlerts   int               `json:"truncatedAlerts"`
	Status            string            `json:"status"` // firing if any alert is, else resolved
	Receiver          string            `json:"receiver"`
	GroupLabels       map[string]string `json:"groupLabels"`
	CommonLabels      map[string]string `json:"commonLabels"`
	CommonAnnotations map[string]string `json:"commonAnnotations"`
	ExternalURL       string            `json:"externalURL"`
	Alerts            []alert           `json:"alerts"`
}

type alert struct {
	Status       string            `json:"status"`
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"` // year 1 while it is open
	GeneratorURL string            `json:"generatorURL"`
	Fingerprint  string            `json:"fingerprint"`
}

const (
	firing   = "firing"
	resolved = "resolved"
)

func (w *Webhook) name() string { return "webhook " + w.host }

// body returns the message.
func (w *Webhook) body(vcenter string, alarms []board.Alarm) *group {
	g := &group{Version: "4", GroupKey: fmt.Sprintf("{}:{vcenter=%q}", vcenter), Status: resolved, Receiver: "homenode",
		GroupLabels: map[string]string{"vcenter": vcenter}, CommonAnnotations: map[string]string{}, ExternalURL: w.page}
	for i := range alarms {
		a, f := &alarms[i], &alarms[i].Finding
		x := alert{Status: firing, StartsAt: a.Begin.UTC(), EndsAt: a.End.UTC(), GeneratorURL: w.page, Labels: map[string]string{"alertname": f.Rule, "severity": f.Severity.String(), "vcenter": vcenter},
			Annotations: map[string]string{"title": f.Title, "summary": f.Message}}
		for name, value := range map[string]string{"cluster": f.Cluster, "host": f.Host, "vm": f.VM, "vm_id": f.VMID, "topic": f.Topic} {
			if value != "" {
				x.Labels[name] = value
			}
		}
		if f.Advice != "" {
			x.Annotations["description"] = f.Advice
		}
		if !a.End.IsZero() {
			x.Status = resolved
		} else {
			g.Status = firing
		}
		same := maps.Clone(x.Labels)
		delete(same, "severity")   // it changes while the finding is open
		b, _ := json.Marshal(same) // a map of strings: sorted, and always encodes
		h := fnv.New64a()
		_, _ = h.Write(b)
		x.Fingerprint = fmt.Sprintf("%016x", h.Sum64())
		if g.CommonLabels == nil {
			g.CommonLabels = map[string]string{}
			for name, value := range x.Labels {
				g.CommonLabels[name] = value
			}
		}
		for name, value := range g.CommonLabels {
			if x.Labels[name] != value {
				delete(g.CommonLabels, name)
			}
		}
		g.Alerts = append(g.Alerts, x)
	}
	return g
}

func (w *Webhook) send(ctx context.Context, vcenter string, alarms []board.Alarm) error {
	b, err := json.Marshal(w.body(vcenter, alarms))
	if err != nil {
		return err
	}
	return w.Send(ctx, map[string]string{"Content-Type": "application/json"}, b)
}

package chromium

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// keys are the keys that Press knows, as Input.dispatchKeyEvent names them.
var keys = map[string]map[string]any{
	"Tab":   {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
	"Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
	"Space": {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
}

// Press presses a key: Tab, Enter or Space.
func (p *Page) Press(ctx context.Context, key string) error {
	event, ok := keys[key]
	if !ok {
		return fmt.Errorf("no key %s", key)
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind}
		for name, v := range event {
			if name != "text" || kind == "keyDown" {
				params[name] = v
			}
		}
		if err := p.call(ctx, "Input.dispatchKeyEvent", params, nil); err != nil {
			return err
		}
	}
	return nil
}

// Type enters a text where the focus is.
func (p *Page) Type(ctx context.Context, text string) error {
	return p.call(ctx, "Input.insertText", map[string]any{"text": text}, nil)
}

// WithoutScripts turns the scripts of pages off. Eval works nevertheless.
func (p *Page) WithoutScripts(ctx context.Context) error {
	return p.call(ctx, "Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
}

// Languages sets the languages of the page's requests, as an Accept-Language header.
func (p *Page) Languages(ctx context.Context, accept string) error {
	return p.call(ctx, "Emulation.setUserAgentOverride", map[string]any{"userAgent": agent, "acceptLanguage": accept}, nil)
}

// Narrow gives the page the width of a small phone, 320 CSS pixels.
func (p *Page) Narrow(ctx context.Context) error {
	return p.call(ctx, "Emulation.setDeviceMetricsOverride", map[string]any{"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// Control is what a screen reader says of a control.
type Control struct {
	Role, Name, Description string
	Invalid, Focused        bool
}

// Controls returns the controls of the page that a screen reader finds, in their order.
func (p *Page) Controls(ctx context.Context) ([]Control, error) {
	type value struct {
		Value json.RawMessage
	}
	var tree struct {
		Nodes []struct {
			Ignored                 bool
			Role, Name, Description value
			Properties              []struct {
				Name  string
				Value value
			}
		}
	}
	if err := p.call(ctx, "Accessibility.getFullAXTree", nil, &tree); err != nil {
		return nil, err
	}
	text := func(v value) (s string) {
		_ = json.Unmarshal(v.Value, &s)
		return s
	}
	var list []Control
	for _, n := range tree.Nodes {
		c := Control{Role: text(n.Role), Name: text(n.Name), Description: text(n.Description)}
		if n.Ignored || !slices.Contains([]string{"textbox", "checkbox", "radio", "combobox", "button", "link", "image", "group", "status"}, c.Role) {
			continue
		}
		for _, one := range n.Properties {
			switch one.Name {
			case "invalid":
				c.Invalid = text(one.Value) == "true"
			case "focused":
				c.Focused = string(one.Value.Value) == "true"
			}
		}
		list = append(list, c)
	}
	return list, nil
}

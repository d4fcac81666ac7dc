package chromium

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// keys are the keys that Press knows, as Input.dispatchKeyEvent names them.
var keys = map[string]map[string]any{
	"Tab":        {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
	"Enter":      {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
	"Escape":     {"key": "Escape", "code": "Escape", "windowsVirtualKeyCode": 27},
	"End":        {"key": "End", "code": "End", "windowsVirtualKeyCode": 35},
	"Home":       {"key": "Home", "code": "Home", "windowsVirtualKeyCode": 36},
	"ArrowLeft":  {"key": "ArrowLeft", "code": "ArrowLeft", "windowsVirtualKeyCode": 37},
	"ArrowUp":    {"key": "ArrowUp", "code": "ArrowUp", "windowsVirtualKeyCode": 38},
	"ArrowRight": {"key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39},
	"ArrowDown":  {"key": "ArrowDown", "code": "ArrowDown", "windowsVirtualKeyCode": 40},
	"Delete":     {"key": "Delete", "code": "Delete", "windowsVirtualKeyCode": 46},
	"F1":         {"key": "F1", "code": "F1", "windowsVirtualKeyCode": 112},
	"F8":         {"key": "F8", "code": "F8", "windowsVirtualKeyCode": 119},
	".":          {"key": ".", "code": "Period", "windowsVirtualKeyCode": 190, "text": "."},
	"Space":      {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
}

// modifiers are the bits of the keys that are held while another is pressed.
var modifiers = map[string]int{"Alt": 1, "Control": 2, "Shift": 8}

// Press presses a key: a letter or one of keys, such as Tab or Enter, with a modifier before it if there is
// one, such as Control+z.
func (p *Page) Press(ctx context.Context, key string) error {
	held := 0
	if modifier, rest, ok := strings.Cut(key, "+"); ok {
		held, key = modifiers[modifier], rest
	}
	event, ok := keys[key]
	if !ok && len(key) == 1 && key >= "a" && key <= "z" {
		upper := strings.ToUpper(key)
		event, ok = map[string]any{"key": key, "code": "Key" + upper, "windowsVirtualKeyCode": upper[0]}, true
		if held == 0 {
			event["text"] = key
		}
	}
	if !ok {
		return fmt.Errorf("no key %s", key)
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "modifiers": held}
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

// Drag presses the mouse at one point of the page, moves to another, and lets go.
func (p *Page) Drag(ctx context.Context, fromX, fromY, toX, toY float64) error {
	for _, m := range []struct {
		kind    string
		x, y    float64
		buttons int
	}{{"mousePressed", fromX, fromY, 1}, {"mouseMoved", (fromX + toX) / 2, (fromY + toY) / 2, 1}, {"mouseMoved", toX, toY, 1}, {"mouseReleased", toX, toY, 0}} {
		if err := p.call(ctx, "Input.dispatchMouseEvent", map[string]any{"type": m.kind, "x": m.x, "y": m.y, "button": "left", "buttons": m.buttons, "clickCount": 1}, nil); err != nil {
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

// Screen gives the page a size in CSS pixels, and a colour scheme: light or dark.
func (p *Page) Screen(ctx context.Context, width, height int, scheme string) error {
	err := p.call(ctx, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	if err != nil {
		return err
	}
	// Without it, elements of a page in the background get no focus events.
	if err := p.call(ctx, "Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil); err != nil {
		return err
	}
	return p.call(ctx, "Emulation.setEmulatedMedia", map[string]any{"features": []any{
		map[string]any{"name": "prefers-color-scheme", "value": scheme}, map[string]any{"name": "prefers-reduced-motion", "value": "reduce"},
	}}, nil)
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

// Offline cuts the page off from the network, or connects it again.
func (p *Page) Offline(ctx context.Context, off bool) error {
	if err := p.call(ctx, "Network.enable", nil, nil); err != nil {
		return err
	}
	return p.call(ctx, "Network.emulateNetworkConditions", map[string]any{"offline": off, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}, nil)
}

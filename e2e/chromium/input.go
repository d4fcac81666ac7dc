package chromium

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"
)

// keys are the keys that Press knows by a name. rod's own Enter and Space have another key than those of a
// keyboard have.
var keys = map[string]proto.InputDispatchKeyEvent{
	"Tab":        {Key: "Tab", Code: "Tab", WindowsVirtualKeyCode: 9},
	"Enter":      {Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: 13, Text: "\r"},
	"Escape":     {Key: "Escape", Code: "Escape", WindowsVirtualKeyCode: 27},
	"End":        {Key: "End", Code: "End", WindowsVirtualKeyCode: 35},
	"Home":       {Key: "Home", Code: "Home", WindowsVirtualKeyCode: 36},
	"ArrowLeft":  {Key: "ArrowLeft", Code: "ArrowLeft", WindowsVirtualKeyCode: 37},
	"ArrowUp":    {Key: "ArrowUp", Code: "ArrowUp", WindowsVirtualKeyCode: 38},
	"ArrowRight": {Key: "ArrowRight", Code: "ArrowRight", WindowsVirtualKeyCode: 39},
	"ArrowDown":  {Key: "ArrowDown", Code: "ArrowDown", WindowsVirtualKeyCode: 40},
	"Delete":     {Key: "Delete", Code: "Delete", WindowsVirtualKeyCode: 46},
	"F1":         {Key: "F1", Code: "F1", WindowsVirtualKeyCode: 112},
	"F8":         {Key: "F8", Code: "F8", WindowsVirtualKeyCode: 119},
	"/":          {Key: "/", Code: "Slash", WindowsVirtualKeyCode: 191, Text: "/"},
	".":          {Key: ".", Code: "Period", WindowsVirtualKeyCode: 190, Text: "."},
	"Space":      {Key: " ", Code: "Space", WindowsVirtualKeyCode: 32, Text: " "},
}

// modifiers are the bits of the keys that are held while another is pressed.
var modifiers = map[string]int{"Alt": input.ModifierAlt, "Control": input.ModifierControl, "Shift": input.ModifierShift}

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
		event, ok = proto.InputDispatchKeyEvent{Key: key, Code: "Key" + upper, WindowsVirtualKeyCode: int(upper[0])}, true
		if held == 0 {
			event.Text = key
		}
	}
	if !ok {
		return fmt.Errorf("no key %s", key)
	}
	event.Type, event.Modifiers = proto.InputDispatchKeyEventTypeKeyDown, held
	if err := event.Call(p.in(ctx)); err != nil {
		return err
	}
	event.Type, event.Text = proto.InputDispatchKeyEventTypeKeyUp, ""
	return event.Call(p.in(ctx))
}

// Drag presses the mouse at one point of the page, moves to another, and lets go.
func (p *Page) Drag(ctx context.Context, fromX, fromY, toX, toY float64) error {
	mouse := p.in(ctx).Mouse
	if err := mouse.MoveTo(proto.NewPoint(fromX, fromY)); err != nil {
		return err
	}
	if err := mouse.Down(proto.InputMouseButtonLeft, 1); err != nil {
		return err
	}
	if err := mouse.MoveLinear(proto.NewPoint(toX, toY), 2); err != nil {
		return err
	}
	return mouse.Up(proto.InputMouseButtonLeft, 1)
}

// Fingers makes the screen one that is touched, which may change how pages look.
func (p *Page) Fingers(ctx context.Context) error {
	return proto.EmulationSetTouchEmulationEnabled{Enabled: true}.Call(p.in(ctx))
}

// Touch puts a finger on one point of the page, moves it to another, and lifts it; Fingers has to be called before.
func (p *Page) Touch(ctx context.Context, fromX, fromY, toX, toY float64) error {
	page := p.in(ctx)
	touch := func(kind proto.InputDispatchTouchEventType, points ...*proto.InputTouchPoint) error {
		if points == nil {
			points = []*proto.InputTouchPoint{}
		}
		return proto.InputDispatchTouchEvent{Type: kind, TouchPoints: points}.Call(page)
	}
	if err := touch(proto.InputDispatchTouchEventTypeTouchStart, &proto.InputTouchPoint{X: fromX, Y: fromY}); err != nil {
		return err
	}
	const steps = 10
	for i := 1.0; i <= steps; i++ {
		at := &proto.InputTouchPoint{X: fromX + (toX-fromX)*i/steps, Y: fromY + (toY-fromY)*i/steps}
		if err := touch(proto.InputDispatchTouchEventTypeTouchMove, at); err != nil {
			return err
		}
	}
	return touch(proto.InputDispatchTouchEventTypeTouchEnd)
}

// Point moves the mouse to a point of the page.
func (p *Page) Point(ctx context.Context, x, y float64) error {
	return p.in(ctx).Mouse.MoveTo(proto.NewPoint(x, y))
}

// Hold presses the left button of the mouse, and LetGo releases it.
func (p *Page) Hold(ctx context.Context) error {
	return p.in(ctx).Mouse.Down(proto.InputMouseButtonLeft, 1)
}

// LetGo releases the left button of the mouse.
func (p *Page) LetGo(ctx context.Context) error {
	return p.in(ctx).Mouse.Up(proto.InputMouseButtonLeft, 1)
}

// Busy returns how long the main thread of the page has been working since the page was opened.
func (p *Page) Busy(ctx context.Context) (time.Duration, error) {
	if err := (proto.PerformanceEnable{TimeDomain: proto.PerformanceEnableTimeDomainThreadTicks}).Call(p.in(ctx)); err != nil {
		return 0, err
	}
	got, err := proto.PerformanceGetMetrics{}.Call(p.in(ctx))
	if err != nil {
		return 0, err
	}
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second)), nil
		}
	}
	return 0, fmt.Errorf("no metric TaskDuration")
}

// Type enters a text where the focus is.
func (p *Page) Type(ctx context.Context, text string) error {
	return p.in(ctx).InsertText(text)
}

// Paste puts a text into the clipboard, and presses the keys that paste it where the focus is. Unlike Type it
// is as fast for thousands of lines: Chromium enters a typed text line by line, and each line takes longer the more
// are there.
func (p *Page) Paste(ctx context.Context, text string) error {
	err := proto.BrowserGrantPermissions{
		Permissions:      []proto.BrowserPermissionType{proto.BrowserPermissionTypeClipboardReadWrite, proto.BrowserPermissionTypeClipboardSanitizedWrite},
		BrowserContextID: p.profile.BrowserContextID,
	}.Call(p.profile.Context(ctx))
	if err != nil {
		return err
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return err
	}
	if err := p.Eval(ctx, "navigator.clipboard.writeText("+string(quoted)+")", nil); err != nil {
		return err
	}
	event := proto.InputDispatchKeyEvent{Type: proto.InputDispatchKeyEventTypeKeyDown, Key: "v", Code: "KeyV", WindowsVirtualKeyCode: 'V', Modifiers: input.ModifierControl, Commands: []string{"paste"}}
	if err := event.Call(p.in(ctx)); err != nil {
		return err
	}
	event.Type, event.Commands = proto.InputDispatchKeyEventTypeKeyUp, nil
	return event.Call(p.in(ctx))
}

// DragFiles moves files of the machine from the desktop over the page, through points of the window in CSS pixels, and
// lets them go at the last one if drop is set.
func (p *Page) DragFiles(ctx context.Context, drop bool, points [][2]float64, files ...string) error {
	event := proto.InputDispatchDragEvent{Type: proto.InputDispatchDragEventTypeDragEnter, Data: &proto.InputDragData{Items: []*proto.InputDragDataItem{}, Files: files, DragOperationsMask: 1}}
	for _, at := range points {
		event.X, event.Y = at[0], at[1]
		if err := event.Call(p.in(ctx)); err != nil {
			return err
		}
		event.Type = proto.InputDispatchDragEventTypeDragOver
	}
	if !drop {
		return nil
	}
	event.Type = proto.InputDispatchDragEventTypeDrop
	return event.Call(p.in(ctx))
}

// WithoutScripts turns the scripts of pages off. Eval works nevertheless.
func (p *Page) WithoutScripts(ctx context.Context) error {
	return proto.EmulationSetScriptExecutionDisabled{Value: true}.Call(p.in(ctx))
}

// Languages sets the languages of the page's requests, as an Accept-Language header.
func (p *Page) Languages(ctx context.Context, accept string) error {
	return proto.EmulationSetUserAgentOverride{UserAgent: agent, AcceptLanguage: accept}.Call(p.in(ctx))
}

// Narrow gives the page the width of a small phone, 320 CSS pixels.
func (p *Page) Narrow(ctx context.Context) error {
	return p.size(ctx, 320, 640)
}

// Screen gives the page a size in CSS pixels, and a colour scheme: light or dark.
func (p *Page) Screen(ctx context.Context, width, height int, scheme string) error {
	if err := p.size(ctx, width, height); err != nil {
		return err
	}
	// Without it, elements of a page in the background get no focus events.
	if err := (proto.EmulationSetFocusEmulationEnabled{Enabled: true}).Call(p.in(ctx)); err != nil {
		return err
	}
	return proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}.Call(p.in(ctx))
}

func (p *Page) size(ctx context.Context, width, height int) error {
	return proto.EmulationSetDeviceMetricsOverride{Width: width, Height: height, DeviceScaleFactor: 1}.Call(p.in(ctx))
}

// Control is what a screen reader says of a control.
type Control struct {
	Role, Name, Description string
	Invalid, Focused        bool
}

// Controls returns the controls of the page that a screen reader finds, in their order.
func (p *Page) Controls(ctx context.Context) ([]Control, error) {
	tree, err := proto.AccessibilityGetFullAXTree{}.Call(p.in(ctx))
	if err != nil {
		return nil, err
	}
	text := func(v *proto.AccessibilityAXValue) string {
		if v == nil {
			return ""
		}
		return v.Value.Str()
	}
	var list []Control
	for _, n := range tree.Nodes {
		c := Control{Role: text(n.Role), Name: text(n.Name), Description: text(n.Description)}
		if n.Ignored || !slices.Contains([]string{"textbox", "checkbox", "radio", "combobox", "button", "link", "image", "group", "status"}, c.Role) {
			continue
		}
		for _, one := range n.Properties {
			switch one.Name {
			case proto.AccessibilityAXPropertyNameInvalid:
				c.Invalid = text(one.Value) == "true"
			case proto.AccessibilityAXPropertyNameFocused:
				c.Focused = one.Value.Value.Bool()
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// Offline cuts the page off from the network, or connects it again.
func (p *Page) Offline(ctx context.Context, off bool) error {
	if err := (proto.NetworkEnable{}).Call(p.in(ctx)); err != nil {
		return err
	}
	return proto.NetworkEmulateNetworkConditions{Offline: off, DownloadThroughput: -1, UploadThroughput: -1}.Call(p.in(ctx))
}

// Screenshot returns a PNG picture of what the page shows.
func (p *Page) Screenshot(ctx context.Context) ([]byte, error) {
	shot, err := proto.PageCaptureScreenshot{Format: proto.PageCaptureScreenshotFormatPng}.Call(p.in(ctx))
	if err != nil {
		return nil, err
	}
	return shot.Data, nil
}

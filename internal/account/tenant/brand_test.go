package tenant_test

import (
	"strings"
	"testing"

	"github.com/packetboat/packetboat/internal/account/tenant"
	"github.com/packetboat/packetboat/internal/base/fault"
)

func TestABrandIsWrittenInOneWay(t *testing.T) {
	b := tenant.DefaultBrand()
	b.Colors.Primary, b.Colors.Secondary = " #AbC ", new("#00FF00")
	b.Fonts = tenant.BrandFonts{Heading: `"times  new roman" ,GEORGIA,Serif`, Body: "monospace"}
	b.Footer = "{{ account.name }}\n{% if first_name %}for {{ first_name }}{% endif %}"
	var p fault.Problems
	if b.Normalize(&p); p.Any() {
		t.Fatal(p.Err())
	}
	if b.Colors.Primary != "#aabbcc" || *b.Colors.Secondary != "#00ff00" || b.Fonts.Heading != "Times New Roman, Georgia, serif" {
		t.Errorf("%+v", b)
	}
	if *b.ButtonColor() != "#aabbcc" || *b.Secondary() != "#00ff00" {
		t.Errorf("button %s, secondary %s", *b.ButtonColor(), *b.Secondary())
	}
}

func TestEachFieldOfABrandIsChecked(t *testing.T) {
	for name, change := range map[string]func(*tenant.Brand){
		"colors.primary":    func(b *tenant.Brand) { b.Colors.Primary = "red; background: url(x)" },
		"colors.secondary":  func(b *tenant.Brand) { b.Colors.Secondary = new("#12") },
		"colors.text":       func(b *tenant.Brand) { b.Colors.Text = "" },
		"colors.background": func(b *tenant.Brand) { b.Colors.Background = "#12345678" },
		"colors.surface":    func(b *tenant.Brand) { b.Colors.Surface = "#12345g" },
		"button.color":      func(b *tenant.Brand) { b.Button.Color = new("#{{ a }}") },
		"button.text_color": func(b *tenant.Brand) { b.Button.TextColor = "white" },
		"button.radius":     func(b *tenant.Brand) { b.Button.Radius = tenant.MaxButtonRadius + 1 },
		"width":             func(b *tenant.Brand) { b.Width = tenant.MinBrandWidth - 1 },
		"fonts.heading":     func(b *tenant.Brand) { b.Fonts.Heading = "Georgia" },
		"fonts.body":        func(b *tenant.Brand) { b.Fonts.Body = `Arial"><script>, serif` },
		"footer":            func(b *tenant.Brand) { b.Footer = "\n{% nope %}" },
	} {
		b := tenant.DefaultBrand()
		change(&b)
		var p fault.Problems
		b.Normalize(&p)
		if fields := p.Fields().Fields; len(fields) != 1 || fields[0].Path != name {
			t.Errorf("%s: %v", name, fields)
		}
	}
	for name, b := range map[string]tenant.Brand{
		"fonts":   {Fonts: tenant.BrandFonts{Heading: strings.Repeat("Arial, ", 10) + "serif"}},
		"footer":  {Footer: strings.Repeat("a", tenant.MaxBrandFooter+1)},
		"control": {Footer: "a\x00"},
		"utf8":    {Footer: "a\xff"},
		"radius":  {Button: tenant.BrandButton{Radius: -1}},
	} {
		var p fault.Problems
		if b.Normalize(&p); len(p.Fields().Fields) < 6 {
			t.Errorf("%s: %v; want all problems at once", name, p.Fields().Fields)
		}
	}
}

package starter

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/packetboat/packetboat/internal/account/tenant"
)

// What the starters contain where a brand has its own.
const (
	ownPrimary    = "#12507b"
	ownText       = "#1f2a35"
	ownBackground = `background-color="#f5f3ee"`
	ownSurface    = `background-color="#ffffff"`
	ownWidth      = `width="600px"`
	ownHeading    = "Georgia, Times New Roman, serif"
	ownHeadingCSS = "Georgia,'Times New Roman',serif"
	ownBody       = "Helvetica Neue, Helvetica, Arial, sans-serif"
	ownButton     = `border-radius="8px" font-size="16px" line-height="20px" font-weight="bold" color="#ffffff" background-color="{{param:brand_color}}"`
)

// Branded returns the starter in the look of a brand. The main colour becomes the default of the parameter
// brand_color; the others, fonts and sizes become part of the MJML.
func (s Starter) Branded(b tenant.Brand) Starter {
	headingCSS := ownHeadingCSS
	if b.Fonts.Heading != ownHeading {
		headingCSS = b.Fonts.Heading
	}
	button := "{{param:brand_color}}"
	if b.Button.Color != nil {
		button = *b.Button.Color
	}
	s.MJML = strings.NewReplacer(
		ownText, b.Colors.Text,
		ownBackground, `background-color="`+b.Colors.Background+`"`,
		ownSurface, `background-color="`+b.Colors.Surface+`"`,
		ownWidth, `width="`+strconv.Itoa(b.Width)+`px"`,
		ownHeading, b.Fonts.Heading,
		ownHeadingCSS, headingCSS,
		ownBody, b.Fonts.Body,
		ownButton, `border-radius="`+strconv.Itoa(b.Button.Radius)+`px" font-size="16px" line-height="20px" font-weight="bold" color="`+
			b.Button.TextColor+`" background-color="`+button+`"`,
	).Replace(s.MJML)
	s.Schema = json.RawMessage(strings.ReplaceAll(string(s.Schema), ownPrimary, b.Colors.Primary))
	s.Sample = json.RawMessage(strings.ReplaceAll(string(s.Sample), ownPrimary, b.Colors.Primary))
	return s
}

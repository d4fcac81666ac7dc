package starter

import (
	"encoding/json"
	"math"
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
	ownOnPrimary  = `css-class="plain" color="#ffffff"`
	ownTitle      = `css-class="plain title" color="#ffffff"`
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
		ownOnPrimary, `css-class="plain" color="`+readableOn(b.Colors.Primary)+`"`,
		ownTitle, `css-class="plain title" color="`+readableOn(b.Colors.Primary)+`"`,
		ownButton, `border-radius="`+strconv.Itoa(b.Button.Radius)+`px" font-size="16px" line-height="20px" font-weight="bold" color="`+
			b.Button.TextColor+`" background-color="`+button+`"`,
	).Replace(s.MJML)
	s.Schema = json.RawMessage(strings.ReplaceAll(string(s.Schema), ownPrimary, b.Colors.Primary))
	s.Sample = json.RawMessage(strings.ReplaceAll(string(s.Sample), ownPrimary, b.Colors.Primary))
	return s
}

// readableOn returns white or black: white where its contrast to a colour is 4.5 to 1 or more.
func readableOn(color string) string {
	const mostForWhite = 1.05/4.5 - 0.05 // relative luminance (WCAG 2.2)
	rgb, err := strconv.ParseUint(color[1:], 16, 32)
	if err != nil {
		return "#ffffff"
	}
	channel := func(shift int) float64 {
		v := float64(rgb>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	if 0.2126*channel(16)+0.7152*channel(8)+0.0722*channel(0) > mostForWhite {
		return "#000000"
	}
	return "#ffffff"
}

package legible

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// colour is red, green and blue, from 0 to 255, of a known colour.
type colour struct {
	r, g, b float64
	known   bool
}

var (
	black   = colour{known: true}
	white   = colour{255, 255, 255, true}
	ofLink  = colour{0, 0, 238, true} // of a link that has no colour of its own
	unknown = colour{}
)

func (c colour) String() string {
	return fmt.Sprintf("#%02x%02x%02x", uint8(math.Round(c.r)), uint8(math.Round(c.g)), uint8(math.Round(c.b)))
}

// names are the usual names of colours.
var names = map[string]uint32{
	"black": 0x000000, "silver": 0xc0c0c0, "gray": 0x808080, "grey": 0x808080, "white": 0xffffff, "maroon": 0x800000, "red": 0xff0000, "purple": 0x800080,
	"fuchsia": 0xff00ff, "magenta": 0xff00ff, "green": 0x008000, "lime": 0x00ff00, "olive": 0x808000, "yellow": 0xffff00, "navy": 0x000080, "blue": 0x0000ff,
	"teal": 0x008080, "aqua": 0x00ffff, "cyan": 0x00ffff, "orange": 0xffa500, "gold": 0xffd700, "tomato": 0xff6347, "crimson": 0xdc143c, "coral": 0xff7f50,
	"salmon": 0xfa8072, "pink": 0xffc0cb, "indigo": 0x4b0082, "violet": 0xee82ee, "brown": 0xa52a2a, "beige": 0xf5f5dc, "ivory": 0xfffff0, "khaki": 0xf0e68c,
	"darkgray": 0xa9a9a9, "darkgrey": 0xa9a9a9, "dimgray": 0x696969, "dimgrey": 0x696969, "lightgray": 0xd3d3d3, "lightgrey": 0xd3d3d3, "gainsboro": 0xdcdcdc,
	"whitesmoke": 0xf5f5f5, "slategray": 0x708090, "slategrey": 0x708090, "steelblue": 0x4682b4, "royalblue": 0x4169e1, "dodgerblue": 0x1e90ff, "skyblue": 0x87ceeb,
	"lightblue": 0xadd8e6, "darkblue": 0x00008b, "darkgreen": 0x006400, "darkred": 0x8b0000, "forestgreen": 0x228b22, "seagreen": 0x2e8b57, "orangered": 0xff4500,
	"darkorange": 0xff8c00, "hotpink": 0xff69b4, "deeppink": 0xff1493, "chocolate": 0xd2691e, "sienna": 0xa0522d, "tan": 0xd2b48c, "turquoise": 0x40e0d0,
}

// over returns the colour that a value of CSS has above another one.
func over(value string, below colour) colour {
	value = strings.ToLower(strings.TrimSpace(value))
	if n, ok := names[value]; ok {
		return colour{float64(n >> 16), float64(n >> 8 & 255), float64(n & 255), true}
	}
	c, alpha, ok := numbers(value)
	switch {
	case !ok:
		return unknown
	case alpha >= 1:
		return c
	case !below.known:
		return unknown
	}
	mix := func(a, b float64) float64 { return a*alpha + b*(1-alpha) }
	return colour{mix(c.r, below.r), mix(c.g, below.g), mix(c.b, below.b), true}
}

// numbers reads #rgb, #rrggbb and rgb(), with their forms that have an opacity.
func numbers(value string) (c colour, alpha float64, ok bool) {
	if hex, isHex := strings.CutPrefix(value, "#"); isHex {
		if len(hex) == 3 || len(hex) == 4 {
			var long strings.Builder
			for _, digit := range hex {
				long.WriteString(strings.Repeat(string(digit), 2))
			}
			hex = long.String()
		}
		if len(hex) == 6 {
			hex += "ff"
		}
		n, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || len(hex) != 8 {
			return unknown, 0, false
		}
		return colour{float64(n >> 24), float64(n >> 16 & 255), float64(n >> 8 & 255), true}, float64(n&255) / 255, true
	}
	inner, isFunction := strings.CutPrefix(value, "rgb")
	inner = strings.TrimPrefix(inner, "a")
	if !isFunction || !strings.HasPrefix(inner, "(") || !strings.HasSuffix(inner, ")") {
		return unknown, 0, false
	}
	parts := strings.FieldsFunc(inner[1:len(inner)-1], func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
	if len(parts) != 3 && len(parts) != 4 {
		return unknown, 0, false
	}
	values := [4]float64{3: 1}
	for i, part := range parts {
		whole := 255.0
		if i == 3 {
			whole = 1
		}
		number, percent := strings.CutSuffix(part, "%")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || math.IsNaN(v) {
			return unknown, 0, false
		}
		if percent {
			v *= whole / 100
		}
		values[i] = max(0, min(v, whole))
	}
	return colour{values[0], values[1], values[2], true}, values[3], true
}

// contrast returns the ratio of two colours (WCAG 2.2, "contrast ratio").
func contrast(a, b colour) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance is the relative luminance that WCAG 2.2 defines.
func (c colour) luminance() float64 {
	linear := func(v float64) float64 {
		if v /= 255; v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

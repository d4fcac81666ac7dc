package main

import (
	"image"
	"image/color"
	"image/draw"
	"testing"
)

// Pictures differ by what a person sees: text, colours, places and sizes, not by how the edges of letters are drawn.
func TestPicturesDifferByWhatIsSeen(t *testing.T) {
	t.Parallel()
	ink, paper := color.RGBA{20, 20, 30, 255}, color.RGBA{250, 250, 250, 255}
	with := func(height int, c color.RGBA, boxes ...image.Rectangle) *image.RGBA {
		p := image.NewRGBA(image.Rect(0, 0, 400, height))
		draw.Draw(p, p.Rect, image.NewUniform(paper), image.Point{}, draw.Src)
		for _, box := range boxes {
			draw.Draw(p, box, image.NewUniform(c), image.Point{}, draw.Src)
		}
		return p
	}
	box := image.Rect(40, 40, 60, 46)
	before := with(300, ink, box)
	for what, c := range map[string]struct {
		after *image.RGBA
		want  bool
	}{
		"nothing":                     {with(300, ink, box), false},
		"a shade that nobody sees":    {with(300, color.RGBA{24, 20, 38, 255}, box), false},
		"an edge one pixel away":      {with(300, ink, box.Add(image.Pt(1, 0))), false},
		"a place eight pixels away":   {with(300, ink, box.Add(image.Pt(0, 8))), true},
		"another colour":              {with(300, color.RGBA{166, 27, 18, 255}, box), true},
		"something new":               {with(300, ink, box, image.Rect(100, 40, 108, 46)), true},
		"something that is gone":      {with(300, ink), true},
		"a page that became longer":   {with(308, ink, box), true},
		"a page that became shorter":  {with(292, ink, box), true},
		"a few pixels more than none": {with(300, ink, box, image.Rect(100, 40, 101, 41)), false},
	} {
		n, marked := compare(before, c.after)
		if got := differ(n, marked.Rect); got != c.want {
			t.Errorf("%s: %d pixels: differ is %v, want %v", what, n, got, c.want)
		}
		red := 0
		for y := range marked.Rect.Dy() {
			for x := range marked.Rect.Dx() {
				if marked.RGBAAt(x, y) == (color.RGBA{R: 220, A: 255}) {
					red++
				}
			}
		}
		if red != n {
			t.Errorf("%s: %d pixels are marked, want %d", what, red, n)
		}
	}
}

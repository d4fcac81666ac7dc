package main

import (
	"image"
	"image/color"
	"image/draw"
)

// How much two pictures of the same page may differ.
const (
	// tolerance is how far apart two colours are that count as the same, of 255 in the channel that differs most.
	tolerance = 24
	// share is the part of the pixels that may differ. A letter in a picture of 1600 × 1000 pixels is three times
	// as much.
	share = 1.0 / 100_000
)

// compare returns how many pixels of two pictures differ, and b in grey with those pixels in red. Pixels that only
// one picture has differ. Pixels of edges that are drawn a little differently, or moved by one pixel, do not: a pixel
// differs only if its colour is not beside the same place in the other picture.
func compare(a, b *image.RGBA) (int, *image.RGBA) {
	bounds := a.Rect.Union(b.Rect)
	marked := image.NewRGBA(bounds)
	n := 0
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			p, q := a.RGBAAt(x, y), b.RGBAAt(x, y) // transparent outside
			if !close(p, q) && (!beside(b, x, y, p) || !beside(a, x, y, q)) {
				n++
				marked.SetRGBA(x, y, color.RGBA{R: 220, A: 255})
				continue
			}
			grey := uint8(170 + (int(q.R)+int(q.G)+int(q.B))/9)
			marked.SetRGBA(x, y, color.RGBA{grey, grey, grey, 255})
		}
	}
	return n, marked
}

// differ reports whether n pixels are too many for a picture.
func differ(n int, picture image.Rectangle) bool {
	return float64(n) > share*float64(picture.Dx()*picture.Dy())
}

// beside reports whether a picture has a colour at a place, or at one of the eight around it.
func beside(p *image.RGBA, x, y int, c color.RGBA) bool {
	for dy := -1; dy <= 1; dy++ {
		for dx := -1; dx <= 1; dx++ {
			if close(p.RGBAAt(x+dx, y+dy), c) {
				return true
			}
		}
	}
	return false
}

func close(p, q color.RGBA) bool {
	far := func(a, b uint8) bool { return max(a, b)-min(a, b) > tolerance }
	return !far(p.R, q.R) && !far(p.G, q.G) && !far(p.B, q.B) && !far(p.A, q.A)
}

// rgba converts a picture.
func rgba(p image.Image) *image.RGBA {
	if done, ok := p.(*image.RGBA); ok {
		return done
	}
	out := image.NewRGBA(p.Bounds())
	draw.Draw(out, out.Rect, p, p.Bounds().Min, draw.Src)
	return out
}

package asset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	_ "image/gif"  // DecodeConfig
	_ "image/jpeg" // DecodeConfig
	_ "image/png"  // DecodeConfig
)

// MaxSize is the maximal number of bytes of an image.
const MaxSize = 5 << 20

// Limits of the dimensions of an image: a small file can be an image that no program has memory for.
const (
	maxSide   = 8000
	maxPixels = 40_000_000
)

// Type is the media type of an image.
type Type string

// The types of images.
const (
	PNG  Type = "image/png"
	JPEG Type = "image/jpeg"
	GIF  Type = "image/gif"
	WebP Type = "image/webp"
)

// Extension returns the end of the names of files of the type.
func (t Type) Extension() string {
	switch t {
	case PNG:
		return ".png"
	case JPEG:
		return ".jpg"
	case GIF:
		return ".gif"
	case WebP:
		return ".webp"
	}
	return ""
}

// Image is what the content of a file says about the image.
type Image struct {
	Type          Type
	Width, Height int
}

// Check returns the type and the dimensions of an image, by its content. SVG is no image here: it can contain scripts.
func Check(content []byte) (Image, error) {
	var found Image
	if w, h, ok := webpSize(content); ok {
		found = Image{WebP, w, h}
	} else {
		c, format, err := image.DecodeConfig(bytes.NewReader(content))
		if err != nil {
			return Image{}, problem("must be a PNG, JPEG, GIF or WebP image")
		}
		found = Image{Type("image/" + format), c.Width, c.Height}
	}
	if found.Width < 1 || found.Height < 1 || found.Width > maxSide || found.Height > maxSide || found.Width*found.Height > maxPixels {
		return Image{}, problem(fmt.Sprintf("has %d × %d pixels; at most %d on a side, and %d million", found.Width, found.Height, maxSide, maxPixels/1_000_000))
	}
	return found, nil
}

// webpSize returns the dimensions of a WebP image, by its first chunk:
// https://developers.google.com/speed/webp/docs/riff_container
func webpSize(b []byte) (width, height int, ok bool) {
	if len(b) < 30 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" || int64(binary.LittleEndian.Uint32(b[4:]))+8 > int64(len(b)) {
		return 0, 0, false
	}
	data := b[20:]
	switch string(b[12:16]) {
	case "VP8 ": // lossy: a key frame (RFC 6386, section 9.1)
		if data[0]&1 != 0 || data[3] != 0x9d || data[4] != 0x01 || data[5] != 0x2a {
			return 0, 0, false
		}
		return int(binary.LittleEndian.Uint16(data[6:])) & 0x3fff, int(binary.LittleEndian.Uint16(data[8:])) & 0x3fff, true
	case "VP8L": // lossless
		if data[0] != 0x2f {
			return 0, 0, false
		}
		bits := binary.LittleEndian.Uint32(data[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, true
	case "VP8X": // extended
		size := func(at int) int { return int(data[at]) | int(data[at+1])<<8 | int(data[at+2])<<16 }
		return size(4) + 1, size(7) + 1, true
	}
	return 0, 0, false
}

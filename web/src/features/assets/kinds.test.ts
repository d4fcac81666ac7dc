import { equals, type Tests } from "../../base/testing";
import { isAnimated, isTurned, kindOf } from "./kinds";

const bytesOf = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const png = (...chunks: string[]) =>
	bytesOf(`\x89PNG\r\n\x1a\n${chunks.map((chunk) => `\0\0\0\x01${chunk}x\0\0\0\0`).join("")}`);
const jpeg = (orientation: number, order = "MM") => {
	const number = (value: number, size: number) => {
		const digits = Array.from({ length: size }, (_, i) => String.fromCharCode((value >> (8 * (size - 1 - i))) & 255));
		return (order === "MM" ? digits : digits.toReversed()).join("");
	};
	const tiff = `${order}${number(42, 2)}${number(8, 4)}${number(1, 2)}${number(0x0112, 2)}${number(3, 2)}${number(1, 4)}${number(orientation, 2)}\0\0`;
	return bytesOf(
		`\xff\xd8\xff\xe0\0\x04ab\xff\xe1\0${String.fromCharCode(tiff.length + 8)}Exif\0\0${tiff}\xff\xda\0\x02`,
	);
};

const tests: Tests = {
	"an image is what its bytes say"() {
		const files: [content: string, kind: string | null][] = [
			["\x89PNG\r\n\x1a\n\0\0", "png"],
			["\xff\xd8\xff\xe0", "jpeg"],
			["GIF89a\x01", "gif"],
			["GIF87a\x01", "gif"],
			["RIFF\0\0\0\0WEBPVP8 ", "webp"],
			["<svg xmlns='http://www.w3.org/2000/svg'/>", "svg"],
			["<svg/>", "svg"],
			['\xef\xbb\xbf<?xml version="1.0"?>\n<!-- made by hand --><!DOCTYPE svg>\n<svg>', "svg"],
			["<p>no <svg></svg></p>", null],
			["hello", null],
			["GIF", null],
			["RIFF\0\0\0\0WAVE", null],
			["", null],
		];
		for (const [content, kind] of files) equals(kindOf(bytesOf(content)), kind, content);
	},

	"what moves is known by its bytes"() {
		equals(isAnimated(bytesOf("GIF89a"), "gif"), true, "a GIF");
		equals(
			[isAnimated(png("IHDR", "acTL", "IDAT"), "png"), isAnimated(png("IHDR", "IDAT", "acTL"), "png")],
			[true, false],
		);
		equals(isAnimated(png("IHDR"), "png"), false, "a PNG that is cut off");
		const webp = (flags: string) => bytesOf(`RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0${flags}\0\0\0`);
		equals([isAnimated(webp("\x02"), "webp"), isAnimated(webp("\x10"), "webp")], [true, false]);
		equals(isAnimated(jpeg(6), "jpeg"), false, "a JPEG");
	},

	"a photo that was taken sideways is known by its bytes"() {
		for (const order of ["MM", "II"]) {
			equals(
				[1, 3, 6, 8].map((orientation) => isTurned(jpeg(orientation, order))),
				[false, true, true, true],
				order,
			);
		}
		const whole = jpeg(6);
		for (let size = 0; size < whole.length; size++) isTurned(whole.slice(0, size));
		equals(isTurned(bytesOf("\xff\xd8\xff\xda")), false, "without Exif");
	},
};

export default tests;

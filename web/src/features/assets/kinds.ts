// What an image is, by its first bytes, whatever its file is called.

export type Kind = "png" | "jpeg" | "gif" | "webp" | "svg";

/** As many bytes of a file are enough to tell. */
export const headSize = 1 << 18;

const textAt = (bytes: Uint8Array, from: number, length: number) =>
	String.fromCharCode(...bytes.subarray(from, from + length));

/** kindOf returns what an image is; null of what is none that mails can have. */
export function kindOf(bytes: Uint8Array): Kind | null {
	if (textAt(bytes, 0, 8) === "\x89PNG\r\n\x1a\n") return "png";
	if (textAt(bytes, 0, 3) === "\xff\xd8\xff") return "jpeg";
	if (/^GIF8[79]a$/.test(textAt(bytes, 0, 6))) return "gif";
	if (textAt(bytes, 0, 4) === "RIFF" && textAt(bytes, 8, 4) === "WEBP") return "webp";
	const markup = textAt(bytes, 0, 4096)
		.replace(/^\xef\xbb\xbf/, "")
		.replace(/<!--[\s\S]*?-->/g, "")
		.replace(/<[?!][^>]*>/g, "");
	return /^\s*<svg[\s/>]/i.test(markup) ? "svg" : null;
}

/** isAnimated reports whether an image moves, or may do so: what draws it anew would keep its first frame. */
export function isAnimated(bytes: Uint8Array, kind: Kind): boolean {
	if (kind === "gif") return true;
	if (kind === "webp") return textAt(bytes, 12, 4) === "VP8X" && ((bytes[20] ?? 0) & 2) !== 0;
	if (kind !== "png") return false;
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	for (let at = 8; at + 8 <= bytes.length; at += 12 + view.getUint32(at)) {
		const chunk = textAt(bytes, at + 4, 4);
		if (chunk === "acTL") return true;
		if (chunk === "IDAT") return false;
	}
	return false;
}

/** isTurned reports whether the camera was held in another way than the pixels of a JPEG lie (Exif, tag 0x0112). Many mail programs do not ask. */
export function isTurned(bytes: Uint8Array): boolean {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff; at += 2 + view.getUint16(at + 2)) {
		if (bytes[at + 1] === 0xda) return false;
		if (bytes[at + 1] !== 0xe1 || textAt(bytes, at + 4, 6) !== "Exif\0\0") continue;
		const start = at + 10;
		if (start + 8 > bytes.length) return false;
		const little = textAt(bytes, start, 2) === "II";
		const list = start + view.getUint32(start + 4, little);
		if (list + 2 > bytes.length) return false;
		for (let i = 0; i < view.getUint16(list, little); i++) {
			const entry = list + 2 + i * 12;
			if (entry + 12 > bytes.length) return false;
			if (view.getUint16(entry, little) === 0x0112) return view.getUint16(entry + 8, little) > 1;
		}
	}
	return false;
}

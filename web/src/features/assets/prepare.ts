import { catalogue } from "../../base/words/catalogue";
import { bytes, number } from "../../base/words/formats";
import { headSize, isAnimated, isTurned, type Kind, kindOf } from "./kinds";

const words = catalogue("assets.prepare", {
	svg: "Many mail programs do not show SVG images. Save it as PNG, and use that file.",
	kind: "Mail programs do not show images of this kind. Save it as PNG or JPEG, and use that file.",
	none: "This is not an image. Use a PNG, JPEG, GIF or WebP file.",
	damaged: "The image is damaged or incomplete. Save it again as PNG or JPEG, and use that file.",
	unread: "The file cannot be read. Choose it again, and no folder.",
	size: "The file has {size}, and 5 MB is the limit. Save the image smaller, or as JPEG.",
	pixels: "The image has {width} × {height} pixels, and {most} on a side is the limit. Cut it, or save it smaller.",
});

/** What the server stores at most. */
const maxSize = 5 << 20;
const maxSide = 8000;

/** No larger file is read. */
const maxRead = 100 << 20;

const types: { [kind in Kind]: { type: string; ending: string } } = {
	png: { type: "image/png", ending: "png" },
	jpeg: { type: "image/jpeg", ending: "jpg" },
	gif: { type: "image/gif", ending: "gif" },
	webp: { type: "image/webp", ending: "webp" },
	svg: { type: "image/svg+xml", ending: "svg" },
};

const endingOf = (type: string) => Object.values(types).find((known) => known.type === type)?.ending ?? "png";

/** isOther reports whether a file calls itself an image, of another kind than those that are known by their bytes. */
const isOther = ({ type, name }: File) =>
	type.startsWith("image/") || /\.(?:avif|bmp|heic|heif|ico|psd|tiff?)$/i.test(name);

/** refuse says why an image cannot be used, and what helps. */
const refuse = (sentence: string): never => {
	throw new Error(sentence);
};

/**
 * prepare returns an image as it is stored for mails that are so many pixels wide: upright, and at most twice as wide. What
 * is that already, and what moves, stays as it is. It fails with a sentence about a file that cannot be used.
 */
export async function prepare(file: File, mailWidth = 600): Promise<File> {
	const tooLarge = (size: number) => refuse(words.size({ size: bytes(size) }));
	const start = await file
		.slice(0, headSize)
		.arrayBuffer()
		.catch(() => refuse(words.unread));
	const head = new Uint8Array(start);
	const kind = kindOf(head);
	if (kind === "svg") return refuse(words.svg);
	if (!kind) return refuse(isOther(file) ? words.kind : words.none);
	if (file.size > maxRead) return tooLarge(file.size);
	if (isAnimated(head, kind)) return file.size > maxSize ? tooLarge(file.size) : file;
	const image = await createImageBitmap(file, { imageOrientation: "from-image" }).catch(() => refuse(words.damaged));
	const scale = Math.min(1, (2 * mailWidth) / image.width);
	const [width, height] = [Math.round(image.width * scale), Math.max(1, Math.round(image.height * scale))];
	const turned = kind === "jpeg" && isTurned(head);
	let made = file;
	if (scale < 1 || turned || file.size > maxSize) {
		const drawn = await draw(image, width, height, types[kind].type);
		// Few colours take less room as they were.
		if (turned || drawn.size < file.size || height > maxSide) made = named(drawn, file.name);
	}
	const { width: before, height: beforeHeight } = image;
	image.close();
	if (made.size > maxSize) return tooLarge(made.size);
	const [w, h] = made === file ? [before, beforeHeight] : [width, height];
	if (w > maxSide || h > maxSide)
		return refuse(words.pixels({ width: number(w), height: number(h), most: number(maxSide) }));
	return made;
}

/** draw writes an image in another size. */
async function draw(image: ImageBitmap, width: number, height: number, type: string): Promise<Blob> {
	const canvas = Object.assign(document.createElement("canvas"), { width, height });
	const context = canvas.getContext("2d");
	if (!context) return refuse(words.damaged);
	context.imageSmoothingQuality = "high";
	context.drawImage(image, 0, 0, width, height);
	// A browser that cannot write a type writes PNG.
	const drawn = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, 0.85));
	return drawn ?? refuse(words.damaged);
}

/** named returns an image as a file that is called as another one, with the ending of its own type. */
const named = (image: Blob, name: string) =>
	new File([image], `${name.replace(/\.[a-z0-9]+$/i, "")}.${endingOf(image.type)}`, { type: image.type });

import { api, newKey } from "../../api/client";
import type { AssetRow } from "../../api/schema";

/** The types of images that can be uploaded. */
export const accepted = "image/png,image/jpeg,image/gif,image/webp";

/** upload stores an image, which is public from then on. */
export function upload(file: File): Promise<AssetRow> {
	const body = new FormData();
	body.append("file", file, file.name);
	return api("POST /assets", { body, idempotencyKey: newKey() } as never) as Promise<AssetRow>;
}

/** imagesOf returns the images among what is dropped or pasted. */
export const imagesOf = (data: DataTransfer | null) =>
	[...(data?.files ?? [])].filter((file) => accepted.includes(file.type) && file.type !== "");

/** hasFiles reports whether files are dragged. */
export const hasFiles = (data: DataTransfer | null) => [...(data?.types ?? [])].includes("Files");

/** localOf returns the address of an image on this installation, from which the application may load it. */
export const localOf = (asset: AssetRow) => new URL(asset.url).pathname;

/** markupOf returns the code that shows an image. */
export function markupOf(asset: AssetRow, format: "mjml" | "html"): string {
	const alt = asset.name
		.replace(/\.[a-z]+$/i, "")
		.replaceAll(/[-_]+/g, " ")
		.replaceAll("&", "&amp;")
		.replaceAll('"', "&quot;")
		.replaceAll("<", "&lt;");
	const width = Math.min(asset.width, 600);
	if (format === "mjml") return `<mj-image src="${asset.url}" alt="${alt}" width="${width}px" />`;
	return `<img src="${asset.url}" alt="${alt}" width="${width}" height="${Math.round((asset.height * width) / asset.width)}">`;
}

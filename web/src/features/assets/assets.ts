import { api, newKey } from "../../api/client";
import type { AssetRow } from "../../api/schema";
import { retryImport } from "../../base/lazy";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";

const words = catalogue("assets.assets", { failed: "{name}: {why}" });

/** The types of images that can be uploaded. */
export const accepted = "image/png,image/jpeg,image/gif,image/webp";

/** upload stores an image, which is public from then on, as mails of a width need it. It fails with a sentence about a file that cannot be used. */
export const upload = async (file: File, mailWidth?: number): Promise<AssetRow> =>
	store(await prepared(file, mailWidth));

/** prepared returns an image as it is stored; see prepare. */
export const prepared = async (file: File, mailWidth?: number): Promise<File> =>
	(await retryImport(() => import("./prepare"))).prepare(file, mailWidth);

/** store stores an image that is prepared. */
export function store(file: File): Promise<AssetRow> {
	const body = new FormData();
	body.append("file", file, file.name);
	return api("POST /assets", { body, idempotencyKey: newKey() } as never) as Promise<AssetRow>;
}

/** failureOf says which file was not stored, and why. */
export const failureOf = (file: File, error: unknown) => words.failed({ name: file.name, why: explain(error) });

/** filesOf returns the files that are dropped or pasted. */
export const filesOf = (data: DataTransfer | null) => [...(data?.files ?? [])];

/** isCode reports whether a file has text, for which an editor of code has use, as far as its type tells. */
export const isCode = ({ type }: File) => /^$|^text\/|^application\/(?:json|xml)$/.test(type);

/** hasFiles reports whether files are dragged. */
export const hasFiles = (data: DataTransfer | null) => [...(data?.types ?? [])].includes("Files");

/** localOf returns the address of an image on this installation, from which the application may load it. */
export const localOf = (asset: Pick<AssetRow, "url">) => new URL(asset.url).pathname;

/** altOf returns the alternative text that the name of an image makes. */
export const altOf = (asset: Pick<AssetRow, "name">) => asset.name.replace(/\.[a-z]+$/i, "").replaceAll(/[-_]+/g, " ");

/** markupOf returns the code that shows an image. */
export function markupOf(asset: AssetRow, format: "mjml" | "html"): string {
	const alt = altOf(asset).replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
	const width = Math.min(asset.width, 600);
	if (format === "mjml") return `<mj-image src="${asset.url}" alt="${alt}" width="${width}px" />`;
	return `<img src="${asset.url}" alt="${alt}" width="${width}" height="${Math.round((asset.height * width) / asset.width)}">`;
}

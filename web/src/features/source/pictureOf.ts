import type { PreviewAnswer, PreviewRequestBody } from "../../api/schema";
import type { Picture } from "../design/picture";

/** pictureOf returns the picture of a preview of MJML that was asked for with marks; null if there is none. */
export function pictureOf(
	preview: { answer: Pick<PreviewAnswer, "html" | "size">; request: string } | null,
): Picture | null {
	if (!preview || preview.answer.html === null) return null;
	const { source, marks } = JSON.parse(preview.request) as PreviewRequestBody;
	const text = source.block?.content_mjml ?? source.template?.content_mjml ?? source.content?.body_mjml;
	return marks && typeof text === "string" ? { html: preview.answer.html, text, size: preview.answer.size } : null;
}

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { PreviewAnswer, PreviewRequestBody, PreviewSource } from "../../api/schema";
import { sourcePreviewQuery } from "./queries";

/** ValidPreview is a mail that could be made, when, and the body of the request for it. */
export type ValidPreview = { answer: PreviewAnswer; at: Date; request: string };

/** After this many milliseconds without a change a source is shown. The text of an editor comes after a pause of its own. */
const pause = 200;

/** What comes to a design after so many milliseconds without anything is an act, or the first key, and is shown at once. */
const rest = 400;

/** useLivePreview shows a source a moment after its last change: the newest request wins, and the last mail that could be made stays. */
export function useLivePreview(
	kind: "template" | "block" | "message",
	id: string,
	source: () => PreviewSource | null,
	contact: string | null,
	marks = false,
) {
	const write = () => {
		const request = source();
		return request ? JSON.stringify({ source: request, contact_id: contact, ...(marks ? { marks } : {}) }) : "";
	};
	const [request, setRequest] = useState(write);
	const [lastValid, setLastValid] = useState<ValidPreview | null>(null);
	const renderedAt = useRef(0);
	// After each render: what the source is made of is compared as text, in the timer, and not at each key.
	useEffect(() => {
		const refresh = () => {
			const text = write();
			if (text !== "") setRequest(text);
		};
		if (request === "") refresh(); // the first is asked for at once
		const rested = marks && performance.now() - renderedAt.current > rest;
		renderedAt.current = performance.now();
		const timer = setTimeout(refresh, rested ? 0 : pause);
		return () => clearTimeout(timer);
	});
	const query = useQuery(sourcePreviewQuery(kind, id, request));
	const { data, isPlaceholderData } = query;
	useEffect(() => {
		if (data && !isPlaceholderData && data.html !== null) setLastValid({ answer: data, at: new Date(), request });
	}, [data, isPlaceholderData, request]);
	return { query, request, lastValid, stale: data !== undefined && data.html === null && lastValid !== null };
}

/** htmlOf returns the HTML of a template or a content that a preview is asked for; null if there is none. */
export function htmlOf(request: string): string | null {
	if (request === "") return null;
	const { template, content } = (JSON.parse(request) as PreviewRequestBody).source;
	return template?.content_html ?? content?.body_html ?? null;
}

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "../api/client";
import type { PreviewAnswer, PreviewSource } from "../api/schema";
import { useKey } from "../app/session";

export type Good = { answer: PreviewAnswer; at: Date };

/** useLivePreview shows a source a moment after its last change: the newest request wins, and the last mail that could be made stays. */
export function useLivePreview(kind: string, id: string, source: PreviewSource | null, contact: string | null) {
	const key = useKey();
	const text = source ? JSON.stringify({ source, contact_id: contact }) : "";
	const [asked, setAsked] = useState(text);
	const [good, setGood] = useState<Good | null>(null);
	useEffect(() => {
		if (text === "") return;
		const timer = setTimeout(() => setAsked(text), 350);
		return () => clearTimeout(timer);
	}, [text]);
	const query = useQuery({
		queryKey: key(kind, id, "preview", asked),
		enabled: asked !== "",
		staleTime: 0,
		gcTime: 60_000,
		retry: false,
		placeholderData: keepPreviousData,
		queryFn: ({ signal }) => api("POST /preview", { body: JSON.parse(asked) as { source: PreviewSource; contact_id: string | null }, signal }),
	});
	const { data, isPlaceholderData } = query;
	useEffect(() => {
		if (data && !isPlaceholderData && data.html !== null) setGood({ answer: data, at: new Date() });
	}, [data, isPlaceholderData]);
	return { query, good, stale: data !== undefined && data.html === null && good !== null };
}

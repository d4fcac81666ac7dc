import { queryOptions } from "@tanstack/react-query";
import { api, request } from "../../api/client";
import { answer } from "../../base/queries";

/** blockQuery reads a block, by its id or slug, with its revision. */
export const blockQuery = (block: string) =>
	queryOptions({
		...answer("block", block),
		queryFn: ({ signal }) => request("GET /blocks/{id}", { path: { id: block }, signal }),
		refetchOnWindowFocus: false,
	});

/** blocksWithUseQuery reads all blocks, and what uses each. */
export const blocksWithUseQuery = () =>
	queryOptions({
		...answer("blocks.usage"),
		queryFn: ({ signal }) => api("GET /blocks", { query: { full: true, include_usage: true }, signal }),
	});

/** taggedBlocksQuery reads the blocks that have all of some tags. */
export const taggedBlocksQuery = (tags: string[]) =>
	queryOptions({
		...answer("blocks.tagged", tags),
		queryFn: ({ signal }) => api("GET /blocks", { query: { tags: tags.join() || undefined, full: true }, signal }),
	});

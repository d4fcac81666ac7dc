import { api, workspaceSlug } from "../../api/client";

// What small pictures of templates, blocks and starters show. Those that come into view together come with one request.

export type Kind = "template" | "block" | "starter";

type Request = { workspace: string; refs: { [K in Kind]: Set<string> }; answer: Promise<Map<string, string | null>> };

/** How many a request may ask for. */
const batchSize = 25;

let next: Request | null = null;

const sizeOf = (refs: Request["refs"]) => refs.template.size + refs.block.size + refs.starter.size;

const nameOf = (kind: Kind, ref: string) => `${kind} ${ref}`;

async function fetchBatch({ workspace, refs }: Pick<Request, "workspace" | "refs">) {
	const response = await api("GET /thumbnails", {
		query: {
			templates: [...refs.template].join(),
			blocks: [...refs.block].join(),
			starters: [...refs.starter].join(),
		},
		workspace,
	});
	return new Map(response.data.map((thumbnail) => [nameOf(thumbnail.kind, thumbnail.ref), thumbnail.html]));
}

/** thumbnail reads the small picture of a template, a block or a starter, by its id or slug; null if there is none. */
export async function thumbnail(kind: Kind, ref: string): Promise<string | null> {
	const workspace = workspaceSlug();
	if (next?.workspace !== workspace || sizeOf(next.refs) >= batchSize) {
		const refs = { template: new Set<string>(), block: new Set<string>(), starter: new Set<string>() };
		const mine: Request = {
			workspace,
			refs,
			answer: Promise.resolve().then(() => {
				if (next === mine) next = null;
				return fetchBatch(mine);
			}),
		};
		next = mine;
	}
	next.refs[kind].add(ref);
	return (await next.answer).get(nameOf(kind, ref)) ?? null;
}

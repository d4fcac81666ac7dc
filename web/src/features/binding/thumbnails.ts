import { useQuery } from "@tanstack/react-query";
import { api, workspaceSlug } from "../../api/client";
import { useKey } from "../../base/session";

// What small pictures of templates and blocks show. Those that come into view together come with one request.

type Kind = "template" | "block";

type Request = { workspace: string; refs: { [K in Kind]: Set<string> }; answer: Promise<Map<string, string | null>> };

/** How many a request may ask for. */
const most = 25;

let next: Request | null = null;

const nameOf = (kind: Kind, ref: string) => `${kind} ${ref}`;

async function ask({ workspace, refs }: Pick<Request, "workspace" | "refs">) {
	const got = await api("GET /thumbnails", {
		query: { templates: [...refs.template].join(), blocks: [...refs.block].join() },
		workspace,
	});
	return new Map(got.data.map((t) => [nameOf(t.kind, t.ref), t.html]));
}

async function thumbnail(kind: Kind, ref: string): Promise<string | null> {
	const workspace = workspaceSlug();
	if (next?.workspace !== workspace || next.refs.template.size + next.refs.block.size >= most) {
		const refs = { template: new Set<string>(), block: new Set<string>() };
		const mine: Request = {
			workspace,
			refs,
			answer: Promise.resolve().then(() => {
				if (next === mine) next = null;
				return ask(mine);
			}),
		};
		next = mine;
	}
	next.refs[kind].add(ref);
	return (await next.answer).get(nameOf(kind, ref)) ?? null;
}

/** useThumbnail renders a stored template or block with its samples; again when it was changed. */
export function useThumbnail(kind: Kind, ref: string, changed: string | undefined, wanted: boolean) {
	const key = useKey();
	return useQuery({
		queryKey: key(kind, ref, "thumb", changed),
		enabled: wanted && ref !== "",
		staleTime: 300_000,
		retry: false,
		queryFn: () => thumbnail(kind, ref),
	});
}

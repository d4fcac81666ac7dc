import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api } from "../api/client";
import { useKey, useWhyNot } from "../app/session";
import { Button } from "../ui/Button";
import { List } from "../ui/List";
import { NotSet, Notice, Page } from "../ui/Page";
import { Empty, Failure, Skeleton } from "../ui/States";
import { catalogue, dateTime } from "../words/catalogue";
import css from "./Settings.module.css";

const words = catalogue({
	title: "Audit log",
	settings: "Settings",
	who: "Who",
	system: "The program",
	what: "What",
	target: "On",
	when: "When",
	from: "From",
	more: "Earlier entries",
	none: "Nothing has been done yet",
});

/** The pages of what was acted on, by its type. */
const pages: { [type: string]: (id: string) => string } = {
	contact: (id) => `/contacts/${id}`,
	segment: (id) => `/segments/${id}`,
	template: (id) => `/templates/${id}`,
	block: (id) => `/blocks/${id}`,
	message: (id) => `/library/${id}`,
	broadcast: (id) => `/broadcasts/${id}`,
	sequence: (id) => `/sequences/${id}`,
	sending_domain: (id) => `/sending/domains/${id}`,
	mta_config: (id) => `/sending/mta/${id}`,
	sending_identity: () => "/sending/senders",
	email_type: () => "/sending/types",
	seed_list: (id) => `/sending/seeds/${id}`,
	webhook: (id) => `/settings/webhooks/${id}`,
	user: () => "/settings/members",
	api_key: () => "/settings/api-keys",
	scoring: () => "/settings/scoring",
	tenant: () => "/settings/account",
};

/** targetOf names what was acted on, such as "sending domain …1c59bfb081ac". */
const targetOf = (type: string, id: string) => `${type.replaceAll("_", " ")} ${id.length > 20 ? `…${id.slice(-12)}` : id}`;

/** Audit lists who did what. */
export default function Audit() {
	const key = useKey();
	const why = useWhyNot("GET /audit-log");
	const log = useInfiniteQuery({
		queryKey: key("audit"),
		enabled: !why,
		initialPageParam: null as string | null,
		queryFn: ({ pageParam, signal }) => api("GET /audit-log", { query: { cursor: pageParam ?? undefined, limit: "100" }, signal }),
		getNextPageParam: (last) => last.next_cursor,
	});
	const rows = log.data?.pages.flatMap((p) => p.data) ?? [];
	return (
		<Page title={words.title} trail={[{ name: words.settings, to: "/settings" }]}>
			{why ? (
				<Notice>{why}</Notice>
			) : log.isPending ? (
				<Skeleton rows={8} />
			) : log.isError ? (
				<Failure error={log.error} retry={() => void log.refetch()} />
			) : rows.length === 0 ? (
				<Empty title={words.none} />
			) : (
				<List
					label={words.title}
					rows={rows}
					rowKey={(r) => r.id}
					columns={[
						{ id: "when", name: words.when, cell: (r) => <span className={css.line}>{dateTime(r.created_at)}</span> },
						{ id: "who", name: words.who, cell: (r) => <span className={css.line}>{r.actor.type === "system" ? words.system : r.actor.name || r.actor.type}</span> },
						{ id: "what", name: words.what, cell: (r) => <code>{r.action}</code> },
						{
							id: "target",
							name: words.target,
							cell: (r) => (
								<span className={css.line} title={r.target_id}>
									{pages[r.target_type] && !r.action.endsWith(".delete") ? (
										<Link href={pages[r.target_type]?.(r.target_id) ?? ""}>{targetOf(r.target_type, r.target_id)}</Link>
									) : (
										targetOf(r.target_type, r.target_id)
									)}
								</span>
							),
						},
						{ id: "from", name: words.from, cell: (r) => r.ip ?? <NotSet /> },
					]}
				/>
			)}
			{log.hasNextPage && (
				<div>
					<Button busy={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
						{words.more}
					</Button>
				</div>
			)}
		</Page>
	);
}

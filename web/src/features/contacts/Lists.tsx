import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, newKey } from "../../api/client";
import { useCollection } from "../../base/collections";
import { useWhyNot } from "../../base/session";
import { Button } from "../../ui/Button";
import { Combo } from "../../ui/Combo";
import { Card } from "../../ui/Page";
import { Failure, Skeleton } from "../../ui/States";
import { Time } from "../../ui/Time";
import { toast } from "../../ui/Toast";
import { catalogue } from "../../base/words/catalogue";
import { explain } from "../../base/words/errors";
import css from "./Lists.module.css";
import { within } from "../../base/queries";
import { listsQuery } from "./queries";
import { to } from "../../base/paths";

const words = catalogue("contacts.lists", {
	title: "Lists",
	none: "Not on any list.",
	add: "Add to list",
	remove: "Remove",
	since: "since",
	done: "Removed from {name}",
});

/** Lists shows the lists that a contact is a member of. */
export function Lists({ id }: { id: string }) {
	const client = useQueryClient();
	const why = useWhyNot("POST /contacts/bulk");
	const lists = useQuery(listsQuery(id));
	const segments = useCollection("segments");
	const change = useMutation({
		mutationFn: (v: { add: boolean; segment: string; name: string; undone?: boolean }) =>
			api("POST /contacts/bulk", {
				idempotencyKey: newKey(),
				body: {
					action: v.add ? "add_to_list" : "remove_from_list",
					contact_ids: [id],
					params: { segment_key: v.segment },
				},
			}),
		onSuccess: (_, v) => {
			void client.invalidateQueries(within("contact.lists", id));
			if (!v.add) toast(words.done({ name: v.name }), { undo: () => change.mutate({ ...v, add: true }) });
		},
		onError: (e) => toast(explain(e), { tone: "danger" }),
	});
	if (lists.isPending) return <Skeleton rows={4} />;
	if (lists.isError) return <Failure error={lists.error} retry={() => void lists.refetch()} />;
	const rows = lists.data.data;
	const others = (segments.data?.data ?? []).filter(
		(s) => s.type === "static" && !rows.some((r) => r.segment_key === s.segment_key),
	);
	return (
		<Card title={words.title}>
			{rows.length === 0 && <p>{words.none}</p>}
			<ul className={css.lists}>
				{rows.map((l) => (
					<li key={l.segment_key}>
						<Link href={to.segment(l.segment_key)}>{l.name}</Link>
						<span>
							{words.since} <Time at={l.member_added_at} />
						</span>
						<Button
							small
							look="quiet"
							why={why}
							onClick={() => change.mutate({ add: false, segment: l.segment_key, name: l.name })}
						>
							{words.remove}
						</Button>
					</li>
				))}
			</ul>
			{!why && others.length > 0 && (
				<Combo
					key={rows.length}
					label={words.add}
					options={others.map((s) => ({ id: s.segment_key, label: s.name }))}
					value={null}
					onChange={(segment) => segment && change.mutate({ add: true, segment, name: segment })}
				/>
			)}
		</Card>
	);
}
